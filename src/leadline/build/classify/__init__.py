"""Classifiers of facts: a model asked several times, through Leadline's own studies."""
