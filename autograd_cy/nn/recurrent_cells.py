"""Recurrent cells: modules that take one step; ``recurrent.py`` has those for whole sequences."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autograd_cy as _operators  # those of recurrence are loaded when they are first used
from autograd_cy import Tensor, empty, zeros

from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    r"""The base of recurrent cells: their parameters.

    All of them start from the uniform distribution on :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where `k`
    is ``hidden_size``.

    Parameters
    ----------
    input_size, hidden_size : int
        Sizes of the last dimension of input and state.
    bias : bool
        Whether there are biases.
    num_chunks : int
        How many gates the cell has.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight_ih, weight_hh : Parameter
        Of shapes ``(num_chunks * hidden_size, input_size)`` and
        ``(num_chunks * hidden_size, hidden_size)``.
    bias_ih, bias_hh : Parameter or None
        Of shape ``(num_chunks * hidden_size,)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> [list(p.shape) for p in torch.nn.RNNCellBase(4, 2, True, 3).parameters()]
    [[6, 4], [6, 2], [6], [6]]
    """

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias"]

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            bias_or_none = Parameter(empty(rows, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, bias_or_none)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> cell = torch.nn.GRUCell(2, 4)
        >>> cell.reset_parameters()
        >>> bool((cell.weight_ih.abs() <= 0.5).all())
        True
        """
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as usual."""
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _weights(self) -> tuple[Any, ...]:
        """The parameters; what has replaced one by an attribute counts, too."""
        own = self._parameters
        try:
            return own["weight_ih"], own["weight_hh"], own["bias_ih"], own["bias_hh"]
        except KeyError:
            return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _checked(self, input: Tensor) -> Tensor:
        """The input with a batch."""
        if input.ndim == 2:
            return input
        if input.ndim != 1:
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        return input.unsqueeze(0)

    def _state(self, input: Tensor, hx: Tensor | None, batched: bool, name: str) -> Tensor:
        """A state with a batch, of zeros if none is given."""
        if hx is None:
            return zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)
        if hx.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {hx.ndim}D instead"
            )
        return hx if batched else hx.unsqueeze(0)


class RNNCell(RNNCellBase):
    r"""A step of an Elman network: :math:`h' = \tanh(W_{ih} x + b_{ih} + W_{hh} h + b_{hh})`.

    Parameters
    ----------
    input_size, hidden_size : int
        Sizes of the last dimension of input and state.
    bias : bool, optional
        Whether there are biases.
    nonlinearity : {"tanh", "relu"}, optional
        The function of the sum.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> cell = torch.nn.RNNCell(10, 20)
    >>> h = torch.zeros(3, 20)
    >>> for x in torch.randn(6, 3, 10):
    ...     h = cell(x, h)
    >>> list(h.shape)
    [3, 20]
    """

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state.

        Parameters
        ----------
        input : Tensor
            Of shape ``(batch, input_size)`` or ``(input_size,)``.
        hx : Tensor, optional
            The state, zeros by default.

        Returns
        -------
        Tensor
            Of the shape of the state.
        """
        if self.nonlinearity == "tanh":
            step = _operators.rnn_tanh_cell
        elif self.nonlinearity == "relu":
            step = _operators.rnn_relu_cell
        else:
            step = None
        if step is not None and hx is not None and input.ndim == hx.ndim == 2:
            return step(input, hx, *self._weights())
        batched = input.ndim == 2
        x = self._checked(input)
        h = self._state(x, hx, batched, "hidden")
        if step is None:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        h = step(x, h, *self._weights())
        return h if batched else h.squeeze(0)


class LSTMCell(RNNCellBase):
    r"""A step of a long short-term memory.

    With :math:`i, f, g, o` the rows of :math:`W_{ih} x + b_{ih} + W_{hh} h + b_{hh}`:
    :math:`c' = \sigma(f) c + \sigma(i) \tanh(g)` and :math:`h' = \sigma(o) \tanh(c')`.

    Parameters
    ----------
    input_size, hidden_size : int
        Sizes of the last dimension of input and states.
    bias : bool, optional
        Whether there are biases.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> cell = torch.nn.LSTMCell(10, 20)
    >>> h, c = cell(torch.randn(3, 10))
    >>> list(h.shape), list(c.shape)
    ([3, 20], [3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next states.

        Parameters
        ----------
        input : Tensor
            Of shape ``(batch, input_size)`` or ``(input_size,)``.
        hx : tuple of Tensor, optional
            The states ``(h, c)``, zeros by default.

        Returns
        -------
        tuple of Tensor
            ``(h, c)``.
        """
        batched = input.ndim == 2
        x = self._checked(input)
        if hx is None:
            zero = self._state(x, None, batched, "")
            states: tuple[Tensor, ...] = (zero, zero)
        elif batched and all(h.ndim == 2 for h in hx):
            return _operators.lstm_cell(x, hx, *self._weights())
        else:
            states = tuple([self._state(x, h, batched, f"hx[{k}]") for k, h in enumerate(hx)])
        h, c = _operators.lstm_cell(x, states, *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    r"""A step of a gated recurrent unit.

    With :math:`r` and :math:`z` the sigmoids of their rows of
    :math:`W_{ih} x + b_{ih} + W_{hh} h + b_{hh}`:
    :math:`n = \tanh(W_{in} x + b_{in} + r (W_{hn} h + b_{hn}))` and
    :math:`h' = (1 - z) n + z h`.

    Parameters
    ----------
    input_size, hidden_size : int
        Sizes of the last dimension of input and state.
    bias : bool, optional
        Whether there are biases.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.GRUCell(10, 20)(torch.randn(3, 10)).shape)
    [3, 20]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state.

        Parameters
        ----------
        input : Tensor
            Of shape ``(batch, input_size)`` or ``(input_size,)``.
        hx : Tensor, optional
            The state, zeros by default.

        Returns
        -------
        Tensor
            Of the shape of the state.
        """
        batched = input.ndim == 2
        if batched and hx is not None and hx.ndim == 2:
            return _operators.gru_cell(input, hx, *self._weights())
        x = self._checked(input)
        h = self._state(x, hx, batched, "hidden")
        h = _operators.gru_cell(x, h, *self._weights())
        return h if batched else h.squeeze(0)
