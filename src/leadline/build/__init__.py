"""Fact benchmarks from Wikipedia: extracted, linked, filtered, verified in a training corpus."""
