"""Whether the sentences that facts rest on stand in a training corpus, and how often."""
