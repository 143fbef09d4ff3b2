"""A study: one folder with a study.yaml, a database of responses, and its reports."""
