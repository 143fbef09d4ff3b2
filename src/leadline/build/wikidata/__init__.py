"""What Wikidata holds: entities from dumps, files and its API, and how many values of a relation count."""
