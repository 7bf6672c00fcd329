"""Print the lines of stubtest's allowlist that follow from the package itself.

Methods that tensors have not say what to use when they are asked for, so the class has something
by these names and the stub has not. A function with a cache has no signature of its own.
"""

import functools
import importlib
import pkgutil
import re

import autograd_cy
from autograd_cy._C.tensor import Tensor
from autograd_cy._lazy.methods import Absent

for name, value in vars(Tensor).items():
    if isinstance(value, Absent):
        print(rf"autograd_cy\._C\.tensor\.Tensor\.{name}")

for entry in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy."):
    if entry.name.rpartition(".")[2] == "__main__" or entry.name.startswith("autograd_cy._C."):
        continue
    module = importlib.import_module(entry.name)
    for name, value in vars(module).items():
        if isinstance(value, functools._lru_cache_wrapper):
            print(re.escape(f"{entry.name}.{name}"))
