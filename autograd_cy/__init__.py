"""
Automatic differentiation with the semantics of ``torch.autograd``.

A program written for ``torch.autograd`` runs after ``import autograd_cy as torch``. Importing this
package imports NumPy and nothing else heavy; the BLAS is looked up at the first product.
"""

import os as _os

from autograd_cy._environment import threads as _threads

# Before any compiled module loads the OpenMP runtime, which reads its environment once.
_threads.prepare_environment()

from autograd_cy import _C  # noqa: E402
from autograd_cy._tensors.namespace import *  # noqa: E402, F403
from autograd_cy._tensors.namespace import __all__ as _names  # noqa: E402
from autograd_cy._version import __version__  # noqa: E402

from autograd_cy import _interpreted, amp, autograd, overrides, random  # noqa: E402
from autograd_cy import _vmap_internals as _vmap_internals  # noqa: E402
from autograd_cy._tensors import deprecated as _deprecated  # noqa: E402
from autograd_cy.amp.autocast_mode import (  # noqa: E402
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from autograd_cy._vmap import functions as _vmap_functions  # noqa: E402, F401 - fills a seam
from autograd_cy._vmap import random as _vmap_random  # noqa: E402, F401 - the same
from autograd_cy._vmap import vmap  # noqa: E402
from autograd_cy._environment import absent_modules as _absent_modules  # noqa: E402
from autograd_cy._environment import moved_modules as _moved_modules  # noqa: E402
from autograd_cy._environment.settings import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    use_deterministic_algorithms,
)
from autograd_cy._environment.warnings import is_warn_always_enabled, set_warn_always  # noqa: E402
from autograd_cy.autograd import (  # noqa: E402
    enable_grad,
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

# Names of modules that are loaded when one of them is first used.
_LATER = {
    "alias_copy": "_tensors.copies",
    "as_strided_": "_tensors.as_functions",
    "as_strided_copy": "_tensors.copies",
    "detach": "_tensors.as_functions",
    "detach_": "_tensors.as_functions",
    "detach_copy": "_tensors.copies",
    "diagonal_copy": "_tensors.copies",
    "expand_copy": "_tensors.copies",
    "explain_grad": "autograd.explain",
    "GradScaler": "amp",
    "get_device": "_tensors.as_functions",
    "get_num_interop_threads": "_environment.settings",
    "is_same_size": "_tensors.as_functions",
    "is_signed": "_tensors.as_functions",
    "is_storage": "_tensors.as_functions",
    "load": "serialization",
    "norm_except_dim": "_tensors.as_functions",
    "permute_copy": "_tensors.copies",
    "resize_as_": "_tensors.as_functions",
    "save": "serialization",
    "select_copy": "_tensors.copies",
    "set_anomaly_enabled": "autograd.anomaly_mode",
    "set_flush_denormal": "_environment.settings",
    "set_num_interop_threads": "_environment.settings",
    "slice_copy": "_tensors.copies",
    "split_copy": "_tensors.copies",
    "split_with_sizes_copy": "_tensors.copies",
    "squeeze_copy": "_tensors.copies",
    "t_copy": "_tensors.copies",
    "transpose_copy": "_tensors.copies",
    "typename": "_tensors.as_functions",
    "unbind_copy": "_tensors.copies",
    "unfold_copy": "_tensors.copies",
    "unsqueeze_copy": "_tensors.copies",
    "view_as_complex_copy": "_tensors.copies",
    "view_as_real_copy": "_tensors.copies",
    "view_copy": "_tensors.copies",
}

__all__ = [
    *_names,
    *_interpreted.FUNCTIONS,
    *_LATER,
    "__version__",
    "_C",
    "accelerator",
    "amp",
    "are_deterministic_algorithms_enabled",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "backends",
    "clear_autocast_cache",
    "enable_grad",
    "fft",
    "func",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_warn_always_enabled",
    "legacy",
    "cuda",
    "linalg",
    "mps",
    "multiprocessing",
    "nn",
    "no_grad",
    "optim",
    "overrides",
    "profiler",
    "random",
    "return_types",
    "serialization",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_warn_always",
    "sparse",
    "special",
    "testing",
    "types",
    "use_deterministic_algorithms",
    "utils",
    "version",
    "viz",
    "vmap",
    "xpu",
]

_interpreted.install_methods()

# Modules reach upwards through tables of function pointers; a gap would be a jump to nowhere.
_gaps = [gap for part in (_C.tensor, _C.node, _C.linking) for gap in part._unfilled()]
if _gaps:
    raise ImportError(f"autograd_cy is built incompletely, nothing fills {', '.join(_gaps)}")

overrides._check_methods()
_moved_modules.install()
_absent_modules.install()  # the last that is asked


def __getattr__(name):
    # Loaded when first used: they aren't needed to compute gradients.
    if name in (
        "accelerator",
        "backends",
        "cuda",
        "fft",
        "func",
        "legacy",
        "linalg",
        "mps",
        "multiprocessing",
        "nn",
        "optim",
        "profiler",
        "return_types",
        "serialization",
        "sparse",
        "special",
        "testing",
        "types",
        "utils",
        "version",
        "viz",
        "xpu",
    ):
        import importlib

        return importlib.import_module(f"autograd_cy.{name}")
    if name in _LATER:
        import importlib

        module = importlib.import_module(f"autograd_cy.{_LATER[name]}")
        globals()[name] = found = getattr(module, name)
        return found
    if name in _deprecated.__all__:
        return getattr(_deprecated, name)
    if name in _interpreted.FUNCTIONS:
        globals()[name] = found = _interpreted.public(name)
        return found
    moved = _moved_modules.moved("autograd_cy", name)
    if moved is not None:
        return moved
    from autograd_cy._environment.absent_names import no_attribute

    raise no_attribute("autograd_cy", name)


def __dir__():
    return sorted({*globals(), *__all__})


if _os.environ.get("AUTOGRAD_CY_PROFILE"):
    from autograd_cy.profiler._command import record_from_now as _record

    _record(_os.environ["AUTOGRAD_CY_PROFILE"])
