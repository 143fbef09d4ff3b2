"""Figures for papers, drawn with matplotlib from findings.json alone: one file per figure.

They are vector text, hold together in greyscale (hatches, markers and words tell groups apart, never colour
alone), and the same findings give the same bytes. The charts of the HTML page are in `report/charts`.
"""
