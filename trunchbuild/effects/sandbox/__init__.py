"""Confinement of untrusted programs."""
