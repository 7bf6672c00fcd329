"""Recurrent: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from tests.recorded.inputs import checksums_with_gradients, sines


# Layers of all kinds: steps, sequences and sizes about those from which matrices are packed.
def layer(kind, steps, batch, size, n, dt=torch.float64, both=False, biases=True, proj=0, layers=1,
    first=False):
    gates, state = {"lstm": 4, "gru": 3}.get(kind, 1), proj or n
    flat = [sines(steps, batch, size, dtype=dt), sines(layers * (1 + both), batch, state, dtype=dt)]
    flat += [sines(layers * (1 + both), batch, n, dtype=dt, phase=1.2)] if kind == "lstm" else []
    for k in range(layers):
        for way in range(1 + both):
            flat += [sines(gates * n, size if k == 0 else state * (1 + both), dtype=dt,
                phase=way + k) / 2, sines(gates * n, state, dtype=dt, phase=0.8 + k) / 2]
            flat += [sines(gates * n, dtype=dt, phase=0.5),
                sines(gates * n, dtype=dt, phase=0.7)] if biases else []
            flat += [sines(proj, n, dtype=dt)] if proj else []
    held = 2 + (kind == "lstm")
    def run(x, h, *rest):
        x = x.transpose(0, 1) if first else x
        hx = (h, rest[0]) if kind == "lstm" else h
        return getattr(torch, kind)(x, hx, list(rest[held - 2 :]), biases, layers, 0.0, False, both,
            first)
    return checksums_with_gradients(run, *flat)

[layer(kind, steps, batch, 3, n) for kind in ("rnn_tanh", "rnn_relu", "gru", "lstm")
    for steps, batch, n in [(1, 1, 1), (2, 6, 2), (3, 4, 3), (3, 5, 2), (4, 6, 5), (3, 7, 17)]]
[layer(kind, steps, batch, 4, n, dt, both, biases, 0, layers, first)
    for kind in ("rnn_tanh", "rnn_relu", "gru", "lstm")
    for steps, batch, n, dt, both, biases, layers,
    first in [(3, 5, 2, torch.float32, True, False, 1, False),
    (4, 2, 3, torch.float64, True, True, 2, True), (5, 6, 3, torch.float64, False, False, 2, False),
    (3, 6, 9, torch.float32, False, True, 1, False),
    (2, 260, 2, torch.float64, False, True, 1, False),
    (3, 257, 3, torch.float64, True, True, 1, False),
    (3, 6, 260, torch.float64, False, True, 1, False)]]
[layer("lstm", steps, batch, 4, n, dt, both, biases, proj, layers)
    for steps, batch, n, dt, both, biases, proj,
    layers in [(1, 2, 3, torch.float64, False, True, 2, 1),
    (4, 6, 5, torch.float64, True, True, 3, 1), (3, 5, 4, torch.float32, False, False, 1, 2),
    (5, 7, 20, torch.float64, True, False, 3, 2)]]

# Packed rows: fewer and fewer, in both directions; what is given of the states' gradients.
def slice_start():
    def packed(kind, sizes, n, both, proj=0, which=slice(None)):
        gates, state = {"lstm": 4, "gru": 3}.get(kind, 1), proj or n
        flat = [sines(sum(sizes), 3), sines(1 + both, sizes[0],
            state)] + ([sines(1 + both, sizes[0], n, phase=1.2)] if kind == "lstm" else [])
        for way in range(1 + both):
            flat += [sines(gates * n, 3, phase=way) / 2, sines(gates * n, state, phase=0.8) / 2,
                sines(gates * n, phase=0.5), sines(gates * n, phase=0.7)] + ([sines(proj, n)]
                if proj else [])
        def run(x, h, *rest):
            hx = (h, rest[0]) if kind == "lstm" else h
            found = getattr(torch, kind)(x, torch.tensor(sizes), hx, list(rest[kind == "lstm" :]),
                True, 1, 0.0, False, both)
            return found[which]
        return checksums_with_gradients(run, *flat)
    return ([packed(kind, sizes, n, both) for kind in ("rnn_tanh", "rnn_relu", "gru", "lstm")
        for both in (False, True) for sizes, n in [([3, 2, 2, 1], 2), ([1], 2), ([7, 6, 5, 2], 3),
        ([6, 6, 6], 2), ([5, 4], 1)]] + [packed("lstm", [7, 6, 5, 2], 3, both, 2)
        for both in (False, True)] + [packed(kind, [3, 2, 1], 2, True, 0, which)
        for kind in ("rnn_tanh", "gru", "lstm") for which in (slice(0, 1), slice(1, 2),
        slice(2, 3)) if which.start < 2 + (kind == "lstm")])

# Cells, of one step.
[checksums_with_gradients(lambda x, h, c, a, b, d, e: torch.lstm_cell(x, (h, c), a, b, d, e),
    sines(k, 3, dtype=dt), sines(k, n, dtype=dt), sines(k, n, dtype=dt, phase=1),
    sines(4 * n, 3, dtype=dt), sines(4 * n, n, dtype=dt), sines(4 * n, dtype=dt),
    sines(4 * n, dtype=dt, phase=1)) for dt in (torch.float64, torch.float32)
    for k, n in [(1, 1), (2, 5), (6, 17), (300, 9)]]
[checksums_with_gradients(lambda x, h, a, b, d, e: f(x, h, a, b, d, e), sines(k, 3, dtype=dt),
    sines(k, n, dtype=dt), sines(g * n, 3, dtype=dt), sines(g * n, n, dtype=dt),
    sines(g * n, dtype=dt), sines(g * n, dtype=dt, phase=1))
    for dt in (torch.float64, torch.float32) for g,
    f in [(3, torch.gru_cell), (1, torch.rnn_tanh_cell), (1, torch.rnn_relu_cell)]
    for k, n in [(1, 1), (2, 5), (6, 17), (300, 9)]]
[checksums_with_gradients(lambda x, h, a, b, d: f(x, h, a, b, d), sines(2, 3), sines(2, 4),
    sines(g * 4, 3), sines(g * 4, 4), sines(g * 4))
    for g, f in [(3, lambda x, h, a, b, d: torch.gru_cell(x[:, :], h.flip(0), a, b)),
    (1, lambda x, h, a, b, d: torch.rnn_tanh_cell(x, h, a, b)),
    (4, lambda x, h, a, b, d: torch.lstm_cell(x, (h, h), a, b)[0]),
    (4, lambda x, h, a, b, d: torch.lstm_cell(x, (h, h), a, b)[1])]]
