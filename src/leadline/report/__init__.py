"""From findings and readings to something that a person reads: a page, tables, a terminal summary."""
