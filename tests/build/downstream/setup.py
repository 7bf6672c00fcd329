"""A package of someone else: its Cython code calls tensors and operators without Python between."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="downstream",
    py_modules=[],
    ext_modules=cythonize([Extension("downstream", ["downstream.pyx"])], language_level=3),
)
