"""Turn the name of torch on and off."""

from __future__ import annotations

import sys
import threading
from types import ModuleType, TracebackType

from autograd_cy._as_torch.children import tell_children, tell_no_more
from autograd_cy._as_torch.finder import Finder, share
from autograd_cy._version import FOLLOWED, __version__
from autograd_cy.torch_version import TorchVersion

__all__ = ["as_torch"]

VERSION = TorchVersion(f"{FOLLOWED}+autograd.cy.{__version__}")

_lock = threading.RLock()
_holders = 0
_finder = Finder(VERSION)
# Names of torch that were in sys.modules before: None forbids an import, as tests do.
_before: dict[str, ModuleType] = {}


class _AsTorch:
    """The result of :func:`as_torch`; leaving it as a context undoes the call."""

    def __init__(self) -> None:
        self._holds = False
        self._hold()

    def _hold(self) -> None:
        if not self._holds:
            _one_more()
            self._holds = True

    def __enter__(self) -> ModuleType:
        self._hold()
        return sys.modules["autograd_cy"]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._holds:
            self._holds = False
            _one_less()


def as_torch() -> _AsTorch:
    """
    Let ``import torch``, of any package, find this one from now on.

    Unmodified programs and packages that need PyTorch then run over this package as far as it has
    what they use: ``torch.nn.functional is autograd_cy.nn.functional``, and so for every module,
    also in processes that :mod:`multiprocessing` starts. While it is on, ``torch.__version__``
    and the metadata of the package ``torch`` say ``"2.13.0+autograd.cy.0.2.0"``, the version of
    PyTorch that is followed and this package's own. `python -m autograd_cy as-torch program.py`
    runs a program so.

    Returns
    -------
    context manager
        ``with as_torch():`` undoes it at its end, the last one if several are on. Packages that
        were imported meanwhile keep what they have imported.

    Raises
    ------
    RuntimeError
        If PyTorch is imported already: programs would mix the tensors of both.

    Examples
    --------
    >>> import sys
    >>> import autograd_cy as ag
    >>> if "torch" in sys.modules:  # PyTorch is imported: too late
    ...     torch = ag
    ... else:
    ...     with ag.as_torch():
    ...         import torch
    ...         import torch.nn.functional as F
    >>> torch is ag
    True
    """
    return _AsTorch()


def _one_more() -> None:
    global _holders
    with _lock:
        if not _holders:
            _turn_on()
        _holders += 1


def _one_less() -> None:
    global _holders
    with _lock:
        _holders -= 1
        if not _holders:
            _turn_off()


def _is_theirs(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def _is_ours(name: str) -> bool:
    return name == "autograd_cy" or name.startswith("autograd_cy.")


def _package() -> ModuleType:
    return sys.modules["autograd_cy"]


def _name_classes(package: str) -> None:
    """Let tensors say of which package they are: packages choose functions by it."""
    from autograd_cy._C.tensor import _name_class
    from autograd_cy.nn import parameter

    _name_class(package == "torch")
    parameter._name_classes(package)


def _turn_on() -> None:
    from autograd_cy import version

    _forget()  # what an interrupt has left
    loaded = {name: module for name, module in sys.modules.items() if _is_theirs(name)}
    if any(module is not None for module in loaded.values()):
        raise RuntimeError(
            "as_torch: PyTorch is imported already, and a program can't have both by one name. "
            "Call autograd_cy.as_torch() before the first import of torch, or run the program by "
            "`python -m autograd_cy as-torch`"
        )
    _before.clear()
    _before.update(loaded)
    for name in loaded:
        del sys.modules[name]
    try:
        share()
        sys.meta_path.insert(0, _finder)  # type: ignore[arg-type]
        tell_children()
        _name_classes("torch")
        package = _package()
        package.__version__ = VERSION  # type: ignore[attr-defined]
        # Programs ask the module for its name, and for itself.
        package.__name__ = "torch"
        package.torch = package  # type: ignore[attr-defined]
        version.__version__ = str(VERSION)
    except BaseException:
        _turn_off()
        raise


def _forget() -> None:
    """Let no module go by a name of torch; PyTorch's own modules stay."""
    while _finder in sys.meta_path:
        sys.meta_path.remove(_finder)  # type: ignore[arg-type]
    ours = {id(module) for name, module in list(sys.modules.items()) if _is_ours(name)}
    for name, module in list(sys.modules.items()):
        if _is_theirs(name) and id(module) in ours:
            del sys.modules[name]


def _turn_off() -> None:
    from autograd_cy import version

    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)  # type: ignore[arg-type]
    tell_no_more()
    for name in [name for name in sys.modules if _is_theirs(name)]:
        del sys.modules[name]
    sys.modules.update(_before)
    _name_classes("autograd_cy")
    package = _package()
    package.__version__ = __version__  # type: ignore[attr-defined]
    package.__name__ = "autograd_cy"
    vars(package).pop("torch", None)
    version.__version__ = __version__
