"""Losses made of margins and distances."""

from autograd_cy.ops.layers._losses import loss

IMPORTS = """\
from collections.abc import Callable

from autograd_cy.nn.distance import PairwiseDistance
from autograd_cy.nn.loss import _Loss, _WeightedLoss
"""
EXAMPLES = {"reduction": "What becomes of the values of all examples."}
TWO = "input1: Tensor, input2: Tensor, target: Tensor"
TRIPLET = {
    "inputs": "anchor: Tensor, positive: Tensor, negative: Tensor",
    "raises": {"ValueError": "If the margin is not positive."},
}
SWAP = {
    "swap": "Take the distance of positive and negative, where that is smaller.",
    "reduction": "What becomes of the values of all triplets.",
}

loss(
    "MarginRankingLoss(margin: float = 0.0, size_average, reduce, reduction)",
    "margin_ranking_loss",
    r"The loss :math:`\max(0, -t (x_1 - x_2) + m)` of two scores and a target of 1 or -1.",
    """\
>>> one = torch.tensor([1.0])
>>> torch.nn.MarginRankingLoss(margin=0.5)(one, 3 * one, one)
tensor(2.5000)""",
    texts={"margin": "By how much the score that should be larger should be."},
    function_texts={
        "input1 input2": "Scores.",
        "target": "1 where the first should be larger, -1 where the second should.",
    },
    function_start="""\
code = reduction_code(size_average, reduce, reduction)
if not input1.ndim == input2.ndim == target.ndim:
    raise RuntimeError(
        "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
        f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
    )""",
    inputs=TWO,
    constants="margin reduction",
)
loss(
    "HingeEmbeddingLoss(margin: float = 1.0, size_average, reduce, reduction)",
    "hinge_embedding_loss",
    r"The distance `x` where the target is 1, :math:`\max(0, m - x)` where it is -1.",
    ">>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.25]), torch.tensor([-1]))\ntensor(0.7500)",
    texts={"margin": "The distance of what is not alike."},
    function_texts={"input": "Distances.", "target": "1 for what is alike, -1 for what is not."},
    constants="margin reduction",
)
loss(
    "CosineEmbeddingLoss(margin: float = 0.0, size_average, reduce, reduction)",
    "cosine_embedding_loss",
    r"The loss :math:`1 - \cos` of vectors that are alike, :math:`\max(0, \cos - m)` of others.",
    """\
>>> x, y = torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0]])
>>> torch.nn.CosineEmbeddingLoss(margin=0.5)(x, y, torch.tensor([-1]))
tensor(0.4600)""",
    texts={
        "margin": "The cosine up to which vectors are not alike.",
        "reduction": "What becomes of the values of all pairs.",
    },
    function_texts={
        "input1 input2": "Vectors of shape ``(N, D)`` or ``(D,)``.",
        "target": (
            "Of shape ``(N,)`` or ``()``: 1 for vectors that are alike, -1 for those that are not."
        ),
    },
    inputs=TWO,
    constants="margin reduction",
)
loss(
    "PoissonNLLLoss(log_input: bool = True, full: bool = False, size_average, eps: float = 1e-8, "
    "reduce, reduction)",
    "poisson_nll_loss",
    "The negative log likelihood of numbers of events with a Poisson distribution.",
    ">>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))\ntensor(1.)",
    texts={
        "log_input": "Whether the input is logarithms of rates.",
        "full": "Add Stirling's formula for the logarithm of the factorial of targets above 1.",
        "eps": "What is added to rates.",
    },
    function_doc=r"""
Return the negative log likelihood of numbers of events with a Poisson distribution.

It is :math:`e^x - t x` of logarithms of rates, and :math:`x - t \log (x + \epsilon)` of rates.""",
    function_texts={"input": "Logarithms of rates, or rates.", "target": "Numbers of events."},
    inputs="log_input: Tensor, target: Tensor",
    constants="log_input full eps reduction",
)
loss(
    "GaussianNLLLoss(*, full: bool = False, eps: float = 1e-6, reduction)",
    "gaussian_nll_loss",
    "The negative log likelihood of numbers with a normal distribution.",
    """\
>>> one = torch.tensor([1.0])
>>> torch.nn.GaussianNLLLoss()(one, 3 * one, one)
tensor(2.)""",
    texts={
        "full": r"Add the constant :math:`\frac{1}{2} \log 2 \pi`.",
        "eps": "What a variance is at least.",
    },
    inputs="input: Tensor, target: Tensor, var: Tensor | float",
    gives="the loss of means, numbers and variances",
    constants="full eps reduction",
)
loss(
    "MultiMarginLoss(p: int = 1, margin: float = 1.0, weight, size_average, reduce, reduction)",
    "multi_margin_loss",
    "The margin loss of classes: the score of the right one should be larger than all others.",
    """\
>>> torch.nn.MultiMarginLoss()(torch.tensor([[0.5, 0.75, 0.0]]), torch.tensor([1]))
tensor(0.3333)""",
    base="_WeightedLoss",
    texts={
        "p": "The power of differences.",
        "margin": "How much larger.",
        "weight": "One factor per class.",
        **EXAMPLES,
    },
    kinds={"p": "{1, 2}"},
    raises={"ValueError": "If ``p`` is neither 1 nor 2, or the weight has not one dimension."},
    check_options="""\
if p not in (1, 2):
    raise ValueError("only p == 1 and p == 2 supported")
if weight is not None and weight.ndim != 1:
    raise ValueError(
        f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead"
    )""",
    constants="p margin reduction",
)
loss(
    "MultiLabelMarginLoss",
    "multilabel_margin_loss",
    "The margin loss of several classes: their scores should be larger than all others.",
    """\
>>> x, y = torch.tensor([[0.0, 0.5, 0.25]]), torch.tensor([[1, 2, -1]])
>>> torch.nn.MultiLabelMarginLoss()(x, y)
tensor(0.4167)""",
    texts=EXAMPLES,
)
loss(
    "MultiLabelSoftMarginLoss",
    "multilabel_soft_margin_loss",
    "The mean over classes of the cross entropy of logits and targets of two classes.",
    """\
>>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
tensor(0.6931)""",
    base="_WeightedLoss",
    texts={"weight": "One factor per class.", **EXAMPLES},
)
loss(
    "TripletMarginLoss(margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, "
    "size_average, reduce, reduction)",
    "triplet_margin_loss",
    r"The loss :math:`\max(0, m + \|a - p\| - \|a - n\|)` of three vectors.",
    """\
>>> x, y, z = torch.tensor([[0.0]]), torch.tensor([[3.0]]), torch.tensor([[1.0]])
>>> torch.nn.TripletMarginLoss()(x, y, z)
tensor(3.)""",
    texts={
        "margin": "How much farther the negative vector should be, positive.",
        "p": "The order of the norm.",
        "eps": "What is added to each difference.",
        **SWAP,
    },
    function_doc=r"""
Return :math:`\max(0, m + \|a - p\| - \|a - n\|)` of vectors.

(Balntas, Riba, Ponsa and Mikolajczyk, Learning local feature descriptors with triplets, 2016.)""",
    function_texts={
        "anchor positive negative": "Vectors in the last dimension; positive ones should be near, "
        "negative ones far away.",
    },
    function_start="""\
code = reduction_code(size_average, reduce, reduction)
if margin <= 0:
    raise ValueError(f"margin must be greater than 0, got {margin}")""",
    check_options="""\
if margin <= 0:
    raise ValueError(
        f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
    )""",
    constants="margin p eps swap reduction",
    **TRIPLET,
)
loss(
    "TripletMarginWithDistanceLoss(*, distance_function: Callable[[Tensor, Tensor], Tensor] | None "
    "= None, margin: float = 1.0, swap: bool = False, reduction)",
    "triplet_margin_with_distance_loss",
    "The triplet margin loss of any distance.",
    """\
>>> x, y, z = torch.tensor([[0.0]]), torch.tensor([[3.0]]), torch.tensor([[1.0]])
>>> torch.nn.TripletMarginWithDistanceLoss(margin=0.5)(x, y, z)
tensor(2.5000)""",
    texts={
        "distance_function": "Takes two tensors; by default a ``PairwiseDistance``.",
        "margin": "How much farther the negative should be, positive.",
        **SWAP,
    },
    kinds={"distance_function": "callable"},
    check_options="""\
if margin <= 0:
    raise ValueError(
        "TripletMarginWithDistanceLoss: expected margin to be greater than 0, got "
        f"{margin} instead"
    )
distance: Any = PairwiseDistance() if distance_function is None else distance_function""",
    store={"distance_function": "distance"},
    constants="margin swap reduction",
    **TRIPLET,
)
