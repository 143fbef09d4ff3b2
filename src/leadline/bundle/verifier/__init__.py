"""The parts of verify.py, which is joined from them when a bundle is made (`leadline.bundle.joining`).

They use the standard library alone, run on Python 3.9, and share no code with the rest of Leadline: what they
compute is computed from the definitions a second time. Names are unique over all parts, for they end up in
one file.
"""
