"""Documents as text: files of many kinds, their encodings, a benchmark's sources, and how to fetch them."""

from leadline.documents.document import Document, Kind, UnreadableDocument
from leadline.documents.read import MAX_BYTES, read_document
from leadline.documents.sources import Sources, is_url

__all__ = ["MAX_BYTES", "Document", "Kind", "Sources", "UnreadableDocument", "is_url", "read_document"]
