"""Mutants of hand-written code, to see whether the tests kill them.

    python -m tests.mutation --count 150 --seed 1

mutants.py finds places and writes both versions of a line into a copy of the tree (tree.py), behind
a number in shared memory (runtime.py); survey.py starts a pytest process there that collects once
and runs chosen tests in forked children (worker.py), and learns which test reaches which place;
trial.py runs for each mutant the tests that reach it until one fails; __main__.py is the command;
equivalent.py reads the list of the mutants that no test can kill.
Formulas of the operator table have mutants of their own (tests/ops/mutations.py).
"""
