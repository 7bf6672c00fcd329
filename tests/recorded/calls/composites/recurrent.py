"""Recurrent: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
    tangents,
)

# Cells.
torch.rnn_tanh_cell(iota(2, 3, dtype=torch.int64), sines(2, 4), sines(4, 3), sines(4, 4))
error_name(torch.rnn_relu_cell, iota(2, 3, dtype=torch.int64), sines(2, 4), sines(4, 3),
    sines(4, 4))
with differs(
    "NotImplementedError, a RuntimeError as well: no kernel has the dtype, and the words say the way out."):
    torch.lstm_cell(iota(2, 3, dtype=torch.int64), (sines(2, 4), sines(2, 4)), sines(16, 3),
        sines(16, 4))
torch.rnn_tanh_cell(sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4))
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    torch.rnn_tanh_cell(sines(2, 3), sines(2, 4), sines(4, 3), sines(4))
torch.lstm_cell(sines(2, 3), (sines(2, 4),), sines(16, 3), sines(16, 4))
torch.lstm_cell(sines(2, 3), (sines(2, 4), sines(2, 4), sines(2, 4)), sines(16, 3), sines(16, 4))
torch.rnn_tanh_cell(sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4), sines(3), sines(4))
torch.gru_cell(sines(2, 3).float(), sines(2, 4), sines(12, 3), sines(12, 4))
torch.gru_cell(sines(2, 3).to(torch.float16), sines(2, 4).to(torch.float16),
    sines(12, 3).to(torch.float16), sines(12, 4).to(torch.float16), sines(12).to(torch.float16),
    sines(12).to(torch.float16))
torch.lstm_cell(sines(2, 3).to(torch.bfloat16),
    (sines(2, 4).to(torch.bfloat16), sines(2, 4).to(torch.bfloat16)),
    sines(16, 3).to(torch.bfloat16), sines(16, 4).to(torch.bfloat16))
gradients(torch.rnn_tanh_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4), sines(4),
    sines(4))
gradients(torch.rnn_relu_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4), sines(4),
    sines(4))
gradients(torch.gru_cell, sines(2, 3), sines(2, 4), sines(12, 3), sines(12, 4), sines(12),
    sines(12))
gradients(lambda x, h, c, a, b: torch.lstm_cell(x, (h, c), a, b), sines(2, 3), sines(2, 4),
    sines(2, 4), sines(16, 3), sines(16, 4))
second_gradients(torch.rnn_tanh_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4), sines(4),
    sines(4))
second_gradients(torch.rnn_relu_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4))
second_gradients(torch.gru_cell, sines(2, 3), sines(2, 4), sines(12, 3), sines(12, 4), sines(12),
    sines(12))
second_gradients(lambda x, h, c, a, b: torch.lstm_cell(x, (h, c), a, b), sines(2, 3), sines(2, 4),
    sines(2, 4), sines(16, 3), sines(16, 4))
tangents(torch.rnn_tanh_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4))
tangents(torch.rnn_relu_cell, sines(2, 3), sines(2, 4), sines(4, 3), sines(4, 4))
tangents(torch.gru_cell, sines(2, 3), sines(2, 4), sines(12, 3), sines(12, 4), sines(12), sines(12))
tangents(lambda x, h, c, a, b: torch.lstm_cell(x, (h, c), a, b), sines(2, 3), sines(2, 4),
    sines(2, 4), sines(16, 3), sines(16, 4))
vmap(torch.rnn_tanh_cell)(sines(2, 2, 3), sines(2, 2, 4), sines(2, 4, 3), sines(2, 4, 4))
vmap(torch.gru_cell, in_dims=(0, 0, None, None))(sines(2, 2, 3), sines(2, 2, 4), sines(12, 3),
    sines(12, 4))

# Layers.
torch.lstm(sines(3, 2, 3), (sines(1, 2, 2), sines(1, 2, 4)),
    [sines(16, 3), sines(16, 2), sines(2, 4)], False, 1, 0.0, False, False, False)
with differs(
    "NotImplementedError, a RuntimeError as well: no kernel has the dtype, and the words say the way out."):
    torch.rnn_tanh(iota(3, 2, 3, dtype=torch.int64), sines(1, 2, 4), [sines(4, 3), sines(4, 4)],
        False, 1, 0.0, False, False, False)
torch.rnn_tanh(sines(0, 2, 3), sines(1, 2, 4), [sines(4, 3), sines(4, 4)], False, 1, 0.0, False,
    False, False)
torch.rnn_tanh(sines(2, 0, 3), sines(1, 2, 4), [sines(4, 3), sines(4, 4)], False, 1, 0.0, False,
    False, True)
torch.rnn_tanh(sines(3, 2, 3), sines(1, 2, 4), [sines(4, 3), sines(4, 4)], False, 0, 0.0, False,
    False, False)
torch.rnn_tanh(sines(3, 2, 3), sines(1, 2, 4), [], False, -1, 0.0, False, False, False)
torch.lstm(sines(3, 2, 3), (sines(1, 2, 2), sines(1, 2, 4)), [sines(16, 3), sines(16, 2)], False, 1,
    0.0, False, False, False)
torch.rnn_tanh(sines(3, 2, 3), sines(1, 2, 4), [sines(4), sines(4, 4)], False, 1, 0.0, False, False,
    False)
torch.lstm(sines(3, 2, 3), (sines(1, 2, 2), sines(1, 2, 4)), [sines(16, 3), sines(16, 2), sines(4)],
    False, 1, 0.0, False, False, False)
torch.gru(sines(3, 2, 3).to(torch.float16), sines(1, 2, 4),
    [sines(12, 3).to(torch.float16), sines(12, 4).to(torch.float16)], False, 1, 0.0, False, False,
    False)
torch.gru(sines(3, 2, 3).to(torch.float16), sines(1, 2, 4).to(torch.float16),
    [sines(12, 3).to(torch.float16), sines(12, 4)], False, 1, 0.0, False, False, False)
torch.rnn_tanh(complex_sines(3, 2, 3), complex_sines(1, 2, 4),
    [complex_sines(4, 3), complex_sines(4, 4)], False, 1, 0.0, False, False, False)

# Packed sequences.
torch.rnn_relu(sines(6, 3), torch.tensor([3, 2, 1]), sines(1, 3, 4),
    [sines(4, 3), sines(4, 4), sines(4), sines(4)], True, 1, 0.0, False, False)
torch.lstm(sines(6, 3), torch.tensor([3, 2, 1]), (sines(2, 3, 4), sines(2, 3, 4)),
    [sines(16, 3), sines(16, 4)] * 2, False, 1, 0.0, False, True)
torch.lstm(sines(6, 3), torch.tensor([3, 2, 1]), (sines(2, 3, 2), sines(2, 3, 4)),
    [sines(16, 3), sines(16, 2), sines(2, 4)] * 2, False, 1, 0.0, False, True)
torch.gru(complex_sines(6, 3), torch.tensor([3, 2, 1]), complex_sines(1, 3, 4),
    [complex_sines(12, 3), complex_sines(12, 4)], False, 1, 0.0, False, False)
torch.gru(sines(6, 3), torch.tensor([3, 2, 1]).to(torch.int32), sines(1, 3, 4),
    [sines(12, 3), sines(12, 4)], False, 1, 0.0, False, False)
with differs("Torch reads batch_sizes whatever their shape is."):
    torch.gru(sines(6, 3), torch.tensor([[3, 2, 1]]), sines(1, 3, 4), [sines(12, 3), sines(12, 4)],
        False, 1, 0.0, False, False)
torch.gru(sines(6, 1, 3), torch.tensor([3, 2, 1]), sines(1, 3, 4), [sines(12, 3), sines(12, 4)],
    False, 1, 0.0, False, False)
torch.gru(sines(6, 3), torch.tensor([2, 3, 1]), sines(1, 3, 4), [sines(12, 3), sines(12, 4)], False,
    1, 0.0, False, False)
with differs("Torch leaves rows out that no step has."):
    torch.gru(sines(6, 3), torch.tensor([3, 2]), sines(1, 3, 4), [sines(12, 3), sines(12, 4)],
        False, 1, 0.0, False, False)
gradients(lambda x, h, a, b: torch.gru(x, torch.tensor([3, 2, 1]), h, [a, b] * 2, False, 1, 0.0,
    False, True), sines(6, 3), sines(2, 3, 4), sines(12, 3), sines(12, 4))
gradients(lambda x, h, c, a, b, p: torch.lstm(x, torch.tensor([3, 2, 1]), (h, c), [a, b, p] * 2,
    False, 1, 0.0, False, True), sines(6, 3), sines(2, 3, 2), sines(2, 3, 4), sines(16, 3),
    sines(16, 2), sines(2, 4))

# Derivatives of layers, and those again.
gradients(lambda x, h, a, b, p, q: torch.gru(x, h, [a, b, p, q] * 2, True, 1, 0.0, False, True,
    True), sines(2, 3, 3), sines(2, 2, 4), sines(12, 3), sines(12, 4), sines(12), sines(12))
gradients(lambda x, h, a, b: torch.rnn_relu(x, h, [a, b], False, 1, 0.0, False, False, False)[1],
    sines(3, 2, 3), sines(1, 2, 4), sines(4, 3), sines(4, 4))
gradients(lambda x, h, c, a, b, p: torch.lstm(x, (h, c), [a, b, p], False, 1, 0.0, False, False,
    False), sines(3, 2, 3), sines(1, 2, 2), sines(1, 2, 4), sines(16, 3), sines(16, 2), sines(2, 4))
second_gradients(lambda x, h, c, a, b, p: torch.lstm(x, (h, c), [a, b, p], False, 1, 0.0, False,
    False, False), sines(3, 2, 3), sines(1, 2, 2), sines(1, 2, 4), sines(16, 3), sines(16, 2),
    sines(2, 4))
second_gradients(lambda x, h, a, b: torch.gru(x, torch.tensor([3, 2, 1]), h, [a, b] * 2, False, 1,
    0.0, False, True), sines(6, 3), sines(2, 3, 4), sines(12, 3), sines(12, 4))
second_gradients(lambda x, h, c, a, b, p: torch.lstm(x, torch.tensor([3, 2, 1]), (h, c),
    [a, b, p] * 2, False, 1, 0.0, False, True), sines(6, 3), sines(2, 3, 2), sines(2, 3, 4),
    sines(16, 3), sines(16, 2), sines(2, 4))
second_gradients(lambda x, h, a, b: torch.gru(x, torch.tensor([3, 2, 1]), h, [a, b], False, 1, 0.0,
    False, False)[1], sines(6, 3), sines(1, 3, 4), sines(12, 3), sines(12, 4))
with differs("Torch has no tangents of packed sequences."):
    tangents(lambda x, h, a, b: torch.gru(x, torch.tensor([3, 2, 1]), h, [a, b] * 2, False, 1, 0.0,
        False, True), sines(6, 3), sines(2, 3, 4), sines(12, 3), sines(12, 4))
    tangents(lambda x, h, c, a, b, p: torch.lstm(x, torch.tensor([3, 2, 1]), (h, c), [a, b, p] * 2,
        False, 1, 0.0, False, True), sines(6, 3), sines(2, 3, 2), sines(2, 3, 4), sines(16, 3),
        sines(16, 2), sines(2, 4))
tangents(lambda x, h, a, b: torch.rnn_tanh(x, h, [a, b], False, 1, 0.0, False, False, False),
    sines(3, 2, 3), sines(1, 2, 4), sines(4, 3), sines(4, 4))
tangents(lambda x, h, a, b: torch.rnn_relu(x, h, [a, b], False, 1, 0.0, False, False, True),
    sines(2, 3, 3), sines(1, 2, 4), sines(4, 3), sines(4, 4))
with differs("Torch has no rule."):
    vmap(lambda x: torch.gru(x, sines(1, 2, 4), [sines(12, 3), sines(12, 4)], False, 1, 0.0, False,
        False, False))(sines(2, 3, 2, 3))
    tangents(lambda x: operator("_recurrent")(x, sines(2, 4), None, sines(4, 3), sines(4, 4), None,
        None, None, None, 0)[0], sines(2, 3))
second_gradients(lambda x: torch.gru(x, sines(1, 2, 4), [sines(12, 3), sines(12, 4)], False, 1, 0.0,
    False, False, False)[0], sines(3, 2, 3))
second_gradients(lambda a: torch.gru(sines(3, 2, 3), sines(1, 2, 4), [sines(12, 3), a], False, 1,
    0.0, False, False, False)[1], sines(12, 4))
