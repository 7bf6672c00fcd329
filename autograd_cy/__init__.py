"""
Automatic differentiation with the semantics of ``torch.autograd``.

A program written for ``torch.autograd`` runs after ``import autograd_cy as torch``. Importing this
package imports NumPy and nothing else heavy; the BLAS is looked up at the first product.
"""

from autograd_cy import _threads

# Before any compiled module loads the OpenMP runtime, which reads its environment once.
_threads.prepare_environment()

from autograd_cy import _C  # noqa: E402
from autograd_cy._namespace import *  # noqa: E402, F403
from autograd_cy._namespace import __all__ as _names  # noqa: E402
from autograd_cy._version import __version__  # noqa: E402

from autograd_cy import _vmap_function, _vmap_random, autograd, random  # noqa: E402, F401
from autograd_cy._vmap import vmap  # noqa: E402
from autograd_cy.autograd import (  # noqa: E402
    enable_grad,
    explain_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from autograd_cy.autograd.anomaly_mode import (  # noqa: E402
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
)
from autograd_cy.autograd.grad_mode import is_inference_mode_enabled  # noqa: E402
from autograd_cy.autograd.gradients import is_grad_enabled  # noqa: E402

__all__ = [
    *_names,
    "__version__",
    "_C",
    "autograd",
    "enable_grad",
    "explain_grad",
    "func",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "nn",
    "no_grad",
    "optim",
    "random",
    "set_grad_enabled",
    "testing",
    "viz",
    "vmap",
]


def __getattr__(name):
    # Loaded when first used: they aren't needed to compute gradients.
    if name in ("func", "nn", "optim", "testing", "viz"):
        import importlib

        return importlib.import_module(f"autograd_cy.{name}")
    raise AttributeError(f"module 'autograd_cy' has no attribute {name!r}")
