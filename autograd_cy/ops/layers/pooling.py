"""Pooling of windows of one size, and of a given number of windows."""

from autograd_cy.ops.layers._schema import RANKS, layer

IMPORTS = "from autograd_cy.nn.functional._arguments import each_dim\n"
MAX, MEAN = "The largest elements of", "The averages of"
LARGEST = {"gives": "the largest elements of the windows", "result": "Any"}
MEANS = {"gives": "the averages of the windows"}
WINDOWS = "kernel_size, stride, padding, ceil_mode, count_include_pad"
STEP = "stride if stride is not None else kernel_size"


def example(name, rank, sizes, values, result):
    """Return the session of a call with planes of one row."""
    sizes = sizes[0] if rank == 1 else f"({', '.join(sizes)})"
    opening, closing = "[" * rank, "]" * rank
    call = f"torch.nn.{name}({sizes})(torch.tensor({opening}[{values}]{closing}))"
    return f">>> {call}\ntensor({opening}[{result}]{closing})"


layer(
    "_MaxPoolNd(kernel_size, stride, padding, dilation, return_indices, ceil_mode)",
    store={"stride": STEP},
    shown="kernel_size stride padding dilation ceil_mode",
)
layer("_AvgPoolNd", shown="kernel_size stride padding")
layer("_AdaptiveAvgPoolNd(output_size)")
layer("_AdaptiveMaxPoolNd(output_size, return_indices)", shown="output_size")

for rank, some in RANKS.items():
    name, ones = f"Pool{rank}d", ["1"] * rank
    pairs, windows = [*ones[1:], "2"], "1.0, 3.0, 2.0, 0.0"
    layer(
        f"Max{name}",
        f"max_pool{rank}d",
        f"{MAX} windows of {some}.",
        example(f"Max{name}", rank, pairs, windows, "3., 2."),
        base="_MaxPoolNd",
        arguments="self.kernel_size, self.stride, self.padding, self.dilation, "
        "ceil_mode=self.ceil_mode, return_indices=self.return_indices",
        constants="kernel_size stride padding dilation return_indices ceil_mode",
        **LARGEST,
    )
    layer(
        f"Avg{name}({WINDOWS}{', divisor_override' if rank > 1 else ''})",
        f"avg_pool{rank}d",
        f"{MEAN} windows of {some}.",
        example(f"Avg{name}", rank, pairs, windows, "2., 1."),
        base="_AvgPoolNd",
        store={"stride": STEP}
        if rank > 1
        else {
            "kernel_size": "each_dim(kernel_size, 1)",
            "stride": f"each_dim({STEP}, 1)",
            "padding": "each_dim(padding, 1)",
        },
        **MEANS,
    )
    number = {} if rank > 1 else {"texts": {"output_size": "The number of windows."}}
    many = f"as many windows of {some} as are asked for."
    layer(
        f"AdaptiveAvg{name}",
        f"adaptive_avg_pool{rank}d",
        f"{MEAN} {many}",
        example(f"AdaptiveAvg{name}", rank, ones, "1.0, 3.0, 2.0", "2."),
        base="_AdaptiveAvgPoolNd",
        **number,
        **MEANS,
    )
    layer(
        f"AdaptiveMax{name}",
        f"adaptive_max_pool{rank}d",
        f"{MAX} {many}",
        example(f"AdaptiveMax{name}", rank, ones, "1.0, 3.0, 2.0", "3."),
        base="_AdaptiveMaxPoolNd",
        **number,
        **LARGEST,
    )
