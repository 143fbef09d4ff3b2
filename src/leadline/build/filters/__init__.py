"""Filters: each looks at facts by one rule, and lets them go with one reason."""
