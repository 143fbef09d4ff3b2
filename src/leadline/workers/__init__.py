"""Where work runs that can be shared out: in this process, in several, on a Ray cluster."""
