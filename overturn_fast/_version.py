"""The one place that states the version; it is compiled into the native library too."""

__version__ = "0.1.0"
