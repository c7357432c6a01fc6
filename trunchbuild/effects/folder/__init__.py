"""Plain folders, for previews."""
