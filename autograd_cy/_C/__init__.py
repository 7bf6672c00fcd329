"""The compiled modules.  Their sources are in ext/, the .pxd for `cimport` are here."""

import os
from importlib.machinery import EXTENSION_SUFFIXES


def _check_built(folder: str) -> None:
    """Say in one message what to do when the modules were not compiled for this interpreter."""
    try:
        files = os.listdir(folder)
    except NotADirectoryError:
        raise ImportError(
            f"autograd_cy: {folder} is in an archive, and compiled modules load from files only.\n"
            "Install the wheel (`pip install FILE.whl`), or unpack the archive."
        ) from None
    if any(f"info{suffix}" in files for suffix in EXTENSION_SUFFIXES):
        return
    # Stubs (.pyi) and declarations lie beside the modules.
    others = [
        name.partition(".")[2]
        for name in files
        if name.startswith("info.") and name.endswith((".so", ".pyd"))
    ]
    hint = f"It holds modules for another Python: {', '.join(sorted(others))}.\n" if others else ""
    raise ImportError(
        f"autograd_cy: the compiled modules are missing from {folder}.\n{hint}"
        "In the source tree run `pip install -e .` (or `python setup.py build_ext --inplace`); "
        "to use an installed copy, start Python outside of the source tree."
    )


def _check_version(folder: str) -> None:
    """Say in one message what to do when the modules are those of another version."""
    from autograd_cy._version import __version__

    try:
        from autograd_cy._C._build_info import BUILD
    except ImportError:
        built = "a build that did not end"
    else:
        built = BUILD.get("version", "an older version")
    if built != __version__:
        raise ImportError(
            f"autograd_cy: the compiled modules in {folder} are of {built}, the Python files of "
            f"{__version__}.\nIn the source tree run `pip install -e .` again (or `python setup.py "
            "build_ext --inplace`); an installed copy is put right by `pip install "
            "--force-reinstall --no-deps autograd_cy`."
        )


_check_built(os.path.dirname(__file__))
_check_version(os.path.dirname(__file__))


def __getattr__(name: str):
    # Private names of torch._C that programs use: loaded when first asked for, as they need the
    # compiled modules.
    if name.startswith("_") and not name.startswith("__"):
        from importlib import import_module

        names = import_module("autograd_cy._C._names")
        if name in names.__all__:
            return getattr(names, name)
    raise AttributeError(f"module 'autograd_cy._C' has no attribute {name!r}")
