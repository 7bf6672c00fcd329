"""
Automatic differentiation with the semantics of ``torch.autograd``.

A program written for ``torch.autograd`` runs after ``import autograd_cy as torch``. Importing this
package imports NumPy and nothing else heavy; the BLAS is looked up at the first product.
"""

import os as _os

from autograd_cy._environment import launcher as _launcher
from autograd_cy._environment import loading as _loading
from autograd_cy._environment import threads as _threads

# Before any compiled module loads the OpenMP runtime, which reads its environment once.
_threads.prepare_environment()

# Scripts made for torchrun look for its variables before they start a group of processes.
_launcher.export()

with _loading.explained():
    from autograd_cy import _C
    from autograd_cy._tensors.namespace import *  # noqa: F403
    from autograd_cy._tensors.namespace import __all__ as _names
    from autograd_cy._version import __version__

    from autograd_cy import _interpreted, _lazy, amp, autograd, random
    from autograd_cy import _vmap_internals as _vmap_internals
    from autograd_cy._tensors import overriding as _overriding
    from autograd_cy.amp.autocast_mode import (
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
    from autograd_cy._vmap import functions as _vmap_functions  # noqa: F401 - fills a seam
    from autograd_cy._vmap import random as _vmap_random  # noqa: F401 - the same
    from autograd_cy._vmap import vmap
    from autograd_cy._environment.settings import *  # noqa: F403
    from autograd_cy._environment.settings import __all__ as _settings
    from autograd_cy._environment.warnings import is_warn_always_enabled, set_warn_always
    from autograd_cy.autograd import (
        enable_grad,
        inference_mode,
        no_grad,
        set_grad_enabled,
    )
    from autograd_cy.autograd.anomaly_mode import (
        is_anomaly_check_nan_enabled,
        is_anomaly_enabled,
    )
    from autograd_cy.autograd.grad_mode import is_inference_mode_enabled
    from autograd_cy.autograd.gradients import is_grad_enabled

# Modules that are loaded when they are first used: they aren't needed to compute gradients.
_MODULES = (
    "accelerator",
    "backends",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "fft",
    "func",
    "futures",
    "fx",
    "hub",
    "jit",
    "legacy",
    "linalg",
    "mps",
    "multiprocessing",
    "nn",
    "onnx",
    "ops",
    "optim",
    "overrides",
    "profiler",
    "return_types",
    "serialization",
    "sparse",
    "special",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "viz",
    "xpu",
)
# Modules that are loaded when one of these names of theirs is first used.
_LATER = {
    "_tensors.as_functions": (
        "as_strided_ detach detach_ get_device is_same_size is_signed is_storage norm_except_dim "
        "resize_as_ typename zero_"
    ),
    "_tensors.copies": (
        "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy "
        "slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy "
        "unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy"
    ),
    "_tensors.windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    "_C.cuda_driver": "AcceleratorError",
    "special._count_draws": "binomial poisson",
    "_C.exchange": "StorageBase",
    "_C.streams": "Event Stream",
    "_as_torch.switch": "as_torch",
    "_tensors.files": "from_file",
    "amp": "GradScaler",
    "autograd.anomaly_mode": "set_anomaly_enabled",
    "autograd.explain": "explain_grad",
    "linalg._factors": "cholesky_solve",
    "linalg._low_rank": "pca_lowrank svd_lowrank",
    "compiler": "compile",
    "futures": "Future",
    "serialization": "load save",
    "storage": (
        "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage "
        "ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage "
        "ShortStorage Storage TypedStorage"
    ),
    "utils.dlpack": "to_dlpack",
}

__all__ = [
    *_names,
    *_interpreted.FUNCTIONS,
    *" ".join(_LATER.values()).split(),
    *_MODULES,
    *_settings,
    "__version__",
    "_C",
    "amp",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "clear_autocast_cache",
    "enable_grad",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_warn_always_enabled",
    "no_grad",
    "random",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_grad_enabled",
    "set_warn_always",
    "vmap",
]

# The same for what torch has outside of its __all__.
_PRIVATE = {
    "amp.autocast_mode": "get_autocast_gpu_dtype",
    "_tensors.assertions": (
        "_assert _assert_async _check _check_index _check_is_size _check_not_implemented "
        "_check_tensor_all _check_type _check_value _check_with"
    ),
    "_interpreted.special": "_dirichlet_grad _standard_gamma_grad",
    "_tensors.deprecated": "range solve symeig",
    "special._gamma_draws": "_sample_dirichlet _standard_gamma",
    "_C.ops_optimizers": (
        "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_ "
        "_fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_sgd_"
    ),
}

_interpreted.install_methods()

# Modules reach upwards through tables of function pointers; a gap would be a jump to nowhere.
_gaps = [gap for part in (_C.tensor, _C.node, _C.linking) for gap in part._unfilled()]
if _gaps:
    raise ImportError(f"autograd_cy is built incompletely, nothing fills {', '.join(_gaps)}")

_overriding._check_methods()
_lazy.install()


def _find(name):
    if name in _interpreted.FUNCTIONS:
        globals()[name] = function = _interpreted.public(name)
        return function
    if name.startswith("_foreach_"):
        from autograd_cy._tensors import foreach

        return getattr(foreach, name, None)
    return None


__getattr__, __dir__ = _lazy.attach(
    __name__, (*_MODULES, "__config__", "__future__"), _LATER | _PRIVATE, _find
)


if _os.environ.get("AUTOGRAD_CY_PROFILE"):
    from autograd_cy.profiler._command import record_from_now as _record

    _record(_os.environ["AUTOGRAD_CY_PROFILE"])
