"""Figures as inline SVG: one file per chart, drawn without a chart library and readable without colour.

Positions along a chart are percentages, heights and type are pixels, so that a chart fills a phone and a
page alike and its letters stay the same size. Colours are classes that the page's style sheet fills in.
"""
