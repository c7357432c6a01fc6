"""The command line: translates arguments to flows, results to output, errors to exit codes."""
