"""Running the modules of authors."""
