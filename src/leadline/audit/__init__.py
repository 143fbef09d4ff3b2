"""Is the question answerable from what the model is shown? The provenance audit of a benchmark."""

from leadline.audit.run import audit

__all__ = ["audit"]
