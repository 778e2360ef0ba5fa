"""The state of a sweep: its head, plan, answers and study, in generations."""
