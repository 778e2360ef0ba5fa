"""The space that a study's points lie in: parameters, their axes, and what makes two of them the same."""
