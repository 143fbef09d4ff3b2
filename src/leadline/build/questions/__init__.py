"""Questions: from a fact to what is asked, and to the answers that are right."""
