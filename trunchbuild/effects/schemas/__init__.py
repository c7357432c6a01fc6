"""The JSON Schemas of every file format."""
