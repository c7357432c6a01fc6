"""Plain files that a command reads from and writes for its user."""
