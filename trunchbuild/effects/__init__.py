"""The only contact with the world; each folder has an api and back ends."""
