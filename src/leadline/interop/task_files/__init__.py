"""Files that exported tasks are made of: they run where Leadline is not installed."""
