"""A device that notes what is asked of it, built against what is installed."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = os.path.dirname(os.path.abspath(__file__))

setup(
    name="tracer",
    py_modules=[],
    ext_modules=cythonize(
        [Extension("tracer", [os.path.join(HERE, "tracer.pyx")])],
        language_level=3,
        include_path=[p for p in os.environ.get("AUTOGRAD_CY_PXD", "").split(os.pathsep) if p],
    ),
)
