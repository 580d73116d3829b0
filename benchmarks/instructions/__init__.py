"""A guard on the work of one call, in instructions: ``python -m benchmarks.instructions``.

Times are too noisy to fail a build on. Valgrind's callgrind counts the instructions that a call
takes, which are the same in every run of the same build; a count that grows past the stored one by
more than the tolerance fails.

``counted``
    The calls, and the program that callgrind runs: it makes each of them n times and 2n times.
``callgrind``
    Runs that program, and takes the instructions of one call from the difference.
``guard``
    The stored counts, and what is said of new ones.
``counts.json``
    What is stored, for each machine, compiler and Python that somebody stored it for.
"""
