"""Differentiation: :func:`backward`, :func:`grad`, Functions, modes, the graph.

Forward mode is in `forward_ad`, derivatives of functions in `functional`, checks in `gradcheck`.

Plain Python over the engine (``ext/engine``).
"""

from autograd_cy._C import recorder as _recorder
from autograd_cy._C.saved import SavedTensor as SavedTensor
from autograd_cy._lazy import attach as _attach
from autograd_cy.autograd import _functions as _functions
from autograd_cy.autograd import anomaly_mode as anomaly_mode
from autograd_cy.autograd import forward_ad as forward_ad
from autograd_cy.autograd import function as function
from autograd_cy.autograd import grad_mode as grad_mode
from autograd_cy.autograd import graph as graph
from autograd_cy.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from autograd_cy.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from autograd_cy.autograd.function import Function as Function
from autograd_cy.autograd.function import NestedIOFunction as NestedIOFunction
from autograd_cy.autograd.grad_mode import (
    _force_original_view_tracking as _force_original_view_tracking,
)
from autograd_cy.autograd.grad_mode import (
    _unsafe_preserve_version_counter as _unsafe_preserve_version_counter,
)
from autograd_cy.autograd.grad_mode import enable_grad as enable_grad
from autograd_cy.autograd.grad_mode import (
    enforce_grad_layout_policy as enforce_grad_layout_policy,
)
from autograd_cy.autograd.grad_mode import inference_mode as inference_mode
from autograd_cy.autograd.grad_mode import (
    is_multithreading_enabled as is_multithreading_enabled,
)
from autograd_cy.autograd.grad_mode import is_view_replay_enabled as is_view_replay_enabled
from autograd_cy.autograd.grad_mode import no_grad as no_grad
from autograd_cy.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from autograd_cy.autograd.grad_mode import (
    set_multithreading_enabled as set_multithreading_enabled,
)
from autograd_cy.autograd.gradients import _calculate_shape as _calculate_shape
from autograd_cy.autograd.gradients import backward as backward
from autograd_cy.autograd.gradients import grad as grad
from autograd_cy.autograd.variable import Variable as Variable

# As in torch, the name of the module is also that of its function, which wins.
from autograd_cy.autograd.gradcheck import gradcheck as gradcheck  # isort: skip
from autograd_cy.autograd.gradcheck import gradgradcheck as gradgradcheck  # isort: skip

TYPE_CHECKING = False  # for type checkers it is True; without an import of typing
if TYPE_CHECKING:
    from autograd_cy.autograd.explain import explain_grad as explain_grad

__all__ = [
    "DeviceType",
    "Function",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "explain_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def _profiler_enabled() -> bool:
    """Return whether some profiler records now."""
    return _recorder._enabled()


# They aren't needed to compute gradients.
__getattr__, __dir__ = _attach(
    __name__,
    ["functional", "profiler", "profiler_util"],
    {"autograd.explain": "explain_grad", "profiler": "DeviceType kineto_available"},
)
