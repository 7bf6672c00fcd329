"""The compiled modules.  Their sources are in ext/, the .pxd for `cimport` are here."""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


def _check_built(folder: Path) -> None:
    """Say in one message what to do when the modules were not compiled for this interpreter."""
    if any((folder / f"info{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        return
    others = sorted(path.name.partition(".")[2] for path in folder.glob("info.*.so"))
    found = f"It holds modules for another Python: {', '.join(others)}.\n" if others else ""
    raise ImportError(
        f"autograd_cy: the compiled modules are missing from {folder}.\n{found}"
        "In the source tree run `pip install -e .` (or `python setup.py build_ext --inplace`); "
        "to use an installed copy, start Python outside of the source tree."
    )


_check_built(Path(__file__).parent)
