"""The schemas and codes of stored tables: analyses, published figures, their classes."""
