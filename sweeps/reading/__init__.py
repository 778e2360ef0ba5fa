"""From a text to a study and its points, with all mistakes at once; and the texts of new studies."""
