"""How knowledge is drawn out of a model: one file per technique, one small interface."""

from leadline.techniques.registry import technique_named, techniques
from leadline.techniques.technique import Answer, Question, Stage, Technique

__all__ = ["Answer", "Question", "Stage", "Technique", "technique_named", "techniques"]
