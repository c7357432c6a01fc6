"""Helpers."""

VERSION = (1, 2)
