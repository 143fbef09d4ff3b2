"""An audit as JSON, and the schema that says what stands in it (docs/audit.schema.json)."""

from __future__ import annotations

from typing import Any

from leadline.audit.document import AuditDocument


def audit_json(document: AuditDocument) -> str:
    """The document itself; `leadline.audit.document.load_audit` reads it back."""
    return document.model_dump_json(by_alias=True, indent=1) + "\n"


def audit_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an audit."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:leadline:audit:1",
        **AuditDocument.model_json_schema(by_alias=True, mode="validation"),
        "title": "Leadline audit",
    }
