"""Distances and similarities of vectors."""

from autograd_cy.ops.layers._schema import layer

VECTORS = "x1: Tensor, x2: Tensor"

layer(
    "CosineSimilarity(dim: int = 1, eps: float = 1e-8)",
    "cosine_similarity",
    "Cosines of the angles between vectors.",
    """\
>>> torch.nn.CosineSimilarity(dim=0)(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))
tensor(0.9600)""",
    texts={
        "dim": "The dimension along which the vectors are.",
        "eps": "What the length of a vector is at least.",
    },
    inputs=VECTORS,
    gives="the cosines",
    shown="",
)
layer(
    "PairwiseDistance(p: float = 2.0, eps: float = 1e-6, keepdim: bool = False)",
    "pairwise_distance",
    "Norms of the differences of vectors in the last dimension.",
    """\
>>> torch.nn.PairwiseDistance()(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2))
tensor([5.0000])""",
    texts={
        "p": "The order of the norm.",
        "eps": "What is added to each difference.",
        "keepdim": "Whether the last dimension stays, of size 1.",
    },
    store={"p": "", "norm": "p"},
    attributes={"norm": ("float", "The order of the norm.")},
    inputs=VECTORS,
    arguments="self.norm, self.eps, self.keepdim",
    constants="norm eps keepdim",
    gives="the distances",
    shown="",
)
