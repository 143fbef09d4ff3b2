"""Leadline among other tools: what measures, stores or serves models elsewhere, in and out."""
