"""Names become Wikidata ids: titles through an index of the wiki's tables, relations through a table."""
