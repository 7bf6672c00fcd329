"""Distances and similarities of vectors, the losses made of them, and forms of two vectors.

The Python side, with the older spellings of `reduction`, is
autograd_cy/nn/functional/_margin_loss.py. As in torch, a function of the top level has no reduction
unless one is asked for by number: 1 is the mean, 2 the sum.
"""

from autograd_cy.ops._schema import arg, composite, error, fixed, op, real, sample, shapes

LOADED = "at first use"

HOW = "0 for the losses themselves, 1 for their mean, 2 for their sum."
REDUCED = "[lambda x: x, np.mean, np.sum][reduction]"
SIGN = real(0.6, 1.4)
COSINE = (
    "(input1 * input2).sum(-1) / np.sqrt(((input1**2).sum(-1) + 1e-12) * ((input2**2).sum(-1) "
    "+ 1e-12))"
)
VECTORS = ((3, 4), (3, 4)), ((3, 4), (4,)), ((5,), (5,))


def codes(*args, **kwargs):
    return [sample(args, {"reduction": code, **kwargs}) for code in (0, 1, 2)]


# --- vectors -----------------------------------------------------------------------------------

op(
    "cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-08)",
    method=False,
    also=("nn.functional",),
    kernel=composite("margin_loss.cosine_similarity"),
    dtypes="hf",
    tolerance=1e-4,
    samples=[
        *shapes(*VECTORS, dim=-1),
        *shapes(((3, 4), (3, 4)), ((2, 1, 4), (3, 1))),
        *shapes(((3, 4), (3, 4)), dim=0),
    ],
    reference=(
        "(x1 * x2).sum(dim) / np.maximum(np.linalg.norm(x1 + 0 * x2, axis=dim), eps) "
        "/ np.maximum(np.linalg.norm(x2 + 0 * x1, axis=dim), eps)"
    ),
    errors=(
        error(sample((arg((4,)), arg((4,)))), IndexError, "Dimension out of range"),
        error(sample((arg((4,)), arg((4,)), 0, -1.0)), RuntimeError, "eps must be non-negative"),
    ),
    params={
        "x1": "Vectors along `dim`.",
        "dim": "A dimension of the two together.",
        "eps": "What the length of a vector is at least.",
    },
    doc="Cosines of the angles between vectors: their product, divided by their lengths.",
    example=(
        ">>> ag.cosine_similarity(ag.tensor([3.0, 4.0]), ag.tensor([4.0, 3.0]), dim=0)\n"
        "tensor(0.9600)"
    ),
)

op(
    "pairwise_distance(x1, x2, p: float = 2, eps: float = 1e-06, keepdim: bool = False)",
    method=False,
    also=("nn.functional",),
    kernel=composite("margin_loss.pairwise_distance"),
    dtypes="hf",
    tolerance=1e-4,
    samples=[
        *shapes(*VECTORS),
        *shapes(((3, 4), (3, 4)), p=1.0),
        *shapes(((3, 4), (3, 4)), p=3.5, eps=0.0, keepdim=True),
        *shapes(((3, 4), (3, 4)), p=float("inf")),
    ],
    reference="np.linalg.norm(x1 - x2 + eps, p, axis=-1, keepdims=keepdim)",
    params={
        "x1": "Vectors along the last dimension.",
        "p": "The order of the norm.",
        "eps": "What is added to each difference.",
        "keepdim": "Whether the last dimension stays, of size 1.",
    },
    doc="Norms of the differences of vectors.",
    example=(
        ">>> ag.pairwise_distance(ag.tensor([[3.0, 4.0]]), ag.tensor([[0.0, 0.0]]))\n"
        "tensor([5.0000])"
    ),
)

op(
    "bilinear(input1, input2, weight, bias: Tensor? = None)",
    method=False,
    also=("nn.functional",),
    kernel=composite("margin_loss.bilinear"),
    dtypes="fc",
    tolerance=1e-4,
    samples=shapes(
        ((2, 3), (2, 4), (5, 3, 4), (5,)),
        ((3,), (4,), (5, 3, 4)),
        ((2, 6, 3), (2, 6, 4), (1, 3, 4), (1,)),
        ((0, 3), (0, 4), (5, 3, 4)),
    ),
    reference=(
        "np.einsum('...i,kij,...j->...k', input1, weight, input2) + (0 if bias is None else bias)"
    ),
    errors=(
        error(
            sample((arg((2, 3)), arg((2, 5)), arg((5, 3, 4)))),
            RuntimeError,
            "input2 size does not match weight size: got 5 but expected 4",
        ),
        error(
            sample((arg((2, 3)), arg((1, 4)), arg((5, 3, 4)))),
            RuntimeError,
            "input batch dimensions do not match at dim 0: got 2 and 1",
        ),
        error(
            sample((arg((2, 3)), arg((2, 2, 4)), arg((5, 3, 4)))),
            RuntimeError,
            "input dimensions do not match: got 2 and 3",
        ),
        error(
            sample((arg((2, 3)), arg((2, 4)), arg((5, 3, 4)), arg((4,)))),
            RuntimeError,
            "bias size does not match weight size: got 4 but expected 5",
        ),
    ),
    params={
        "input1": "Vectors in the last dimension.",
        "input2": "Other vectors, with the same dimensions before the last.",
        "weight": "One matrix for each element of the result.",
    },
    doc="Bilinear forms: ``input1 @ weight[k] @ input2 + bias[k]`` for each `k`.",
    example=(
        ">>> ag.bilinear(ag.tensor([1.0, 2.0]), ag.tensor([3.0]), ag.ones(1, 2, 1))\ntensor([9.])"
    ),
)

# --- losses ------------------------------------------------------------------------------------

op(
    "margin_ranking_loss(input1, input2, target, margin: float = 0.0, reduction: int = 0)",
    method=False,
    functional=(
        "margin_ranking_loss(input1, input2, target, margin, size_average, reduce, reduction)"
    ),
    kernel=composite("margin_loss.margin_ranking_loss"),
    autocast="float32",
    dtypes="hf",
    samples=[
        *codes(arg((5,)), arg((5,)), arg((5,), SIGN)),
        *codes(arg((3, 1)), arg((1, 4)), arg((3, 4), SIGN), margin=0.5),
    ],
    reference=f"{REDUCED}(np.maximum(margin - target * (input1 - input2), 0))",
    params={
        "input1": "Scores.",
        "input2": "Other scores.",
        "target": "1 where the first should be larger, -1 where the second should.",
        "margin": "By how much it should be.",
        "reduction": HOW,
    },
    doc="``max(0, margin - target * (input1 - input2))``.",
    example=(
        ">>> ag.margin_ranking_loss(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([1.0]), 0.5)\n"
        "tensor([2.5000])"
    ),
)

op(
    "hinge_embedding_loss(input, target, margin: float = 1.0, reduction: int = 0)",
    method=False,
    functional="hinge_embedding_loss(input, target, margin, size_average, reduce, reduction)",
    kernel=composite("margin_loss.hinge_embedding_loss"),
    autocast="float32",
    dtypes="hf",
    samples=[
        *codes(arg((5,)), fixed((5,), SIGN)),
        *codes(arg((3, 4)), fixed((4,), SIGN), margin=0.5),
    ],
    reference=(
        f"{REDUCED}(np.where(target != 1, np.maximum(margin - input, 0), 0) + np.where(target "
        "!= -1, input, 0) + 0 * target)"
    ),
    params={
        "input": "Distances.",
        "target": "1 for what is alike, -1 for what is not.",
        "margin": "The distance of what is not alike.",
        "reduction": HOW,
    },
    doc="``input`` where the target is 1, and ``max(0, margin - input)`` where it is -1.",
    example=(
        ">>> ag.hinge_embedding_loss(ag.tensor([0.25, 0.25]), ag.tensor([1.0, -1.0]))\n"
        "tensor([0.2500, 0.7500])"
    ),
)

op(
    "cosine_embedding_loss(input1, input2, target, margin: float = 0.0, reduction: int = 0)",
    method=False,
    functional=(
        "cosine_embedding_loss(input1, input2, target, margin, size_average, reduce, reduction)"
    ),
    kernel=composite("margin_loss.cosine_embedding_loss"),
    autocast="float32",
    dtypes="hf",
    tolerance=1e-4,
    samples=[
        *codes(arg((3, 4)), arg((3, 4)), fixed((3,), real(1, 1))),
        *codes(arg((4,)), arg((4,)), fixed((), real(-1, -1)), margin=-0.5),
    ],
    reference=(
        f"{REDUCED}((lambda c: np.where(target == 1, 1 - c, np.maximum(c - margin, 0)))({COSINE}))"
    ),
    errors=(
        error(
            sample((arg((4,)), arg((4,)), arg((3,)))),
            RuntimeError,
            "1D target tensor expects 2D input tensors",
        ),
        error(
            sample((arg((3, 4)), arg((3, 4)), arg((3, 1)))),
            RuntimeError,
            "0D or 1D target tensor expected",
        ),
        error(
            sample((arg((3,)), arg((3, 4)), arg(()))),
            RuntimeError,
            "0D target tensor expects 1D input tensors",
        ),
    ),
    params={
        "input1": "Vectors.",
        "input2": "Other vectors.",
        "target": "1 for what is alike, -1 for what is not.",
        "margin": "The cosine up to which vectors are not alike.",
        "reduction": HOW,
    },
    doc="``1 - cos`` where the target is 1, and ``max(0, cos - margin)`` where it is -1.",
    example=(
        ">>> ag.cosine_embedding_loss(ag.tensor([[3.0, 4.0]]), ag.tensor([[4.0, 3.0]]), "
        "ag.tensor([-1]), 0.5)\n"
        "tensor([0.4600])"
    ),
)

op(
    "triplet_margin_loss(anchor, positive, negative, margin: float = 1.0, p: float = 2, eps: "
    "float = 1e-06, swap: bool = False, reduction: int = 0)",
    functional=(
        "triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, size_average, "
        "reduce, reduction)"
    ),
    autocast="float32",
    method=False,
    kernel=composite("margin_loss.triplet_margin_loss"),
    dtypes="hf",
    tolerance=1e-4,
    samples=[
        *codes(arg((3, 4)), arg((3, 4)), arg((3, 4)), margin=3.0),
        *codes(arg((4,)), arg((4,)), arg((4,)), swap=True, p=1.0, margin=3.0),
    ],
    reference=(
        f"{REDUCED}((lambda d, n: np.maximum(margin + d(anchor, positive) - (np.minimum(n, "
        "d(positive, negative)) if swap else n), 0))(lambda a, b: np.linalg.norm(a - b + eps, p, "
        "axis=-1), np.linalg.norm(anchor - negative + eps, p, axis=-1)))"
    ),
    errors=(
        error(
            sample((arg((3, 4)), arg((3, 4)), arg((4,)))),
            RuntimeError,
            "expected to have the same number of dimensions",
        ),
    ),
    params={
        "anchor": "Vectors.",
        "positive": "Vectors that should be near.",
        "negative": "Vectors that should be far away.",
        "margin": "How much farther.",
        "p": "The order of the norm.",
        "eps": "What is added to each difference.",
        "swap": "Whether the distance of positive and negative counts, where that is smaller.",
        "reduction": HOW,
    },
    doc=(
        "``max(0, margin + |anchor - positive| - |anchor - negative|)`` [1]_.\n\n"
        ".. [1] Balntas, Riba, Ponsa, Mikolajczyk, Learning local feature descriptors with "
        "triplets, 2016."
    ),
    example=(
        ">>> ag.triplet_margin_loss(ag.tensor([0.0]), ag.tensor([3.0]), ag.tensor([1.0]))\n"
        "tensor(3.)"
    ),
)

op(
    "poisson_nll_loss(input, target, log_input: bool, full: bool, eps: float, reduction: int)",
    method=False,
    functional=(
        "poisson_nll_loss(input, target, log_input: bool = True, full: bool = False, "
        "size_average, eps: float = 1e-08, reduce, reduction)"
    ),
    kernel=composite("margin_loss.poisson_nll_loss"),
    autocast="float32",
    dtypes="hf",
    domain=real(0.5, 3),
    tolerance=1e-4,
    samples=[
        sample((arg((3, 4)), arg((3, 4), real(1.2, 4)), log, full, 1e-8, code))
        for log in (True, False)
        for full in (True, False)
        for code in (0, 1, 2)
    ],
    reference=(
        f"{REDUCED}((np.exp(input) - target * input if log_input else input - target "
        "* np.log(input + eps)) + (np.where(target > 1, target * np.log(target) - target "
        "+ np.log(2 * np.pi * target) / 2, 0) if full else 0))"
    ),
    params={
        "input": "Rates, or their logarithms.",
        "target": "Numbers of events.",
        "log_input": "Whether the input is logarithms.",
        "full": "Whether Stirling's formula for the factorial is added.",
        "eps": "What is added to rates.",
        "reduction": HOW,
    },
    doc="Negative log-likelihood of numbers of events that have a Poisson distribution.",
    example=(
        ">>> ag.poisson_nll_loss(ag.tensor([0.0]), ag.tensor([2.0]), True, False, 1e-8, 0)\n"
        "tensor([1.])"
    ),
)
