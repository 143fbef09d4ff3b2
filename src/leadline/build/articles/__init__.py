"""From dumps of Wikipedia to articles: pages read, told apart, made plain text, split into sentences."""
