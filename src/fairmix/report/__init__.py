"""What a fit found, for people: a summary in plain values, and a page made of it."""
