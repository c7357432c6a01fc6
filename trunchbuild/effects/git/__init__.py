"""Commits of repositories."""
