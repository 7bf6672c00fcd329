"""Joining: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from tests.recorded.inputs import gradients, iota, sines, tangents

torch.cat(())
torch.cat((sines(2), 3))
torch.cat((sines(1, 2, 2, 2).to(memory_format=torch.channels_last),
    sines(1, 2, 2, 2).to(memory_format=torch.channels_last)), 1)
torch.cat((sines(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d),) * 2, 1)
torch.stack(())
torch.stack((sines(2), sines(2)), -1)
torch.stack((sines(2), sines(2)), -2)
torch.chunk(sines(5), 0)
torch.chunk(sines(5), -1)
torch.unsafe_split(sines(2, 4), 3, -1)
torch.unsafe_split_with_sizes(sines(2, 3), (1, 2), 1)
torch.unsafe_chunk(sines(1), 1)
torch.tensor_split(sines(5), 0)
torch.tensor_split(sines(), 1)
torch.tensor_split(sines(5), torch.tensor(2))
torch.tensor_split(sines(5), torch.tensor([[1, 3]]))
gradients(lambda x, y: torch.cat((x, y), 1), sines(2, 3), sines(2, 1))
gradients(lambda x, y: torch.stack((x, y), 1), sines(2, 3), sines(2, 3))
gradients(lambda x: torch.split(x, 2), sines(5))
gradients(lambda x: torch.chunk(x, 2, 1), sines(2, 5))
gradients(lambda x: torch.unsafe_split(x, 2, 1), sines(2, 5))
gradients(lambda x: torch.tensor_split(x, (1, 3), 1), sines(2, 5))
tangents(lambda x: torch.split(x, (1, 4), 1), sines(2, 5))

# Numbers of dimensions among several.
torch.stack([torch.tensor(1.0), torch.tensor(2.0)], -1)
torch.broadcast_tensors(torch.tensor(1.0), iota(2))[0].shape
torch.atleast_2d(torch.tensor(1.0)).shape
