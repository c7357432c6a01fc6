"""Signatures of commits."""
