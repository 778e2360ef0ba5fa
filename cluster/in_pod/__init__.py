"""Results that leave a cluster, and the keeper of a sweep."""
