"""Results on the terminal: answers, comparisons, summaries."""
