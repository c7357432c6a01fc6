"""Releases by digest."""
