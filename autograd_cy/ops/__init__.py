"""The operator table: one record per operator, one file per family.

Only the build, the tests and the documentation read it; ``import autograd_cy`` does not.
"""
