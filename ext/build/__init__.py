"""The build of the compiled modules; setup.py is its only caller.

extensions.py lists the modules, flags.py and openmp.py and simd.py decide how each is compiled,
prerequisites.py says what must be there first, requirements.py reads pyproject.toml, probe.py asks
the compiler, builder.py holds the setuptools commands, steps.py runs the compilers, explain.py says
what they would run and why (`python -m ext.build --explain`), advice.py says what to do when they
fail, guard.py checks what they were given, coverage.py finds which lines tests run, aarch64.py
compiles for 64-bit Arm and runs formulas.c there.
cuda.py finds nvcc, cuda_images.py compiles the kernels of GPUs with it, cuda_listing.py lists
them, cuda_checks.py checks what came out (`python -m ext.build.cuda_checks`), elf.py reads ELF.
"""
