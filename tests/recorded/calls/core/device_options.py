"""Device options: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import iota, with_warnings

# what was refused and has an answer, and the other way round; layouts that others than the operand ask for
torch.device(-1)
torch.normal(torch.tensor(0.0), torch.tensor(1.0), (3,)).shape
torch.normal(torch.tensor(2.0), 0.0, (2,))
torch.normal(2.0, torch.tensor(0.0), size=(2,))
torch.normal(torch.zeros(3), torch.ones(3), (3,))
torch.asarray(torch.utils.dlpack.to_dlpack(iota(3)))
with_warnings(lambda: torch.empty(2).random_(0, 2**24 + 1).shape)
torch.empty(2, dtype=torch.float16).random_(0, 2**17)
torch.empty(2, dtype=torch.int8).random_(0, 300)
F.embedding_bag(torch.tensor([0, 1, 2, 3]), iota(5, 2), torch.tensor([0, 2, 3]),
    include_last_offset=True, mode="sum")
torch.gather(iota(2, 2), 0, torch.zeros(1, 2, dtype=torch.uint8))
torch.linalg.norm(torch.zeros(0), -1)
torch.linalg.norm(torch.zeros(0, 3), -1, dim=0)
torch.linalg.vector_norm(torch.zeros(0, 3), float("inf"), dim=0)
torch.norm(torch.zeros(0), float("inf"))
torch.linalg.norm(torch.zeros(0, 3), 1)
torch.tensor(2 + 1j).adjoint()
torch.tensor(2.0).adjoint()
torch.addr(torch.zeros(2, 2), iota(2), iota(2), beta=True)
torch.addr(torch.zeros(2, 2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64),
    torch.zeros(2, dtype=torch.int64), alpha=True)
torch.where(torch.tensor([2, 0], dtype=torch.int32), torch.ones(2), torch.zeros(2))
torch.bitwise_or(5, 3)
torch.bitwise_xor(5, 3)
torch.float_power(5, 3)
torch.xlogy(5, 3)
torch.add(5, 3)
torch.floor_divide(5, 3)
F.multi_margin_loss(torch.zeros(2, 3), torch.tensor([0, 1]), weight=torch.zeros(3, 1))
F.multi_margin_loss(torch.zeros(2, 3), torch.tensor([0, 1]), weight=torch.zeros(2))
torch.linalg.cross(iota(2, 3), torch.ones(1, 3))
torch.nn.Linear(1, 1).to("cpu", copy=True)
torch.nn.Linear(1, 1).to("cpu", True)
torch.nn.Linear(1, 1).to("cpu", torch.float64, True).weight.dtype
torch.ones(4, 3, 1, 1).to(memory_format=torch.channels_last).stride()
torch.nn.Conv2d(3, 4, 1).to(memory_format=torch.channels_last)(torch.ones(2, 3, 5, 5)).stride()
torch.nn.Conv2d(4, 4, 3, groups=4).to(memory_format=torch.channels_last)(torch.ones(2, 4, 5,
    5)).stride()

def interpolate_antialias():
    x = torch.zeros(5, 5, 40, 40).contiguous(memory_format=torch.channels_last)[:, :, ::2, ::2]
    return F.interpolate(x, size=(8, 8), mode="bicubic", antialias=True).stride()

def interpolate_antialias_2():
    x = torch.zeros(5, 5, 40, 40).contiguous(memory_format=torch.channels_last)[:, :, ::2, ::2]
    return F.interpolate(x[:, 1:], size=(8, 8), mode="bilinear", antialias=True).stride()
