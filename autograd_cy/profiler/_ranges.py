"""Events as ranges of other tools: NVTX for Nsight Systems, ITT for VTune."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from autograd_cy._C import recorder as _recorder
from autograd_cy._C.node import _next_sequence_nr
from autograd_cy._C.tensor import _is_grad_enabled
from autograd_cy.profiler._columns import OPERATOR

__all__ = ["emit_itt", "emit_nvtx", "nvtx_functions"]

DOMAIN = "autograd_cy"
KEPT = 1 << 16  # events after which the recording is begun anew


class _Emitter:
    """While open, each event is a range of another tool."""

    _package = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes
        self._pushed = 0
        self._session: Any = None

    def __enter__(self) -> Any:
        if self.entered:
            raise RuntimeError(f"{self._package} annotation context manager is not reentrant")
        self.entered = True
        if not self.enabled:
            return self
        try:
            push, pop = self._functions()
            _recorder._watch(self._begin(push), pop)
        except BaseException:
            self.entered = False
            raise
        self._record()
        return self

    def _begin(self, push: Callable[[str], Any]) -> Callable[[str, int, int, list | None], None]:
        """Return the function to call when an event begins."""
        shapes = self.record_shapes
        known = weakref.ref(self)  # the recorder keeps what is returned, and would keep this, too

        def begin(name: str, seq: int, scope: int, sizes: list | None) -> None:
            if scope == OPERATOR and _is_grad_enabled():
                seq = _next_sequence_nr()  # if it makes a node, that is its number
            push(text_of_range(name, seq, scope, sizes if shapes else None))
            emitter = known()
            if emitter is not None:
                emitter._pushed += 1
                if emitter._pushed % KEPT == 0:
                    emitter._record()  # what was recorded so far is for nobody

        return begin

    def _record(self) -> None:
        """Let events be recorded, which is when they are seen; a fresh session frees the old."""
        old, self._session = self._session, _recorder.Recording(int(self.record_shapes), 4 * KEPT)
        self._session.start()
        if old is not None:
            old.drop()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._session is not None:
            _recorder._watch(None, None)
            session, self._session = self._session, None
            session.drop()
        self.entered = False

    def __del__(self) -> None:
        # As of a session: without its object nobody can close it.
        if getattr(self, "_session", None) is not None:
            self.__exit__(None, None, None)

    def _functions(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        raise NotImplementedError


class emit_nvtx(_Emitter):
    """
    While open, each event is a range that Nsight Systems shows.

    Parameters
    ----------
    enabled : bool, default True
        Otherwise nothing happens.
    record_shapes : bool, default False
        Put the sizes of tensors into the ranges.

    Notes
    -----
    An operator is ``aten::mul, seq = 3`` and its derivative ``MulBackward0, stashed seq = 3``, so
    that both can be matched.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.profiler.emit_nvtx(enabled=False):
    ...     x = ag.ones(3) * 2
    """

    _package = "NVTX"

    def _functions(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        functions = nvtx_functions("emit_nvtx")
        return functions.push, functions.pop


class emit_itt(_Emitter):
    """
    While open, each event is a task that VTune shows.

    Parameters
    ----------
    enabled : bool, default True
        Otherwise nothing happens.
    record_shapes : bool, default False
        Put the sizes of tensors into the names.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.profiler.emit_itt(enabled=False):
    ...     x = ag.ones(3) * 2
    """

    _package = "ITT"

    def _functions(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        try:
            from ittapi import domain, string_handle  # type: ignore[import-not-found]
            from ittapi.native import task_begin, task_end  # type: ignore[import-not-found]
        except ImportError:
            raise RuntimeError(
                'emit_itt needs the package ittapi: pip install "autograd_cy[itt]"'
            ) from None
        where = domain(DOMAIN)
        handles: dict[str, Any] = {}

        def push(text: str) -> None:
            handle = handles.get(text)
            if handle is None:
                handle = handles[text] = string_handle(text)
            task_begin(where, handle)

        return push, lambda: task_end(where)


class NVTX(NamedTuple):
    """The functions that mark ranges for NVIDIA's tools: by nesting, at a moment, and from a start
    to an end."""

    push: Callable[[str], Any]
    pop: Callable[[], Any]
    mark: Callable[[str], Any]
    start: Callable[[str], Any]
    end: Callable[[Any], Any]


def nvtx_functions(purpose: str) -> NVTX:
    """The functions of the package nvtx, or of CUDA's library; an error says how to get it."""
    try:
        import nvtx  # type: ignore[import-not-found]
    except ImportError:
        functions = _of_library()
        if functions is None:
            raise RuntimeError(
                f'{purpose} needs the package nvtx: pip install "autograd_cy[nvtx]"'
            ) from None
        return functions
    return NVTX(
        nvtx.push_range,
        nvtx.pop_range,
        nvtx.mark,
        lambda text: nvtx.start_range(text),
        lambda number: nvtx.end_range(number),
    )


@lru_cache
def _of_library() -> NVTX | None:
    """The functions of libnvToolsExt, which toolkits of CUDA 12 and older have, if it is found."""
    try:
        library = ctypes.CDLL("libnvToolsExt.so.1")
    except OSError:
        return None
    library.nvtxRangeStartA.restype = ctypes.c_uint64
    library.nvtxRangeEnd.argtypes = (ctypes.c_uint64,)
    return NVTX(
        lambda text: library.nvtxRangePushA(text.encode()),
        library.nvtxRangePop,
        lambda text: library.nvtxMarkA(text.encode()),
        lambda text: library.nvtxRangeStartA(text.encode()),
        library.nvtxRangeEnd,
    )


def text_of_range(name: str, seq: int, scope: int, sizes: list | None) -> str:
    """Return the text of a range, such as ``aten::mul, seq = 3, sizes = [[2, 3], []]``."""
    text = name
    if seq >= 0:
        text += f", stashed seq = {seq}" if scope == 1 else f", seq = {seq}"
    if sizes:
        text += f", sizes = {sizes}"
    return text
