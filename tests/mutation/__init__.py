"""Slips put into hand-written code, to see whether the tests notice.

    python -m tests.mutation --count 150 --seed 1

slips.py finds places and writes both versions of a line into a copy of the tree, behind a number
that is read from AUTOGRAD_CY_MUTANT; survey.py learns which test files reach which place;
__main__.py builds the copy once, runs the tests for each number, and prints what nobody noticed.
Formulas of the operator table have mutants of their own (tests/ops/mutations.py).
"""
