"""Reproducible releases of LLM benchmarks.

The public interface of this package is the command line; the names below are what other programs may import.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
