"""A model that runs on this machine."""
