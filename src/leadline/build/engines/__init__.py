"""Where work over shards runs: in this process, in several, on a Ray cluster."""
