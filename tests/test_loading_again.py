"""Modules can be loaded again, as interactive programs do after a change."""

import subprocess
import sys

# In a process of its own: classes of modules that are loaded again aren't those of before.
PROGRAM = """
import importlib, pkgutil, sys
import autograd_cy as torch
from autograd_cy.nn import functional, _reduction
from autograd_cy.linalg import _norms

prefixes = ("autograd_cy.nn.functional.", "autograd_cy.linalg.", "autograd_cy.special.")
torch.special.softmax
names = [name for name in sys.modules if name.startswith(prefixes)]
assert len(names) > 10, names
for _ in range(2):
    for name in names:
        importlib.reload(sys.modules[name])
    importlib.reload(functional)

x = torch.tensor([1.0, 2.0], requires_grad=True)
functional.softmax(functional.relu(x), 0)[0].backward()
assert x.grad.isfinite().all()


class Shown(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func


assert functional.relu(x.as_subclass(Shown)) is functional.relu
assert functional.mse_loss(x.as_subclass(Shown), x) is functional.mse_loss
"""


def test_modules_of_functions_are_loaded_again():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_an_operator_has_one_function_that_forwards_to_it():
    program = (
        "import autograd_cy.nn.functional\n"
        "from autograd_cy._tensors.public import public\n"
        "@public(forwards='relu')\n"
        "def another(input): pass\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ValueError: public: two functions forward to relu" in done.stderr
