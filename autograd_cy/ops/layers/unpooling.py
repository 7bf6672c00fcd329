"""Pooling by norms, and unpooling."""

from autograd_cy.ops.layers._schema import RANKS, layer

IMPORTS = """\
from collections.abc import Sequence

from autograd_cy.nn.functional._arguments import each_dim
"""

layer("_LPPoolNd(norm_type: float, kernel_size, stride, ceil_mode)")
layer("_MaxUnpoolNd", shown="kernel_size stride padding")

for rank, some in RANKS.items():
    window = f"({'1, ' * (rank - 1)}2)" if rank > 1 else "2"
    opening, closing = "[" * rank, "]" * rank
    layer(
        f"LPPool{rank}d",
        f"lp_pool{rank}d",
        f"The norm of the elements of each window of {some}.",
        f"""\
>>> torch.nn.LPPool{rank}d(2, {window})(torch.tensor({opening}[3.0, 4.0]{closing}))
tensor({opening}[5.]{closing})""",
        base="_LPPoolNd",
        texts={"norm_type": "The order; infinity for the largest element."},
        arguments="float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode",
        gives="the norms of the windows",
    )
    layer(
        f"MaxUnpool{rank}d(kernel_size, stride, padding)",
        f"max_unpool{rank}d",
        f"Zeros but for elements that MaxPool{rank}d chose, which are where they were.",
        f"""\
>>> x, at = torch.tensor({opening}[3.0, 2.0]{closing}), torch.tensor({opening}[1, 2]{closing})
>>> torch.nn.MaxUnpool{rank}d({window})(x, at)
tensor({opening}[0., 3., 2., 0.]{closing})""",
        base="_MaxUnpoolNd",
        texts={"padding": "How far windows began before the first element."},
        store={
            "kernel_size": f"each_dim(kernel_size, {rank})",
            "stride": f"each_dim(stride if stride is not None else kernel_size, {rank})",
            "padding": f"each_dim(padding, {rank})",
        },
        inputs="input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None",
        all_arguments="input, indices, self.kernel_size, self.stride, self.padding, output_size",
        constants="",
        gives="the elements where they were; `output_size` where several are possible",
    )
