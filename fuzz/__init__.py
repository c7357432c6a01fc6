"""Fuzzing of every reader of text from outside. `README.md` says how to run it."""
