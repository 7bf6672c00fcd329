"""The build of the compiled modules; setup.py is its only caller.

extensions.py lists the modules, flags.py and openmp.py and simd.py decide how each is compiled,
probe.py asks the compiler, builder.py holds the setuptools commands, steps.py runs the compilers.
"""
