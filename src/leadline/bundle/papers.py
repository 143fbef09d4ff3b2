"""What a study wrote down before and beside its answers: registered predictions, and the audit and the
decisions on labels that it follows."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from leadline.bench.adjudications import FILE as DECISIONS
from leadline.bundle.private import without_places
from leadline.study.study import Study

_REGISTRATION = "leadline.registration"


def copy_papers(study: Study, folder: Path) -> dict[str, str]:
    """Copy them into `folder`; name -> sha256 of the file that the study has.

    A registration is copied as it is, for its stamp is over its own content, and so are the decisions, whose
    checksum the findings name. An audit names files: its absolute paths are cut to their last part. Raises
    OSError.
    """
    found: dict[str, str] = {}
    for path in sorted(study.folder.glob("*.json")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if _is_registration(text):
            (folder / "registrations").mkdir(exist_ok=True)
            (folder / "registrations" / path.name).write_text(text, encoding="utf-8")
            found[f"registrations/{path.name}"] = _digest(path)
    audit = study.config.exclude.audit or study.config.audit
    if audit is not None:
        path = study.folder / Path(audit).expanduser()
        (folder / "audit.json").write_text(without_places(path.read_text(encoding="utf-8")), encoding="utf-8")
        found["audit.json"] = _digest(path)
    decisions = study.population.decisions.file
    if decisions is not None:
        shutil.copyfile(decisions, folder / DECISIONS)
        found[DECISIONS] = _digest(decisions)
    return found


def _is_registration(text: str) -> bool:
    try:
        held = json.loads(text)
    except ValueError:
        return False
    return isinstance(held, dict) and str(held.get("schema", "")).startswith(_REGISTRATION)


def _digest(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
