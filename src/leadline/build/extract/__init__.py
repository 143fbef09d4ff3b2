"""What facts a text states: extractors behind one interface, and the stage that runs them over articles."""
