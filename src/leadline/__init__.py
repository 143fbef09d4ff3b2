"""Leadline: find out what an LLM benchmark score is standing on."""

__version__ = "0.1.0"
