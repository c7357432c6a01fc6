"""What a run has asked and was told, on disk."""
