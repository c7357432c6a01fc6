"""One file per evaluator kind: pure functions, each with a number."""
