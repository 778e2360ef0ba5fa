"""An open sweep: what it studies, its views, and the statements of users."""
