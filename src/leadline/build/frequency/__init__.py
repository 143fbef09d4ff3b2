"""How often a subject is looked up: page views, and the bins that they make."""
