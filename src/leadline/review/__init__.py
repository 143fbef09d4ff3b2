"""People decide: flags for them to look at, their decisions, and blind readings of what was labelled."""
