"""Channels that become pixels, pixels that become channels, and channels in another order."""

from autograd_cy.ops.layers._schema import layer

ORDER = "the elements in their new order"

layer(
    "PixelShuffle(upscale_factor: int)",
    "pixel_shuffle",
    "Channels become rows and columns.",
    """\
>>> torch.nn.PixelShuffle(2)(torch.tensor([[[1]], [[2]], [[3]], [[4]]]))
tensor([[[1, 2],
         [3, 4]]])""",
    texts={"upscale_factor": "How many rows and columns one becomes."},
    gives=ORDER,
)
layer(
    "PixelUnshuffle(downscale_factor: int)",
    "pixel_unshuffle",
    "Rows and columns become channels: the opposite of PixelShuffle.",
    """\
>>> torch.nn.PixelUnshuffle(2)(torch.tensor([[[1, 2], [3, 4]]]))
tensor([[[1]],
<BLANKLINE>
        [[2]],
<BLANKLINE>
        [[3]],
<BLANKLINE>
        [[4]]])""",
    texts={"downscale_factor": "How many rows and columns become one."},
    gives=ORDER,
)
layer(
    "ChannelShuffle(groups: int)",
    "channel_shuffle",
    "The first channel of each group, then the second of each, and so on.",
    """\
>>> torch.nn.ChannelShuffle(2)(torch.tensor([[[1], [2], [3], [4]]]))
tensor([[[1],
         [3],
         [2],
         [4]]])""",
    texts={"groups": "How many groups the channels are in."},
    gives=ORDER,
)
