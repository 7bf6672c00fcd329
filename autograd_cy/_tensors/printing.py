"""The text form of tensors: ``tensor([1., 2.])``.

One number format is chosen for a whole tensor, from the values that will be shown. Arrays come from
`_repr_parts` of the exchange module, so nothing here is recorded by autograd. Next: exchange.pyx.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autograd_cy._C import tensor as _tensor
from autograd_cy._C.dtypes import get_default_dtype
from autograd_cy._C.exchange import _repr_parts
from autograd_cy._C.forward import _follow_bases
from autograd_cy._C.node import _name_of
from autograd_cy._environment.contexts import _Context

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

# A float is shown with an exponent when the largest is above BIG, the smallest below SMALL, or
# their ratio above RATIO.
RATIO = 1000.0
BIG = 1.0e8
SMALL = 1.0e-4


class PrintOptions(NamedTuple):  # dataclasses would be loaded for this only
    """Options of printing tensors; see :func:`set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """
    Set how tensors are printed.

    Parameters
    ----------
    precision : int, optional
        Digits after the decimal point (4).
    threshold : float, optional
        Tensors of more elements are shown by their edges (1000).
    edgeitems : int, optional
        Items shown at both edges of each dimension (3).
    linewidth : int, optional
        Characters per line (80).
    profile : str, optional
        ``"default"``, ``"short"`` or ``"full"``: values for all of the above.
    sci_mode : bool, optional
        Always, or never, use exponents. None lets the values decide.

    Raises
    ------
    ValueError
        If the profile is unknown.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_printoptions(precision=2)
    >>> ag.tensor([1.12345])
    tensor([1.12])
    >>> ag.set_printoptions(profile="default")
    """
    global _options
    _options = _changed(precision, threshold, edgeitems, linewidth, profile, sci_mode)


def _changed(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> PrintOptions:
    """Return the options as they are after ``set_printoptions`` of the same arguments."""
    chosen = _options
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"set_printoptions: unknown profile {profile!r}; choose one of {list(_PROFILES)}"
            )
        chosen = _PROFILES[profile]._replace(sci_mode=chosen.sci_mode)
    changes: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    return chosen._replace(sci_mode=sci_mode, **changes)


def get_printoptions() -> dict[str, Any]:
    """
    Return the current settings of :func:`set_printoptions`.

    Returns
    -------
    dict
        Setting -> value.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_printoptions()["precision"]
    4
    """
    return _options._asdict()


def printoptions(**options: Any) -> _Context:
    """
    Settings of :func:`set_printoptions` for the time of a ``with`` block.

    Parameters
    ----------
    **options
        The parameters of :func:`set_printoptions`.

    Returns
    -------
    context manager

    Raises
    ------
    TypeError
        If there is no such setting.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.printoptions(precision=1):
    ...     print(ag.tensor([1.25]))
    tensor([1.2])
    """
    for name in options.keys() - {*PrintOptions._fields, "profile"}:
        raise TypeError(f"printoptions() got an unexpected keyword argument {name!r}")
    return _Context([(globals(), "_options", _changed(**options))])


# --- one element ----------------------------------------------------------------------------


class _Format:
    """Text of one element; `width` is that of the widest."""

    def __init__(self, shown: np.ndarray, options: PrintOptions):
        self.precision = options.precision
        self.floating = shown.dtype.kind == "f"
        self.whole = self.floating
        self.exponent = False
        self.width = 1
        if self.floating:
            values = np.abs(shown[np.isfinite(shown) & (shown != 0)].astype(np.float64))
            if values.size:
                self._choose(values, options.sci_mode)
                shown = shown[np.isfinite(shown) & (shown != 0)]
            else:
                return
        for value in shown.reshape(-1).tolist():
            self.width = max(self.width, len(self(value)))

    def _choose(self, values: np.ndarray, sci_mode: bool | None) -> None:
        low, high = float(values.min()), float(values.max())
        self.whole = bool((values == np.ceil(values)).all())
        self.exponent = high / low > RATIO or high > BIG or (not self.whole and low < SMALL)
        if sci_mode is not None:
            self.exponent = sci_mode

    def __call__(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.exponent:
            return f"{value:.{self.precision}e}"
        if not self.whole:
            return f"{value:.{self.precision}f}"
        return f"{value:.0f}" if math.isinf(value) or math.isnan(value) else f"{value:.0f}."

    def padded(self, value: Any) -> str:
        return self(value).rjust(self.width)


class _ComplexFormat:
    """Real and imaginary parts, each in a format of its own."""

    def __init__(self, shown: np.ndarray, options: PrintOptions):
        self.real = _Format(shown.real, options)
        self.imag = _Format(shown.imag, options)
        self.width = self.real.width + self.imag.width + 1

    def padded(self, value: complex) -> str:
        imag = self.imag.padded(value.imag).lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return f"{self.real.padded(value.real)}{sign}{imag}j"


# --- nesting --------------------------------------------------------------------------------


def _edges(array: np.ndarray, options: PrintOptions) -> np.ndarray:
    """Return the elements that a summary shows (each once, in any arrangement)."""
    n = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * n:
            keep = np.r_[0:n, size - n : size]
            array = array[(slice(None),) * axis + (keep,)]  # np.take copies all of it first
    return array


def _vector(array, indent, options, summarise, fmt) -> str:
    width = fmt.width + 2
    per_line = max(1, (options.linewidth - indent) // width)
    if options.edgeitems == 0 and summarise and array.size > 0:
        texts = ["..."]
    elif summarise and array.size > 2 * options.edgeitems:
        n = options.edgeitems
        texts = [fmt.padded(v) for v in array[:n].tolist()]
        texts += [" ..."]
        texts += [fmt.padded(v) for v in array[array.size - n :].tolist()]
    else:
        texts = [fmt.padded(v) for v in array.tolist()]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(array, indent, options, summarise, fmt) -> str:
    if array.ndim == 0:
        return fmt.padded(array.item())
    if array.ndim == 1:
        return _vector(array, indent, options, summarise, fmt)
    n = options.edgeitems
    if summarise and array.shape[0] > 2 * n:
        rows = [_nested(a, indent + 1, options, summarise, fmt) for a in array[:n]]
        rows.append("...")
        last = array[array.shape[0] - n :]
        rows += [_nested(a, indent + 1, options, summarise, fmt) for a in last]
    else:
        rows = [_nested(a, indent + 1, options, summarise, fmt) for a in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def format_array(array: np.ndarray, indent: int = 0) -> str:
    """
    Return the nested brackets of a tensor's text.

    Parameters
    ----------
    array : numpy.ndarray
    indent : int
        Column at which the text starts.

    Returns
    -------
    str
    """
    options = _options
    if array.size == 0:
        return "[]"
    summarise = array.size > options.threshold
    shown = _edges(array, options) if summarise else array
    fmt = (_ComplexFormat if array.dtype.kind == "c" else _Format)(shown, options)
    return _nested(array, indent, options, summarise, fmt)


# --- the whole ------------------------------------------------------------------------------


def _default_dtypes() -> tuple[str, ...]:
    default = get_default_dtype()
    return ("int64", "bool", default.name, default.to_complex().name)


def _suffixes(t, shape) -> list[str]:
    suffixes = []
    empty = 0 in shape
    if empty:
        if len(shape) != 1:
            suffixes.append(f"size={tuple(shape)}")
        if t.dtype.name != get_default_dtype().name:
            suffixes.append(f"dtype={t.dtype}")
    elif t.dtype.name not in _default_dtypes():
        suffixes.append(f"dtype={t.dtype}")
    return suffixes


def _history(t) -> list[str]:
    if not t.requires_grad:
        return []
    try:
        node = t.grad_fn
    except RuntimeError:
        # A view that may no longer be used still prints.
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{_name_of(node)}>"]
    return ["requires_grad=True"]


def _join(text: str, suffixes: list[str], indent: int) -> str:
    """Append the suffixes, on new lines where the line would become too long."""
    parts = [text]
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > _options.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last_line = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            last_line += len(suffix) + 2
    return "".join(parts) + ")"


def tensor_text(t, prefix: str | None = None) -> str:
    """
    Return the text of a tensor.

    Parameters
    ----------
    t : Tensor
    prefix : str, optional
        What stands before the brackets; ``tensor(`` for a tensor, the class name for a subclass.

    Returns
    -------
    str
    """
    marked = False  # a parameter of another class
    if prefix is None:
        plain = type(t) is _tensor.Tensor or type(t).__name__ in ("Parameter", "Buffer")
        prefix = "tensor(" if plain else f"{type(t).__name__}("
        marked = not plain and getattr(t, "_is_param", False) is True
    _follow_bases(t)  # a view takes the tangent of its base when it is looked at
    if t.is_meta:
        suffixes = [f"size={tuple(t.shape)}"]
        if t.dtype.name != get_default_dtype().name:  # no element shows what it is
            suffixes.append(f"dtype={t.dtype}")
        return _join(f"{prefix}..., device='meta'", suffixes + _history(t), len(prefix))
    array, tangent, batch = _repr_parts(t)
    if batch is not None:
        value, dim, level = batch
        body = "\n".join("    " + line for line in tensor_text(value).split("\n"))
        return f"BatchedTensor(lvl={level}, bdim={dim}, value=\n{body}\n)"
    suffixes = [] if t.is_cpu else [f"device='{t.device}'"]
    suffixes += _suffixes(t, array.shape)
    suffixes += _history(t)
    if tangent is not None:
        suffixes.append(f"tangent={tensor_text(tangent)}")
    indent = len(prefix)
    text = _join(prefix + format_array(array, indent), suffixes, indent)
    return f"Parameter({text})" if marked else text


_tensor._set_repr(tensor_text)


# --- of torch._tensor_str, for packages that print tensors of their own --------------------------


class _CurrentOptions:
    """The options that are in effect, as attributes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_options, name)


PRINT_OPTS = _CurrentOptions()


def _brackets(self, indent: int) -> str:
    """Return the nested brackets of a tensor."""
    return format_array(self.detach().cpu().numpy(), indent)


def _with_suffixes(
    tensor_str: str, suffixes: list[str], indent: int, force_newline: bool = False
) -> str:
    """Append suffixes, the first on a new line if it is asked for."""
    if force_newline and suffixes:
        tensor_str += ",\n" + " " * indent + suffixes[0]
        suffixes = suffixes[1:]
    return _join(tensor_str, suffixes, indent)
