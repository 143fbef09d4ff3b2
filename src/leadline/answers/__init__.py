"""What an answer means: raw text, read by the item's answer type."""

from leadline.answers.reading import Reading, State, failed
from leadline.answers.registry import read_answer, readable_types, reader_for

__all__ = ["Reading", "State", "failed", "read_answer", "readable_types", "reader_for"]
