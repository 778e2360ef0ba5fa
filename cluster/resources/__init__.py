"""Kubernetes objects of a sweep, made from the settings."""
