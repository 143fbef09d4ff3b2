"""A report needs no model: it is made where torch and transformers cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.forks import ROOT
from tests.study.small import small_study

# As sitecustomize, Python imports this before anything else. Libraries may look whether torch is there (as
# polars does); whoever imports it fails.
BLOCK = """
import sys
from importlib.machinery import ModuleSpec

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('torch', 'transformers', 'tokenizers', 'safetensors', 'gguf'):
            return ModuleSpec(name, self)

    def create_module(self, spec):
        raise ImportError(f'{spec.name} is blocked', name=spec.name)

    def exec_module(self, module):
        raise AssertionError

sys.meta_path.insert(0, Blocked())
"""


def test_a_study_is_reported_where_the_extra_for_models_is_missing(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    assert leadline("run", folder, "--quiet").code == 0
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCK)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path / "blocked"), str(ROOT / "src"))),
    }

    def blocked(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "leadline.cli.app", *(str(one) for one in arguments)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )

    ended = blocked("report", folder, "--out", tmp_path / "out")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert stored.findings(tmp_path, "out") == stored.findings(folder)
    ended = blocked("run", folder, "--quiet")
    assert ended.returncode == 2
    assert "pip install 'leadline[local]'" in ended.stderr and "Traceback" not in ended.stderr
    for command in (
        ["techniques", "list"],
        ["techniques", "show", "recite"],
        ["bench", "list"],
        ["models", "list"],
    ):
        assert blocked(*command).returncode == 0, command
