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
``calls``
    Calls of a tool, one at a time and many at once.
``growth``
    The time of a byte from 1 KB to 64 MB.
``numbers``, ``text``, ``shape``, ``pleach``
    Measurements of their own: numbers alone, JSON text and RFC 8785, shapes, calls of language
    models.
``sketch``
    Shapes as people write them, a peer of ``shape``.
``report``
    The tables and the JSON file.
``plot``, ``markdown``
    The chart, and the tables of README and docs, from that file.
``instructions``
    The instructions of a call, and the guard that holds them.
``test_benchmarks``
    The same measurements for pytest-benchmark: ``pytest benchmarks --benchmark-only``.
"""
