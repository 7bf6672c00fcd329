"""Padding: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, gradients, iota, sines, tangents

F.pad(sines(2, 3), (-2, -2))
F.pad(sines(2, 3), ())
torch.constant_pad_nd(sines(2, 3), (1,))
torch.constant_pad_nd(sines(2, 3), (-4, 0))
F.pad(sines(2, 3), (0, 10**18))
F.pad(sines(1, 3), (1, 2), mode="reflect", value=1)
F.pad(sines(1, 3), (1, 2), mode="other")
F.pad(sines(1, 3), (2**62, 0), mode="reflect")
F.pad(sines(1, 3), (10**18, 0), mode="circular")
F.pad(sines(1, 3), (-(10**18), 0), mode="replicate")
F.pad(iota(1, 3, dtype=torch.bool), (1, 1), mode="reflect")
F.pad(iota(1, 3, dtype=torch.bool), (1, 1), mode="replicate")
F.pad(iota(1, 2, 3, dtype=torch.bool), (1, 1, 1, 1), mode="reflect")
F.pad(iota(1, 3, dtype=torch.bool), (1, 1), mode="circular")
F.pad(sines(1, 3), (0, 3), mode="reflect")
F.pad(sines(1, 3), (-1, -1), mode="reflect")
F.pad(sines(1, 3), (-1, -2), mode="reflect")
F.pad(sines(1, 3), (-2, -1), mode="replicate")
with differs("Torch refuses an empty plane only where both sizes are zero."):
    F.pad(sines(1, 2, 3), (-1, 1, -2, 0), mode="replicate")
    F.pad(sines(1, 2, 2, 3), (0, 0, 0, 0, -2, 0), mode="replicate")
F.pad(sines(1, 3), (0, 4), mode="circular")
F.pad(sines(1, 3), (-1, -3), mode="circular")
F.pad(sines(1, 3), (-1, 1), mode="circular")
F.pad(sines(1, 2, 3), (1, -1, -1, 2), mode="circular")
F.pad(sines(1, 2, 3), (1, 0, 2, 1), mode="circular")
gradients(lambda x: F.pad(x, (-1, 2), mode="circular"), sines(2, 3))
tangents(lambda x: F.pad(x, (1, 2), mode="reflect"), sines(2, 3))
vmap(lambda x: F.pad(x, (1, 2), mode="replicate"))(sines(2, 2, 3))
torch.constant_pad_nd(sines(2, 2, 2), (1, 0, 0, 1, 1, 1))
