"""Pure functions from readings to findings: one file per question asked of a study."""
