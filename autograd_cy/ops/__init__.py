"""The operator table: one record per operator, one file per family.

Only the build, the tests and the documentation read it; ``import autograd_cy`` does not. As a
module of programs this is ``torch.ops``, in which operators are found by name: see
`autograd_cy/_lazy/operators_by_name.py`.
"""

_OF_TORCH = ("load_library", "loaded_libraries")


def __getattr__(name):
    if name.startswith("_"):  # programs and Python ask modules for private names
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograd_cy._lazy import operators_by_name

    if name in _OF_TORCH:
        return getattr(operators_by_name, name)
    return operators_by_name.namespace(name)
