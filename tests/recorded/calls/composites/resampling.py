"""Resampling: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, gradients, iota, sines

F.interpolate(sines(1, 1, 3), 5, mode="nearest-exact")
F.interpolate(sines(1, 1, 2, 3), (3, 2), mode="bicubic", align_corners=True)
F.interpolate(sines(1, 1, 3), 0)
F.interpolate(sines(1, 1, 3, 3, 3), (2, 0, 2))
F.interpolate(sines(1, 0, 3), 2)
F.interpolate(iota(1, 1, 3, 3, dtype=torch.int64), 5)
F.interpolate(iota(1, 1, 3, 3, 3, dtype=torch.int64), 5)
F.interpolate(iota(1, 1, 3, 3, dtype=torch.int64), 5, mode="bilinear")
F.interpolate(iota(1, 1, 3, 3, 3, dtype=torch.int64), 5, mode="trilinear")
F.interpolate(iota(1, 1, 3, 3, dtype=torch.int64), 5, mode="bicubic")
F.interpolate(iota(1, 1, 3, dtype=torch.uint8), 5, mode="nearest-exact")
F.interpolate(iota(1, 1, 3, dtype=torch.uint8), 5, mode="linear")
F.interpolate(complex_sines(1, 1, 3), 5)
F.pixel_shuffle(sines(4, 1, 2), 0)
F.pixel_shuffle(sines(4, 1, 2), -1)
F.pixel_shuffle(sines(4, 1, 2), 2**32)
F.pixel_shuffle(sines(2, 8, 1, 2).to(memory_format=torch.channels_last), 2)
F.pixel_unshuffle(sines(1, 2, 2), 0)
F.pixel_unshuffle(sines(1, 2, 2), -1)
F.pixel_unshuffle(sines(2, 2, 2, 4).to(memory_format=torch.channels_last), 2)
F.channel_shuffle(sines(2, 6, 2, 1), 3)
F.channel_shuffle(sines(2, 6, 1, 2).to(memory_format=torch.channels_last), 3)
F.max_unpool1d(sines(1, 2), torch.tensor([[0, 3]]), 2)
F.max_unpool1d(sines(1, 1, 2), torch.tensor([[[1, 2]]]), 2)
F.max_unpool1d(sines(1, 2), torch.tensor([[0, 3]]).to(torch.int32), 2)
F.max_unpool2d(sines(1, 2), torch.tensor([[0, 3]]), 2)
F.max_unpool2d(sines(1, 1, 2), torch.tensor([[[0, 3]]]).to(torch.int32), 2)
F.max_unpool2d(sines(1, 1, 2), torch.tensor([[[0]]]), 2)
F.max_unpool2d(sines(2, 2, 1, 2).to(memory_format=torch.channels_last),
    torch.zeros(2, 2, 1, 2, dtype=torch.int64) + torch.tensor([0, 3]), 2)
F.max_unpool3d(sines(1, 1, 1, 2), torch.tensor([[[[0, 3]]]]), 2)
F.max_unpool3d(sines(1, 2), torch.tensor([[0, 3]]), 2)
gradients(lambda x: F.max_unpool2d(x, torch.tensor([[[0, 3]]]), 2), sines(1, 1, 2))
gradients(lambda x: F.pixel_shuffle(x, 2), sines(4, 1, 2))
F.pixel_shuffle(sines(1, 9, 2, 3).to(memory_format=torch.channels_last), 3)
F.pixel_unshuffle(sines(1, 3, 6), 3)
F.pixel_unshuffle(sines(1, 2, 3, 6).to(memory_format=torch.channels_last), 3)

# Where nothing moves, results have memory of their own.
def pixel_shuffle_channel_shuffle():
    x = iota(1, 4, 1, 1)
    found = [F.pixel_shuffle(x, 1), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 1),
        F.channel_shuffle(x, 1), F.channel_shuffle(x, 2), F.channel_shuffle(x, 4)]
    return [y.add_(1) for y in found], x

def pixel_shuffle_pixel_unshuffle():
    x = iota(3, 2, 4).transpose(0, 2)
    last = iota(1, 3, 2, 2).to(memory_format=torch.channels_last)
    return [F.pixel_shuffle(y, 1) for y in (x, last)], [F.pixel_unshuffle(y, 1)
        for y in (x, last)], [F.channel_shuffle(y, 1)
        for y in (x, last)], [F.pixel_shuffle(y, 1).data_ptr() == y.data_ptr() for y in (x, last)]
