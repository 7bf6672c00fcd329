"""A device outside of the package, built against what is installed."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = os.path.dirname(os.path.abspath(__file__))

setup(
    name="hostdevice",
    py_modules=[],
    ext_modules=cythonize(
        [
            Extension(
                "hostdevice",
                [os.path.join(HERE, "hostdevice.pyx")],
                include_dirs=[os.environ["AUTOGRAD_CY_HEADERS"]],  # scalar/random_elements.h
            )
        ],
        language_level=3,
        include_path=[p for p in os.environ.get("AUTOGRAD_CY_PXD", "").split(os.pathsep) if p],
    ),
)
