"""Recurrent layers and cells. A whole run is one Function, whose formula is that of the core."""

from __future__ import annotations

import math
from typing import Any

import autograd_cy as ag
from autograd_cy.nn.recurrent import GATES, sizes_and_options

from ...autograd import Variable
from .._modern import modern
from ..parameter import fresh
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1.0 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        parameter.data.uniform_(-bound, bound)


class RNNCellBase(Module):
    """The base of the modules of one step."""

    _apart = False
    mode = "RNN_TANH"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = GATES[self.mode] * hidden_size
        self.weight_ih = fresh(gates, input_size)
        self.weight_hh = fresh(gates, hidden_size)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, fresh(gates) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        _draw(self, self.hidden_size)

    def _step(self, input: Any, hx: Any) -> Any:
        cell = getattr(ag, f"{self.mode.lower()}_cell")
        two = self.mode == "LSTM"
        for h in hx:
            if input.size(0) != h.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden batch size {h.size(0)}"
                )

        def compute(x, *rest):
            states, weights = rest[: len(hx)], rest[len(hx) :]
            return cell(x, states if two else states[0], *weights)

        weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        return modern(type(self).__name__, compute, input, *hx, *weights)

    def forward(self, input: Any, hx: Any) -> Any:
        return self._step(input, (hx,))

    def _extra(self) -> str:
        return f"{self.input_size}, {self.hidden_size}{'' if self.bias else ', bias=False'}"


class RNNCell(RNNCellBase):
    """One step of a plain recurrent network: ``tanh(W x + b + U h + c)``, or relu."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        object.__setattr__(self, "mode", f"RNN_{nonlinearity.upper()}")
        super().__init__(input_size, hidden_size, bias)
        self.nonlinearity = nonlinearity


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory; the state is a pair (h, c)."""

    mode = "LSTM"

    def forward(self, input: Any, hx: Any) -> Any:
        return self._step(input, tuple(hx))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit."""

    mode = "GRU"


class RNNBase(Module):
    """
    The base of recurrent layers.

    Parameters
    ----------
    mode : {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"}
    input_size, hidden_size : int
    num_layers : int, optional
    bias : bool, optional
    batch_first : bool, optional
        Whether sequences are (batch, steps, features) instead of (steps, batch, features).
    dropout : float, optional
        Between layers, in training mode.
    bidirectional : bool, optional
    """

    _apart = False

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0,
        bidirectional: bool = False,
    ):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.dropout_state: dict[Any, Any] = {}
        self.bidirectional = bidirectional
        gates = GATES[mode] * hidden_size
        directions = 2 if bidirectional else 1
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden_size * directions
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                sizes = {
                    "weight_ih": (gates, inputs),
                    "weight_hh": (gates, hidden_size),
                    "bias_ih": (gates,),
                    "bias_hh": (gates,),
                }
                names = [kind for kind in sizes if bias or kind.startswith("weight")]
                for kind in names:
                    setattr(self, kind + suffix, fresh(*sizes[kind]))
                self._all_weights.append([kind + suffix for kind in names])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        _draw(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Nothing: parameters are used where they are."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _state(self, input: Any, batch: int, hx: Any) -> tuple[Any, ...]:
        """The states before the first step, zeros unless given; they have to fit."""
        size = self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size
        count = 2 if self.mode == "LSTM" else 1
        if hx is None:
            zeros = input.data.new(*size).zero_()
            return tuple(Variable(zeros, volatile=input.volatile) for _ in range(count))
        state = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        if len(state) != count:
            raise RuntimeError(f"{self.mode}: expected {count} hidden states, got {len(state)}")
        for h in state:
            if tuple(h.size()) != size:
                raise RuntimeError(f"Expected hidden size {size}, got {tuple(h.size())}")
        return state

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over sequences: (states of the last layer at all steps, last states)."""
        packed = isinstance(input, PackedSequence)
        x = input.data if packed else input
        if x.dim() != (2 if packed else 3):
            raise RuntimeError(f"input must have {2 if packed else 3} dimensions, got {x.dim()}")
        if x.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {x.size(-1)}"
            )
        batch = input.batch_sizes[0] if packed else x.size(0 if self.batch_first else 1)
        state = self._state(x, batch, hx)
        run = getattr(ag, self.mode.lower())
        rules = (
            self.bias,
            self.num_layers,
            float(self.dropout),
            self.training,
            self.bidirectional,
        )

        def compute(steps, *rest):
            states, weights = rest[: len(state)], list(rest[len(state) :])
            before = states if len(state) == 2 else states[0]
            if packed:
                return run(steps, ag.tensor(input.batch_sizes), before, weights, *rules)
            return run(steps, before, weights, *rules, self.batch_first)

        weights = [getattr(self, name) for names in self._all_weights for name in names]
        output, *last = modern(type(self).__name__, compute, x, *state, *weights)
        if packed:
            output = PackedSequence(output, input.batch_sizes)
        return output, tuple(last) if self.mode == "LSTM" else last[0]

    def _extra(self) -> str:
        return sizes_and_options(self)


class RNN(RNNBase):
    """
    A plain recurrent network over (steps, batch, features), or batch first.

    Parameters
    ----------
    *args, **kwargs
        As of `RNNBase`, without `mode`.
    nonlinearity : {"tanh", "relu"}, optional
    """

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """
    A long short-term memory over (steps, batch, features); the state is (h, c).

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> output, (h, c) = torch.nn.LSTM(4, 6, num_layers=2)(Variable(torch.ones(5, 3, 4)))
    >>> output.size(), c.size()
    (autograd_cy.Size([5, 3, 6]), autograd_cy.Size([2, 3, 6]))
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units over (steps, batch, features)."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("GRU", *args, **kwargs)
