"""`Module`, and hooks that all modules share."""

from ..global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ..module import Module
from ..saving import _IncompatibleKeys as _IncompatibleKeys


def _addindent(s_: str, numSpaces: int) -> str:
    """Return a text with all lines but the first one moved to the right."""
    return s_.replace("\n", "\n" + " " * numSpaces)


__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]
