"""A study as a release: items, answers, findings, and a program that recomputes the findings from the
answers."""
