"""Recurrent layers. A whole sequence is one Function, whose formula is that of the core."""

from __future__ import annotations

import math
from typing import Any

import autograd_cy as ag

from ...autograd import Variable
from ...creation import default_type
from .. import functional as F
from .._modern import modern
from ..parameter import Parameter
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


def _plain(act):
    def cell(x, state, w_ih, w_hh, b_ih, b_hh):
        return (act(ag.linear(x, w_ih, b_ih) + ag.linear(state[0], w_hh, b_hh)),)

    return cell


def _lstm(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (ag.linear(x, w_ih, b_ih) + ag.linear(h, w_hh, b_hh)).chunk(4, 1)
    c = ag.sigmoid(f) * c + ag.sigmoid(i) * ag.tanh(g)
    return ag.sigmoid(o) * ag.tanh(c), c


def _gru(x, state, w_ih, w_hh, b_ih, b_hh):
    (h,) = state
    i_r, i_z, i_n = ag.linear(x, w_ih, b_ih).chunk(3, 1)
    h_r, h_z, h_n = ag.linear(h, w_hh, b_hh).chunk(3, 1)
    r, z = ag.sigmoid(i_r + h_r), ag.sigmoid(i_z + h_z)
    n = ag.tanh(i_n + r * h_n)
    return (n + z * (h - n),)


CELLS = {
    "RNN_TANH": (_plain(ag.tanh), 1, 1),
    "RNN_RELU": (_plain(ag.relu), 1, 1),
    "LSTM": (_lstm, 4, 2),
    "GRU": (_gru, 3, 1),
}


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1.0 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        parameter.data.uniform_(-bound, bound)


class _Cell(Module):
    mode = "RNN_TANH"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = CELLS[self.mode][1] * hidden_size
        new = default_type()
        self.weight_ih = Parameter(new(gates, input_size))
        self.weight_hh = Parameter(new(gates, hidden_size))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(new(gates)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        _draw(self, self.hidden_size)

    def _step(self, input: Any, *state: Any) -> Any:
        cell = CELLS[self.mode][0]
        count = len(state)

        def compute(x, *rest):
            return cell(x, rest[:count], *rest[count:])

        weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        return modern(type(self).__name__, compute, input, *state, *weights)

    def forward(self, input: Any, hx: Any) -> Any:
        return self._step(input, hx)[0]

    def extra(self) -> str:
        return f"{self.input_size}, {self.hidden_size}{'' if self.bias else ', bias=False'}"


class RNNCell(_Cell):
    """One step of a plain recurrent network: ``tanh(W x + b + U h + c)``, or relu."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        object.__setattr__(self, "mode", f"RNN_{nonlinearity.upper()}")
        super().__init__(input_size, hidden_size, bias)
        self.nonlinearity = nonlinearity


class LSTMCell(_Cell):
    """One step of a long short-term memory; the state is (h, c)."""

    mode = "LSTM"

    def forward(self, input: Any, hx: Any) -> Any:
        return self._step(input, *hx)


class GRUCell(_Cell):
    """One step of a gated recurrent unit."""

    mode = "GRU"


class _Recurrent(Module):
    mode: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0,
        bidirectional: bool = False,
    ):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        gates = CELLS[self.mode][1] * hidden_size
        new = default_type()
        directions = 2 if bidirectional else 1
        self._names: list[tuple[str, ...]] = []
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
                    setattr(self, kind + suffix, Parameter(new(*sizes[kind])))
                self._names.append(tuple(kind + suffix for kind in names))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        _draw(self, self.hidden_size)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def forward(self, input: Any, hx: Any = None) -> Any:
        states = CELLS[self.mode][2]
        directions = 2 if self.bidirectional else 1
        if hx is None:
            batch = input.size(0 if self.batch_first else 1)
            size = self.num_layers * directions, batch, self.hidden_size
            zeros = input.data.new(*size).zero_()
            hx = tuple(Variable(zeros, volatile=input.volatile) for _ in range(states))
        state = hx if isinstance(hx, tuple) else (hx,)
        steps = input.transpose(0, 1) if self.batch_first else input
        finals: list[Any] = []
        for layer in range(self.num_layers):
            found = [
                self._pass(steps, state, layer * directions + d, bool(d)) for d in range(directions)
            ]
            steps = found[0][0]
            if directions == 2:
                steps = _joined([outputs for outputs, *_ in found], 2)
            if self.dropout and layer + 1 < self.num_layers:
                steps = F.dropout(steps, self.dropout, self.training)
            finals += [final for _, *final in found]
        last = tuple(_joined(list(kind), 0) for kind in zip(*finals))
        output = steps.transpose(0, 1) if self.batch_first else steps
        return output, last if isinstance(hx, tuple) and states == 2 else last[0]

    def _pass(self, steps: Any, state: Any, number: int, backwards: bool) -> Any:
        """(outputs, final states of one layer each) of one direction of a layer."""
        cell = CELLS[self.mode][0]
        count = len(state)

        def compute(x, *rest):
            now = tuple(s[number] for s in rest[:count])
            weights = (*rest[count:], None, None)[:4]
            outputs = []
            for t in reversed(range(x.shape[0])) if backwards else range(x.shape[0]):
                now = cell(x[t], now, *weights)
                outputs.append(now[0])
            ordered = outputs[::-1] if backwards else outputs
            return ag.stack(ordered, 0), *(s.unsqueeze(0) for s in now)

        weights = (getattr(self, name) for name in self._names[number])
        return modern(type(self).__name__, compute, steps, *state, *weights)

    def extra(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        text += ", batch_first=True" if self.batch_first else ""
        return text + (", bidirectional=True" if self.bidirectional else "")


def _joined(parts: list[Any], dim: int) -> Any:
    if len(parts) == 1:
        return parts[0]
    return modern("Concat", lambda *tensors: ag.cat(tensors, dim), *parts)


class RNN(_Recurrent):
    """
    A plain recurrent network over (steps, batch, features), or batch first.

    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int, optional
    nonlinearity : {"tanh", "relu"}, optional
    bias, batch_first : bool, optional
    dropout : float, optional
        Between layers, in training mode.
    bidirectional : bool, optional
    """

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'")
        object.__setattr__(self, "mode", f"RNN_{nonlinearity.upper()}")
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(_Recurrent):
    """A long short-term memory over (steps, batch, features); the state is (h, c)."""

    mode = "LSTM"


class GRU(_Recurrent):
    """Gated recurrent units over (steps, batch, features)."""

    mode = "GRU"
