"""One file per command; each names its click command `command`."""
