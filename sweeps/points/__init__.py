"""The points of a study and their configurations, as blocks of Arrow columns."""
