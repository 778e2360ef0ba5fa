"""Values and findings as text: numbers with their units, tables in each format, sentences."""
