"""Dropout, of elements and of whole channels."""

from typing import Any

from autograd_cy.ops.layers._schema import layer

IMPORTS = "from autograd_cy.nn.functional._arguments import check_probability\n"

NO_TEXTS: dict[str, str] = {}

layer(
    "_DropoutNd(p: float = 0.5, inplace)",
    doc="The base of dropout layers: a probability, and whether the input itself is changed.",
    check_options="check_probability(p)",
    shown="p={self.p}, inplace={self.inplace}",
)


def dropout(name, function, doc, shape, **more):
    """Add a row of a class whose results in evaluation are its inputs."""
    more = {"arguments": "self.p, self.training, self.inplace", "texts": {}, **more}
    example = f">>> bool((torch.nn.{name}(0.2).eval()(torch.ones({shape})) == 1).all())\nTrue"
    raises = {"ValueError": "If ``p`` is not between 0 and 1."}
    more["texts"] = {"p": "The probability.", **more["texts"]}
    gives = "the input with some of it dropped"
    layer(
        name,
        function,
        f"In training, {doc}.",
        example,
        base="_DropoutNd",
        raises=raises,
        gives=gives,
        constants="p inplace",
        **more,
    )


def dropout_of_record(name, function, doc, shape, inputs=NO_TEXTS, **more):
    """Add a row of a class whose function is written from a record, and from the same words."""
    says = doc.replace("sets", "Set", 1).replace("drops", "Drop", 1).replace(" scales", " scale")
    dropout(
        name,
        function,
        doc,
        shape,
        function_doc=f"{says}.".replace("`SELU`", "`selu`"),
        function_texts={"inplace": "Whether the input itself is changed.", **inputs},
        function_start="check_probability(p)",
        **more,
    )


UNUSED: dict[str, Any] = {
    "texts": {"inplace": "Part of the signature only, as in PyTorch: the input is never changed."},
    "arguments": "self.p, self.training",
}

dropout_of_record(
    "Dropout",
    "dropout",
    "sets each element to zero with probability `p` and scales the others by ``1 / (1 - p)``",
    "3",
)
dropout(
    "Dropout1d",
    "dropout1d",
    "sets whole channels of signals to zero and scales the others",
    "1, 3, 2",
)
dropout(
    "Dropout2d",
    "dropout2d",
    "sets whole channels of images to zero and scales the others",
    "1, 3, 2, 2",
)
dropout(
    "Dropout3d",
    "dropout3d",
    "sets whole channels of volumes to zero and scales the others",
    "1, 3, 2, 2, 2",
)
dropout_of_record(
    "AlphaDropout",
    "alpha_dropout",
    "drops elements so that mean 0 and variance 1 stay, for networks of `SELU`",
    "3",
    **UNUSED,
)
dropout_of_record(
    "FeatureAlphaDropout",
    "feature_alpha_dropout",
    "drops channels so that mean 0 and variance 1 stay, for networks of `SELU`",
    "1, 3, 2",
    {"input": "Of shape ``(N, C, ...)``."},
    **UNUSED,
)
