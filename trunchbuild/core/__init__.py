"""Facts and rules: no files, clock, environment, network or randomness."""
