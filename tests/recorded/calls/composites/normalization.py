"""Normalization: calls of the composites (`ext/composites`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    forward_over_reverse,
    gradients,
    second_gradients,
    sines,
    tangents,
)

# Rows.
F.layer_norm(sines(2, 3), ())
F.layer_norm(sines(2, 3), (3,), sines(3).float())
F.layer_norm(sines(2, 3), (3,), sines(3), sines(3).float())
F.layer_norm(sines(2, 3), (2, 3), None, sines(2, 3), 1.0)
F.rms_norm(sines(3), (2, 3))
F.rms_norm(sines(2, 3).float(), (3,), sines(3), 1.0)
F.rms_norm(sines(2, 3), (3,), sines(3).float(), 1.0)
F.rms_norm(complex_sines(2, 3), ())

# Groups.
with differs("Torch divides by it before it looks."):
    F.group_norm(sines(2, 4), 0)
F.group_norm(sines(2, 4), -1)
F.group_norm(sines(2, 4), 2, sines(4).float())
F.group_norm(sines(2, 4), 2, sines(4), sines(4).float())
F.group_norm(sines(2, 4, 3), 1, sines(4), sines(4), 1.0)

# Too few elements for a mean.
F.group_norm(sines(1, 4), 4)
F.batch_norm(sines(1, 3), None, None, training=True)
F.instance_norm(sines(2, 3, 1))
[error_name(F.group_norm, sines(*s), n) for *s,
    n in ((1, 4, 4), (1, 4, 2), (1, 1, 1), (2, 4, 4), (1, 4, 1, 4), (1, 4, 1, 1, 4),
    (1, 4, 1, 1, 1, 4), (1, 4, 2, 4), (1, 4, 1, 2), (2, 1, 1, 1), (0, 4, 4), (1, 4, 0, 4))]
[error_name(lambda: F.batch_norm(sines(*s), m, v, training=y)) for y in (True, False)
    for m, v in [(torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))]
    for s in ((1, 3), (2, 3), (1, 3, 1), (1, 3, 2), (2, 3, 1), (1, 3, 1, 1), (1, 3, 1, 2),
    (1, 3, 1, 1, 1), (0, 3), (1, 3, 0))]
[error_name(lambda: F.instance_norm(sines(*s), m, v, use_input_stats=y)) for y in (True, False)
    for m, v in [(torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))]
    for s in ((1, 3, 1), (2, 3, 1), (1, 3, 2), (2, 3, 1, 1), (1, 3, 1, 2), (1, 3, 1, 1, 1),
    (0, 3, 1), (0, 3, 2), (1, 3, 0))]
[error_name(f.train(y), torch.ones(*s)) for y in (True, False)
    for f, s in ((nn.BatchNorm1d(3), (1, 3)), (nn.BatchNorm1d(3), (1, 3, 1)),
    (nn.BatchNorm2d(3), (1, 3, 1, 1)), (nn.BatchNorm3d(3), (1, 3, 1, 1, 1)),
    (nn.BatchNorm2d(3, track_running_stats=False), (1, 3, 1, 1)), (nn.GroupNorm(3, 3), (1, 3)),
    (nn.GroupNorm(1, 3), (1, 3)), (nn.InstanceNorm1d(3), (2, 3, 1)),
    (nn.InstanceNorm2d(3), (2, 3, 1, 1)), (nn.InstanceNorm3d(3, track_running_stats=True),
    (2, 3, 1, 1, 1)), (nn.LayerNorm(1), (3, 1)), (nn.RMSNorm(1), (3, 1)))]

# Channels.
F.batch_norm(sines(2, 3), sines(3), None)
F.batch_norm(sines(2, 3), sines(3), sines(2) + 2)
F.batch_norm(sines(2, 3), sines(3, 1), sines(3) + 2)
F.batch_norm(sines(2, 3), sines(3), sines(3, 1) + 2)
F.batch_norm(sines(2, 3), sines(3).float(), sines(3) + 2)
F.batch_norm(sines(2, 3), sines(3), sines(3).float() + 2)
F.batch_norm(sines(2, 3), sines(3), sines(3) + 2, sines(3).float())
F.batch_norm(sines(2, 3), sines(3), sines(3) + 2, sines(3), sines(3).float())
F.instance_norm(sines(2, 3, 2), None, sines(3), use_input_stats=False)
[x := sines(3), y := sines(3) + 2, F.instance_norm(sines(2, 3, 2), x, y, sines(3), None, True,
    0.25), x, y]
torch.batch_norm(sines(2, 3, 2), None, None, sines(3), None, True, 0.25, 1e-5, False)
torch.batch_norm(sines(2, 3, 2), None, None, None, sines(3), True, 0.25, 1e-5, False)
torch.instance_norm(sines(2, 3, 2), None, None, None, sines(3), True, 0.25, 1e-5, False)

def instance_norm():
    x = sines(3)
    return F.instance_norm(sines(2, 3, 2), x, None, None, sines(3), True, 0.25)

# Derivatives: by the kernel, then by operators.
gradients(lambda a: F.layer_norm(sines(2, 2, 3), (3,), a), sines(3))
with differs("Torch sums what belongs to a weight in the half type."):
    gradients(lambda a: F.layer_norm(sines(2, 3).to(torch.float16), (3,), a),
        sines(3, dtype=torch.float32))
second_gradients(lambda x: F.layer_norm(x, (3,)) ** 2, sines(3))
tangents(lambda x, a, b: F.layer_norm(x, (3,), a, b), sines(2, 3), sines(3), sines(3))
forward_over_reverse(lambda x, a, b: F.layer_norm(x, (3,), a, b), sines(2, 3), sines(3), sines(3))
gradients(lambda x, a: F.rms_norm(x, (3,), a, 0.5), sines(2, 3), sines(3))
gradients(lambda x, a: F.rms_norm(x, (3,), a, 0.5), sines(2, 3).float(), sines(3))
gradients(lambda x, a: F.rms_norm(x, (3,), a, 0.5), complex_sines(2, 3), complex_sines(3))
second_gradients(lambda x, a: F.rms_norm(x, (3,), a, 0.5) ** 2, sines(2, 3), sines(3))
tangents(lambda x, a: F.rms_norm(x, (3,), a, 0.5), sines(2, 3), sines(3))
forward_over_reverse(lambda x, a: F.rms_norm(x, (3,), a, 0.5), sines(2, 3), sines(3))
second_gradients(lambda x: F.group_norm(x, 2) ** 2, sines(2, 4))
tangents(lambda x: F.group_norm(x, 2), sines(2, 4))
tangents(lambda x: F.group_norm(x, 2), sines(0, 4, 2))
forward_over_reverse(lambda x, a: F.group_norm(x, 2, a), sines(2, 4, 2), sines(4))
gradients(lambda x, b: F.batch_norm(x, sines(3), sines(3) + 2, None, b), sines(2, 3), sines(3))
gradients(lambda x: F.batch_norm(x, None, None, training=True),
    sines(2, 3, 2, 2).to(memory_format=torch.channels_last))
second_gradients(lambda x, a, b: F.batch_norm(x, None, None, a, b, True) ** 2, sines(2, 3, 2),
    sines(3), sines(3))
second_gradients(lambda x, a, b: F.batch_norm(x, sines(3), sines(3) + 2, a, b) ** 2, sines(2, 3, 2),
    sines(3), sines(3))
second_gradients(lambda x: F.batch_norm(x, None, None, training=True) ** 2, sines(3, 2))
tangents(lambda x, a, b: F.batch_norm(x, None, None, a, b, True), sines(2, 3, 2), sines(3),
    sines(3))
forward_over_reverse(lambda x, a: F.batch_norm(x, None, None, a, None, True), sines(2, 3, 2),
    sines(3))
second_gradients(lambda x, a: F.instance_norm(x, weight=a) ** 2, sines(2, 3, 3), sines(3))
vmap(lambda x, a: F.layer_norm(x, (3,), a))(sines(2, 2, 3), sines(2, 3))
vmap(lambda x, a: F.group_norm(x, 2, a))(sines(3, 2, 4, 2), sines(3, 4))
with differs("Where examples lie in memory is nobody's concern; torch's rule puts them elsewhere."):
    vmap(lambda x: F.batch_norm(x, None, None, training=True))(sines(3, 2, 4))
vmap(lambda x: F.instance_norm(x))(sines(3, 2, 4, 3))
vmap(lambda x: F.rms_norm(x, (3,)), in_dims=1)(sines(2, 2, 3))
gradients(lambda a: F.group_norm(sines(2, 4, 2).to(torch.float16), 2, a),
    sines(4, dtype=torch.float32))
[gradients(lambda b: f(sines(2, 4, 3).to(torch.bfloat16), b), sines(4, dtype=torch.float32))
    for f in (lambda x, b: F.batch_norm(x, torch.zeros(4), torch.ones(4), None, b), lambda x,
    b: F.instance_norm(x, None, None, None, b))]
tangents(lambda x: F.group_norm(x, 2), sines(3, 4, 2))
second_gradients(lambda x: F.group_norm(x, 2) ** 2, sines(3, 4, 2))

# Statistics in memory that is read only.
def array_from_numpy():
    mean, var = (np.array([0.5, 1.0, 1.5, 2.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    mean.flags.writeable = var.flags.writeable = False
    return F.batch_norm(sines(3, 2), torch.from_numpy(mean)[::2], torch.from_numpy(var)[::2])
