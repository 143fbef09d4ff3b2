"""Files from others are data: what could make a program of them is nowhere in the sources, but where a reason
stands for it here."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "leadline"

# (file, rule) → why it is no danger there.
ALLOWED = {
    ("audit/run.py", "pickle"): "between this process and its own workers, in a private folder of its own",
    ("workers/processes.py", "pickle"): "between this process and its own workers, through a pipe",
    ("workers/attempt.py", "pickle"): "an exception of this process, to see whether it can travel",
    ("answers/registry.py", "import by name"): "a module of the package; the name was found in its folder",
    ("lenses/registry.py", "import by name"): "a module of the package; the name was found in its folder",
    ("techniques/registry.py", "import by name"): "a module of the package; the name was found in its folder",
    ("build/extra.py", "import by name"): "names of packages that stand in the sources",
    ("build/presence/machine_code.py", "import by name"): "names of packages that stand in the sources",
    ("interop/task_files/inspect_task.py", "module from a file"): "scoring.py, exported with it, beside it",
    ("interop/task_files/lm_eval_task.py", "module from a file"): "scoring.py, exported with it, beside it",
    (
        "bundle/running.py",
        "unpacks an archive",
    ): "zipfile keeps to the folder; names and links are tested below",
    ("bundle/running.py", "starts a program"): "this Python, with the verifier's own text on its input",
    ("workers/devices.py", "starts a program"): "nvidia-smi by its full path, with fixed arguments",
    ("models/wheel.py", "starts a program"): "pip or uv, with a requirement from the catalogue",
    ("study/anchor.py", "starts a program"): "git by its full path; names come after --",
    ("study/manifest.py", "starts a program"): "git by its full path, in the package's own folder",
    ("build/articles/dump.py", "parses XML"): "expat, which refuses entities that grow (tested below)",
    ("documents/markup.py", "parses XML"): "entities off, network off, no DTD (tested with documents)",
    ("report/charts/svg.py", "makes HTML of a value"): "ElementTree wrote it, and escaped what was put in",
    ("report/page_frame.py", "makes HTML of a value"): "style sheets and scripts of the package",
    ("review/pack_pages.py", "makes HTML of a value"): "style sheets and scripts of the package",
}

_PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "jsonpickle"}
_PROGRAMS = {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
_SHELLS = {"system", "popen", "startfile"} | {
    f"{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
}
_UNSAFE_YAML = {"load", "load_all", "full_load", "unsafe_load", "full_load_all", "unsafe_load_all"}
_UNSAFE_LOADERS = {"Loader", "UnsafeLoader", "FullLoader", "CLoader", "CUnsafeLoader", "CFullLoader"}


def found_in(path: Path) -> Iterator[tuple[str, int]]:
    """(rule, line) of everything in a file that could make a program of data."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            if any(name.partition(".")[0] in _PICKLES for name in names):
                yield "pickle", node.lineno
            if any(
                name.startswith(("xmlrpc", "xml.sax", "xml.dom", "telnetlib", "ftplib")) for name in names
            ):
                yield "an unsafe protocol or parser", node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in _UNSAFE_LOADERS and _name(node.value) == "yaml":
            yield "yaml that makes objects", node.lineno
        elif isinstance(node, ast.Call):
            yield from ((rule, node.lineno) for rule in _rules(node))


def _rules(call: ast.Call) -> Iterator[str]:
    name = _name(call.func)
    last, before = name.rpartition(".")[2], name.rpartition(".")[0]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in ("eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec"):
        yield "runs text as a program"
    if name in ("import_module", "importlib.import_module") and not _is_text(call.args[0]):
        yield "import by name"
    if last in ("spec_from_file_location", "exec_module", "run_path", "run_module", "SourceFileLoader"):
        yield "module from a file"
    if before in ("yaml", "ruamel.yaml") and last in _UNSAFE_YAML:
        yield "yaml that makes objects"
    if name in ("torch.load", "torch.hub.load", "np.load", "numpy.load", "np.fromfile", "pd.read_pickle"):
        yield "loads what may be pickled"
    if last in ("load_dataset", "load_from_disk", "read_pickle"):
        yield "loads what may be pickled"
    if before == "os" and last in _SHELLS:
        yield "shell"
    if before == "subprocess" and last in _PROGRAMS:
        first = call.args[0] if call.args else given.get("args")
        shell = "shell" in given or last in ("getoutput", "getstatusoutput")
        yield "shell" if shell or isinstance(first, ast.JoinedStr) or _is_text(first) else "starts a program"
    if last == "from_pretrained":
        yield from (f"from_pretrained without {key}={value}" for key, value in _lacking(name, given))
    if last in ("Environment", "NativeEnvironment", "Template") and "jinja" in name:
        yield "a template outside of the sandbox"
    if last == "Markup" and call.args and not _is_text(call.args[0]):
        yield "makes HTML of a value"
    if name in ("tempfile.mktemp", "os.tempnam"):
        yield "a temporary file that others can guess"
    if last in ("extractall", "unpack_archive") or (last == "extract" and "archive" in before):
        yield "unpacks an archive"
    if last in ("XMLParser", "fromstring", "XML", "iterparse") and ("tree" in name.lower() or before == "ET"):
        yield "parses XML"
    if last in ("urlopen", "urlretrieve"):
        yield "fetches without limits"
    if isinstance(verify := given.get("verify"), ast.Constant) and verify.value is False:
        yield "does not look at certificates"


def _lacking(name: str, given: dict[str | None, ast.expr]) -> Iterator[tuple[str, object]]:
    """What must be said in so many words where transformers loads something."""
    wanted: dict[str, object] = {"trust_remote_code": False, "local_files_only": True}
    if name.split(".")[-2] not in ("AutoTokenizer", "AutoConfig"):  # whatever else it is brings weights
        wanted["attn_implementation"] = None
        if "gguf_file" not in given:
            wanted["use_safetensors"] = True
    for key, value in wanted.items():
        said = given.get(key)
        if not isinstance(said, ast.Constant) or said.value is not value:
            yield key, value


def _name(node: ast.expr | None) -> str:
    """A dotted name; "" where it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value) or '?'}.{node.attr}"
    return ""


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_nothing_makes_a_program_of_data_but_where_a_reason_stands_for_it() -> None:
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for rule, line in found_in(path):
            found[path.relative_to(SOURCE).as_posix(), rule].append(line)
    assert len(found) > 5
    assert {where: lines for where, lines in found.items() if where not in ALLOWED} == {}
    assert set(ALLOWED) - set(found) == set(), "reasons for what is no longer there"
    assert all(len(reason) > 20 for reason in ALLOWED.values())


@pytest.mark.parametrize(
    "line, rule",
    [
        ("import pickle", "pickle"),
        ("from joblib import load", "pickle"),
        ("eval(text)", "runs text as a program"),
        ("yaml.load(text, Loader=yaml.SafeLoader)", "yaml that makes objects"),
        ("x = yaml.Loader", "yaml that makes objects"),
        ("torch.load(path, weights_only=True)", "loads what may be pickled"),
        ("np.load(path)", "loads what may be pickled"),
        ("os.system(text)", "shell"),
        ("subprocess.run('ls')", "shell"),
        ("subprocess.run(f'ls {x}')", "shell"),
        ("subprocess.run(['ls'], shell=True)", "shell"),
        ("subprocess.run(['ls'])", "starts a program"),
        ("import_module(name)", "import by name"),
        ("AutoTokenizer.from_pretrained(f)", "from_pretrained without trust_remote_code=False"),
        (
            "AutoModelForCausalLM.from_pretrained(f, trust_remote_code=False, local_files_only=True, "
            "attn_implementation=None, use_safetensors=use)",
            "from_pretrained without use_safetensors=True",
        ),
        (
            "kind.from_pretrained(f, trust_remote_code=False, local_files_only=True, use_safetensors=True)",
            "from_pretrained without attn_implementation=None",
        ),
        ("jinja2.Environment()", "a template outside of the sandbox"),
        ("jinja2.Template(text)", "a template outside of the sandbox"),
        ("tempfile.mktemp()", "a temporary file that others can guess"),
        ("archive.extractall(folder)", "unpacks an archive"),
        ("etree.XMLParser()", "parses XML"),
        ("Markup(text)", "makes HTML of a value"),
        ("httpx2.Client(verify=False)", "does not look at certificates"),
    ],
)
def test_each_rule_finds_what_it_is_for(line: str, rule: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(line, encoding="utf-8")
    assert rule in [name for name, _ in found_in(file)]
