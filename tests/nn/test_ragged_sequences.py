"""Sequences of several lengths, packed: values and tangents are those of each alone."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import func, nn


@each("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("both", [False, True])
def test_ragged_sequences_move_as_each_of_them(kind, both):
    ag.manual_seed(0)
    net = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=both, dtype=ag.float64)
    lengths = [5, 3, 3, 1]
    data = [ag.randn(n, 3, dtype=ag.float64) for n in lengths]
    moved = [ag.randn(n, 3, dtype=ag.float64) for n in lengths]

    def together(*parts):
        packed = nn.utils.rnn.pack_sequence(parts)
        out, last = net(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out)
        return (out, *(last if kind == "LSTM" else (last,)))

    def alone(part):
        out, last = net(part[:, None])
        return (out, *(last if kind == "LSTM" else (last,)))

    found = func.jvp(together, tuple(data), tuple(moved))
    for i, n in enumerate(lengths):
        want = func.jvp(alone, (data[i],), (moved[i],))
        for got, one in zip(found, want):  # values, then tangents
            np.testing.assert_allclose(
                got[0][:n, i].detach().numpy(), one[0][:, 0].detach().numpy(), rtol=1e-9
            )
            assert not got[0][n:, i].any()
            for state, other in zip(got[1:], one[1:]):
                np.testing.assert_allclose(
                    state[:, i].detach().numpy(), other[:, 0].detach().numpy(), rtol=1e-9
                )
