"""Intervals, resampling, paired tests and unseen mass: thin names over scipy and statsmodels."""
