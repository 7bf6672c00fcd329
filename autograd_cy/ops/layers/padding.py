"""Padding; ``functional.pad`` does it."""

from typing import Any

from autograd_cy.ops.layers._schema import SIZES, layer

IMPORTS = "from autograd_cy.nn.functional._arguments import each_side\n"
OPTION = "padding: Sizes"
TEXTS: dict[str, Any] = {
    "texts": {
        "padding": (
            "How many before and after, from the last dimension on; or one number for all sides."
        ),
        "value": "The constant.",
    },
    "kinds": {"padding": SIZES},
}
DIMENSIONS = {1: "the last dimension", 2: "the last two dimensions", 3: "the last three dimensions"}
# Class: what it puts around, the mode of `pad`, and what [0, 1, 2] becomes.
MODES = {
    "Reflection": ("Elements reflected at the edges of", "reflect", "2., 1., 0., 1., 2., 1."),
    "Replication": ("Elements of the edges repeated of", "replicate", "0., 0., 0., 1., 2., 2."),
    "Circular": (
        "Elements of the other end before and after each of",
        "circular",
        "1., 2., 0., 1., 2., 0.",
    ),
}
# A check of PyTorch's for circular padding.
CHECK = """\
if input.dim() not in ({0}, {1}):
    raise ValueError(f"expected {0}D or {1}D input (got {{input.dim()}}D input)")"""


def example(name, rank, rest, result):
    """Return the session of two elements before and one after."""
    sides = ", ".join(["2, 1", *["0, 0"] * (rank - 1)])
    brackets = "[" * rank, "]" * rank
    call = f"torch.nn.{name}({f'({sides})'}{rest})"
    return "\n".join(
        (
            f">>> {call}(torch.tensor({brackets[0]}[0.0, 1.0, 2.0]{brackets[1]}))",
            f"tensor({brackets[0]}[{result}]{brackets[1]})",
        )
    )


layer(
    "_ConstantPadNd",
    "pad",
    arguments='self.padding, "constant", self.value',
    members={"value:": "float", "padding:": "tuple[int, ...]"},
    gives="the input with the constant around it",
    shown="padding={self.padding}, value={self.value}",
)
layer("_PadNd", members={"padding:": "tuple[int, ...]"}, shown="{self.padding}")

for rank, where in DIMENSIONS.items():
    layer(
        f"ConstantPad{rank}d({OPTION}, value: float)",
        doc=f"A constant around {where}.",
        example=example(f"ConstantPad{rank}d", rank, ", 5.0", "5., 5., 0., 1., 2., 5."),
        base="_ConstantPadNd",
        store={"padding": f"each_side(padding, {rank})"},
        constants="padding value",
        **TEXTS,
    )
    layer(
        f"ZeroPad{rank}d({OPTION})",
        doc=f"Zeros around {where}.",
        example=example(f"ZeroPad{rank}d", rank, "", "0., 0., 0., 1., 2., 0."),
        base=f"ConstantPad{rank}d",
        to_base="padding, 0.0",
        constants="padding value",
        shown="{self.padding}",
        **TEXTS,
    )
    for kind, (what, mode, result) in MODES.items():
        layer(
            f"{kind}Pad{rank}d({OPTION})",
            "pad",
            f"{what} {where}.",
            example(f"{kind}Pad{rank}d", rank, "", result),
            base="_PadNd",
            store={"padding": f"each_side(padding, {rank})"},
            arguments=f'self.padding, "{mode}"',
            check_input=CHECK.format(rank + 1, rank + 2) if mode == "circular" else "",
            gives="the padded input",
            **TEXTS,
        )
