# What a newcomer types. `make` alone says what there is.
#
# Everything lives in .venv; nothing is installed outside it, except that `make test` run as root on Debian
# fetches the browser that the report's pages are tested in.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check
OUT ?= demo
# Files of tests run side by side, one per core; WORKERS= runs them one after the other.
WORKERS ?= -n auto --dist loadfile

# A recipe that fails leaves no stamp behind, and no half-written target.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test lint format types imports unit endurance fuzz bench wheel clean

help: ## Say what can be made.
	@echo "make demo     the whole thing on a small real model: findings here, report in $(OUT)/report/"
	@echo "make test     everything that is checked: lint, format, types, imports, tests"
	@echo "make lint     ruff; advisories about the pins   make format   let ruff write the format"
	@echo "make types    mypy --strict               make imports  who may import whom"
	@echo "make unit     the tests alone (ARGS='-k wobble' hands arguments to pytest)"
	@echo "make endurance  hundreds of kills and other faults; docs/reliability.md has the last counts"
	@echo "make fuzz     thousands of new broken files for every reader"
	@echo "make bench    measure speed against what people would use instead"
	@echo "make wheel    build the wheel and the source archive into dist/"
	@echo "make clean    remove what was built (not .venv, not demo)"

# Stamps: installed once, and again when what is asked for changes.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Leadline needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.local: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e '.[local,figures]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e '.[local,figures,dev]'
	@touch $@ $(VENV)/.local

demo: $(VENV)/.local ## The main job on a real model.
	$(BIN)/leadline models get smollm2
	$(BIN)/leadline demo --out $(OUT)

# A test that passes when it is tried again is listed as RERUN: a fault to look into, not one to stop a change with.
test: RERUNS := --reruns 1 --rerun-show-tracebacks
test: lint types imports unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python checks/audit_pins.py constraints.txt --stamp $(VENV)/.audited

format: $(VENV)/.dev
	$(BIN)/ruff format .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev $(VENV)/.browser
	$(BIN)/python -m pytest $(WORKERS) $(RERUNS) $(ARGS)

# Pages are tested in a real browser. Where none can be had, these tests are skipped, and pytest says so.
$(VENV)/.browser: | $(VENV)/.made
	@if [ -n "$$LEADLINE_CHROMIUM" ] || command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "fetching chromium, to test the report's pages"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null \
			|| echo "chromium could not be installed: the tests in a browser will be skipped" >&2; \
	else \
		echo "no chromium here: the tests in a browser will be skipped (or set LEADLINE_CHROMIUM)" >&2; \
	fi
	@if [ -n "$$LEADLINE_CHROMIUM" ] || command -v chromium >/dev/null; then touch $@; fi

endurance: $(VENV)/.dev
	$(BIN)/python -m pytest -m endurance --long $(ARGS)

fuzz: $(VENV)/.dev
	$(BIN)/python -m pytest $(WORKERS) -m fuzz --long $(ARGS)

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py $(ARGS)

wheel: $(VENV)/.dev
	$(BIN)/python -m build --outdir dist

clean:
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
