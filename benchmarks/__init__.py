"""Measurements of this package against other implementations: ``python -m benchmarks``.

``workloads``
    The values that are measured, the same on every machine and in every run.
``peers``
    The expressions that are timed: this package's and those of the others.
``targets``
    The ratios that the project wants to reach.
``measure``
    Interleaved rounds, and what is computed from them.
``environment``
    The machine, the compiler and the versions that a result belongs to.
``report``
    The table and the JSON file.
``test_benchmarks``
    The same measurements for pytest-benchmark: ``pytest benchmarks --benchmark-only``.
"""
