"""Documents as text: files of many kinds, their encodings, a benchmark's sources, and how to fetch them."""

from leadline.documents.document import Document, Kind, UnreadableDocument
from leadline.documents.fetch import FetchOutcome, FetchStep, fetch
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.index import IndexEntry, read_index
from leadline.documents.read import MAX_BYTES, read_document
from leadline.documents.sources import Sources, is_url

__all__ = [
    "MAX_BYTES",
    "Document",
    "FetchOutcome",
    "FetchSettings",
    "FetchStep",
    "IndexEntry",
    "Kind",
    "Sources",
    "UnreadableDocument",
    "fetch",
    "is_url",
    "read_document",
    "read_index",
]
