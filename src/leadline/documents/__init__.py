"""Documents as text: files of many kinds, their encodings, a benchmark's sources, and how to fetch them."""
