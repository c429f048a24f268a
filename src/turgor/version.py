"""The version of turgor, here so that a source tree that was never installed knows it too."""

__all__ = ["__version__"]

__version__ = "0.1.0"
