"""One session of a sweep, from its plan to its answers, and what is known of it before and after."""
