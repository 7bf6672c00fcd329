"""Recurrent networks: modules that run over whole sequences, in layers and both directions.

``recurrent_cells.py`` has modules for a single step, ``utils/rnn.py`` packed sequences.
"""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

import autograd_cy as _operators  # those of recurrence are loaded when they are first used
from autograd_cy import Tensor, empty, index_select, is_autocast_enabled, zeros
from autograd_cy._C._warned import warn as _warn

from . import init
from .module import Module
from .parameter import Parameter
from .utils import rnn as _sequences

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

# How many blocks of weights each kind has.
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
_USUAL = {
    "proj_size": 0,
    "num_layers": 1,
    "bias": True,
    "batch_first": False,
    "dropout": 0,
    "bidirectional": False,
}


def sizes_and_options(network: Any) -> str:
    """The sizes of a recurrent network, and the options that are not as usual, for its repr."""
    text = f"{network.input_size}, {network.hidden_size}"
    for name, value in _USUAL.items():
        option = getattr(network, name, value)
        if option != value:
            text += f", {name}={option}"
    return text


class RNNBase(Module):
    r"""The base of recurrent networks: parameters, checks, packed sequences.

    All parameters start from the uniform distribution on :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where
    `k` is ``hidden_size``. Use `RNN`, `LSTM` or `GRU`.

    Parameters
    ----------
    mode : {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"}
        The kind of cell.
    input_size, hidden_size : int
        Sizes of the last dimension of input and states.
    num_layers : int, optional
        Layers on top of each other.
    bias : bool, optional
        Whether there are biases.
    batch_first : bool, optional
        Whether input and output are ``(batch, steps, size)`` instead of ``(steps, batch, size)``;
        states are not concerned.
    dropout : float, optional
        The chance to drop an output on its way to the next layer, in training.
    bidirectional : bool, optional
        Whether each layer has a second direction, from the last step to the first.
    proj_size : int, optional
        Size of the states ``h`` after a projection; 0 for none. LSTM only.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0 : Parameter
        Of the first layer; ``_l1`` are those of the second one, ``_l0_reverse`` those of the other
        direction.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.RNNBase("GRU", 4, 5)
    RNNBase(4, 5)
    """

    __constants__: ClassVar[list[str]] = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
            _check_int(name, value)
        if input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        for name, value in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
        if not isinstance(dropout, Number):
            dropout = float(dropout)
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            _warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={num_layers}",
            )
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = self._make_parameters(device, dtype)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.flatten_parameters()
        self.reset_parameters()

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        super()._apply(fn, recurse)
        self.flatten_parameters()
        return self

    def _make_parameters(self, device: Any, dtype: Any) -> list[list[str]]:
        """Register them; their names by layer and direction."""
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        rows, hidden = GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        names = []
        for layer in range(self.num_layers):
            size = self.input_size if layer == 0 else hidden * len(suffixes)
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (rows, size),
                "weight_hh": (rows, hidden),
            }
            if self.bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if self.proj_size:
                shapes["weight_hr"] = (self.proj_size, self.hidden_size)
            for suffix in suffixes:
                names.append([f"{kind}_l{layer}{suffix}" for kind in shapes])
                for name, shape in zip(names[-1], shapes.values(), strict=True):
                    parameter = Parameter(empty(shape, device=device, dtype=dtype))
                    self.register_parameter(name, parameter)
        return names

    @property
    def _flat_weights(self) -> list[Tensor]:
        """All parameters in order; what has replaced one by an attribute counts, too."""
        own: dict[str, Any] = self._parameters
        try:
            return [own[name] for name in self._flat_weights_names]
        except KeyError:
            return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction.

        Returns
        -------
        list of list of Parameter
            In the order of `parameters`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> [list(p.shape) for p in torch.nn.RNN(4, 5).all_weights[0]]
        [[5, 4], [5, 5], [5], [5]]
        """
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: parameters are used where they are.

        Kept for programs that call it to join parameters in one block of a GPU's memory.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.GRU(2, 3).flatten_parameters()
        """

    def reset_parameters(self) -> None:
        """Draw all parameters anew.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> network = torch.nn.RNN(2, 4)
        >>> network.reset_parameters()
        >>> bool((network.weight_ih_l0.abs() <= 0.5).all())
        True
        """
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as usual."""
        return sizes_and_options(self)

    # --- checks -----------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse an input that doesn't fit the parameters.

        Parameters
        ----------
        input : Tensor
            With a batch, or packed.
        batch_sizes : Tensor or None
            Those of packed data.

        Raises
        ------
        ValueError, RuntimeError
            If its dtype or its shape doesn't fit.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.GRU(4, 5).check_input(torch.zeros(2, 1, 4), None)
        """
        weight = self._parameters.get("weight_ih_l0")
        if weight is None:
            weight = self.weight_ih_l0
        if input.dtype != weight.dtype and not is_autocast_enabled(input.device.type):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape that the state ``h`` must have.

        Parameters
        ----------
        input : Tensor
            With a batch, or packed.
        batch_sizes : Tensor or None
            Those of packed data.

        Returns
        -------
        tuple of int
            Layers and directions, batch, size.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.GRU(4, 5, 2).get_expected_hidden_size(torch.zeros(3, 1, 4), None)
        (2, 1, 5)
        """
        return self._state_shape(input, batch_sizes, self.proj_size or self.hidden_size)

    def _state_shape(
        self, input: Tensor, batch_sizes: Tensor | None, size: int
    ) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0] if self.batch_first else input.shape[1]
        return self.num_layers * (2 if self.bidirectional else 1), batch, size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuse a state of another shape.

        Parameters
        ----------
        hx : Tensor
            The state.
        expected_hidden_size : tuple of int
            The shape that it must have.
        msg : str, optional
            The message, with places for both shapes.

        Raises
        ------
        RuntimeError
            If it has another shape.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.GRU(4, 5).check_hidden_size(torch.zeros(1, 2, 5), (1, 2, 5))
        """
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse what `forward` can't take.

        Parameters
        ----------
        input : Tensor
            With a batch, or packed.
        hidden : Tensor or tuple of Tensor
            The state, or both states of an LSTM.
        batch_sizes : Tensor or None
            Those of packed data.

        Raises
        ------
        ValueError, RuntimeError
            If a dtype or shape doesn't fit.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> state = torch.zeros(1, 3, 5)
        >>> torch.nn.GRU(4, 5).check_forward_args(torch.zeros(2, 3, 4), state, None)
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the state with the sequences in another order.

        Parameters
        ----------
        hx : Tensor or tuple of Tensor
            The state, or both states of an LSTM.
        permutation : Tensor or None
            Where each sequence is taken from; None for no change.

        Returns
        -------
        Tensor or tuple of Tensor
            As `hx`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> state = torch.tensor([[[1.0], [2.0]]])
        >>> torch.nn.GRU(1, 1).permute_hidden(state, torch.tensor([1, 0]))
        tensor([[[2.],
                 [1.]]])
        """
        return hx if permutation is None else index_select(hx, 1, permutation)

    # --- running ----------------------------------------------------------------------------

    def _forward(self, input: Any, hx: Any) -> Any:
        """Bring input and states into the form of the operators and back."""
        packed, batched = isinstance(input, _sequences.PackedSequence), True
        batch_sizes = places = None
        back = None
        if packed:
            x, batch_sizes, places, back = input
        else:
            x = input
            if x.ndim not in (2, 3):
                raise ValueError(self._wrong_dimensions(x.ndim))
            batched = x.ndim == 3
            self._check_states_dims(hx, batched)
            if not batched:
                x = x.unsqueeze(0 if self.batch_first else 1)
                hx = _map_states(hx, lambda h: h.unsqueeze(1))
        order = places
        if hx is None:
            hx, order = self._zeros(x, batch_sizes), None
        hx = self.permute_hidden(hx, order)
        self.check_forward_args(x, hx, batch_sizes)
        rest = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        run: Any = getattr(_operators, self.mode.lower())
        if batch_sizes is None:
            results = run(x, hx, self._flat_weights, *rest, self.batch_first)
        else:
            results = run(x, batch_sizes, hx, self._flat_weights, *rest)
        output: Any = results[0]
        state = results[1:] if self.mode == "LSTM" else results[1]
        if packed:
            output = _sequences.PackedSequence(output, batch_sizes, places, back)
            return output, self.permute_hidden(state, back)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            state = _map_states(state, lambda h: h.squeeze(1))
        return output, state

    def _wrong_dimensions(self, ndim: int) -> str:
        return f"{type(self).__name__}: Expected input to be 2D or 3D, got {ndim}D instead"

    def _check_states_dims(self, hx: Any, batched: bool) -> None:
        if hx is not None and hx.ndim != (3 if batched else 2):
            kind, n = ("batched 3", 3) if batched else ("unbatched 2", 2)
            raise RuntimeError(
                f"For {kind}-D input, hx should also be {n}-D but got {hx.ndim}-D tensor"
            )

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(shape, dtype=input.dtype, device=input.device)


class RNN(RNNBase):
    r"""An Elman network: :math:`h_t = \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})`.

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True,
    batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None)``

    Parameters
    ----------
    *args, **kwargs
        As listed above; `nonlinearity` is ``"tanh"`` or ``"relu"``, and `RNNBase` describes the
        others.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> output, h = torch.nn.RNN(10, 20, 2)(torch.randn(5, 3, 10))
    >>> list(output.shape), list(h.shape)
    ([5, 3, 20], [2, 3, 20])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Run over sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape ``(steps, batch, input_size)``, or without a batch.
        hx : Tensor, optional
            The state before the first step, of shape
            ``(num_layers * directions, batch, hidden_size)``; zeros by default.

        Returns
        -------
        tuple
            The states of the last layer at all steps, and the last state of each layer.
        """
        return self._forward(input, hx)  # type: ignore[no-any-return]

    def _wrong_dimensions(self, ndim: int) -> str:
        return f"RNN: Expected input to be 2D or 3D, got {ndim}D tensor instead"


class LSTM(RNNBase):
    r"""A long short-term memory.

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0, device=None, dtype=None)``

    With :math:`i, f, g, o` the rows of
    :math:`W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}`, a step is
    :math:`c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g)`,
    :math:`h_t = \sigma(o) \tanh(c_t)`; with a projection, :math:`h_t` is multiplied by
    :math:`W_{hr}`.

    Parameters
    ----------
    *args, **kwargs
        As listed above; `RNNBase` describes them.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> network = torch.nn.LSTM(10, 20, batch_first=True, bidirectional=True)
    >>> output, (h, c) = network(torch.randn(3, 5, 10))
    >>> list(output.shape), list(h.shape), list(c.shape)
    ([3, 5, 40], [2, 3, 20], [2, 3, 20])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape that the state ``c`` must have.

        Parameters
        ----------
        input : Tensor
            With a batch, or packed.
        batch_sizes : Tensor or None
            Those of packed data.

        Returns
        -------
        tuple of int
            Layers and directions, batch, size.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> network = torch.nn.LSTM(4, 5, proj_size=3)
        >>> network.get_expected_cell_size(torch.zeros(2, 1, 4), None)
        (1, 1, 5)
        """
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse what `forward` can't take.

        Parameters
        ----------
        input : Tensor
            With a batch, or packed.
        hidden : tuple of Tensor
            Both states.
        batch_sizes : Tensor or None
            Those of packed data.

        Raises
        ------
        ValueError, RuntimeError
            If a dtype or shape doesn't fit.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> state = torch.zeros(1, 3, 5)
        >>> torch.nn.LSTM(4, 5).check_forward_args(torch.zeros(2, 3, 4), (state, state), None)
        """
        self.check_input(input, batch_sizes)
        shapes = (
            self.get_expected_hidden_size(input, batch_sizes),
            self.get_expected_cell_size(input, batch_sizes),
        )
        for k, (state, shape) in enumerate(zip(hidden, shapes, strict=True)):
            self.check_hidden_size(state, shape, f"Expected hidden[{k}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return both states with the sequences in another order.

        Parameters
        ----------
        hx : tuple of Tensor
            The states.
        permutation : Tensor or None
            Where each sequence is taken from; None for no change.

        Returns
        -------
        tuple of Tensor
            As `hx`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> state = torch.tensor([[[1.0], [2.0]]])
        >>> torch.nn.LSTM(1, 1).permute_hidden((state, state), torch.tensor([1, 0]))[1]
        tensor([[[2.],
                 [1.]]])
        """
        if permutation is None:
            return hx
        return tuple([index_select(h, 1, permutation) for h in hx])

    def forward(
        self, input: Any, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Run over sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape ``(steps, batch, input_size)``, or without a batch.
        hx : tuple of Tensor, optional
            The states ``(h, c)`` before the first step, of shapes
            ``(num_layers * directions, batch, proj_size or hidden_size)`` and
            ``(num_layers * directions, batch, hidden_size)``; zeros by default.

        Returns
        -------
        tuple
            The states ``h`` of the last layer at all steps, and the last ``(h, c)`` of each layer.
        """
        return self._forward(input, hx)  # type: ignore[no-any-return]

    def _check_states_dims(self, hx: Any, batched: bool) -> None:
        if hx is None:
            return
        if len(hx) != 2:
            raise RuntimeError(f"lstm expects two hidden states, got {len(hx)}")
        n = 3 if batched else 2
        if hx[0].ndim != n or hx[1].ndim != n:
            raise RuntimeError(
                f"For {'batched 3' if batched else 'unbatched 2'}-D input, hx and cx should also "
                f"be {n}-D but got ({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
            )

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_cell_size(input, batch_sizes)
        c = zeros(shape, dtype=input.dtype, device=input.device)
        return (super()._zeros(input, batch_sizes) if self.proj_size else c), c


class GRU(RNNBase):
    r"""Gated recurrent units.

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, device=None, dtype=None)``

    With :math:`r_t` and :math:`z_t` the sigmoids of their rows of
    :math:`W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}`, a step is
    :math:`n_t = \tanh(W_{in} x_t + b_{in} + r_t (W_{hn} h_{t-1} + b_{hn}))`,
    :math:`h_t = (1 - z_t) n_t + z_t h_{t-1}`.

    Parameters
    ----------
    *args, **kwargs
        As listed above; `RNNBase` describes them.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> output, h = torch.nn.GRU(10, 20)(torch.randn(5, 3, 10))
    >>> list(output.shape), list(h.shape)
    ([5, 3, 20], [1, 3, 20])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Run over sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape ``(steps, batch, input_size)``, or without a batch.
        hx : Tensor, optional
            The state before the first step, of shape
            ``(num_layers * directions, batch, hidden_size)``; zeros by default.

        Returns
        -------
        tuple
            The states of the last layer at all steps, and the last state of each layer.
        """
        return self._forward(input, hx)  # type: ignore[no-any-return]


def _check_int(name: str, value: Any) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")


def _map_states(states: Any, change: Any) -> Any:
    """A state or the two of an LSTM, changed; None stays."""
    if isinstance(states, tuple | list):
        return tuple([change(h) for h in states])
    return None if states is None else change(states)


def _permuted(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Return the slices of a dimension in another order, by a name that older programs use."""
    _warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` "
        "instead",
        FutureWarning,
    )
    return index_select(tensor, dim, permutation)
