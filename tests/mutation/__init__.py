"""Slips put into hand-written code, to see whether the tests notice.

    python -m tests.mutation --count 150 --seed 1

slips.py finds places and writes both versions of a line into a copy of the tree (tree.py), behind
a number in shared memory (runtime.py); survey.py starts a pytest process there that collects once
and runs chosen tests in forked children (worker.py), and learns which test reaches which place;
trial.py runs for each slip the tests that reach it until one fails; __main__.py is the command.
Formulas of the operator table have mutants of their own (tests/ops/mutations.py).
"""
