"""The bases of losses, and losses of one number or class for each example.

``size_average`` and ``reduce`` are the older spelling of ``reduction``.
"""

from autograd_cy.ops.layers._losses import OF_ONE_SHAPE, PROMOTED, WITH_WEIGHT, loss
from autograd_cy.ops.layers._schema import layer

IMPORTS = "from autograd_cy.nn.functional._arguments import reduction_name\n"
EXAMPLES = "What becomes of the values of all examples; the mean is a weighted one."

layer(
    "_Loss(size_average, reduce, reduction)",
    doc="A loss with a reduction.",
    check_options="""\
if size_average is not None or reduce is not None:
    reduction = reduction_name(size_average, reduce, reduction)""",
    store={"size_average": "", "reduce": ""},  # the function checks the reduction
    shown="",
)
layer(
    "_WeightedLoss(weight, size_average, reduce, reduction)",
    doc="A loss with a weight, which is a buffer.",
    base="_Loss",
    members={"weight:": "Tensor | None"},
    buffers=("weight",),
)
loss(
    "MSELoss",
    "mse_loss",
    "The squared difference between input and target.",
    ">>> torch.nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))\ntensor(2.)",
    function_texts=OF_ONE_SHAPE | WITH_WEIGHT,
    function_start=f"""\
if target.shape != input.shape:
    warn_of_sizes(input, target)
older = size_average is not None or reduce is not None
if older or reduction not in ("mean", "sum", "none"):
    reduction = reduction_name(size_average, reduce, reduction)
{PROMOTED}
if weight is not None:
    values = _operators.mse_loss(input, target, reduction="none")
    check_weight(values, weight)
    return weighted(values, weight, reduction)""",
)
loss(
    "NLLLoss(weight, size_average, ignore_index, reduce, reduction)",
    "nll_loss",
    "The negative log likelihood of target classes, given log probabilities.",
    ">>> torch.nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))\ntensor(2.)",
    base="_WeightedLoss",
    texts={"weight": "One weight per class.", "reduction": EXAMPLES},
    function_texts={
        "input": "Log probabilities of shape ``(C,)``, ``(N, C)`` or ``(N, C, d1, ...)``.",
        "target": "Classes of shape ``()``, ``(N,)`` or ``(N, d1, ...)``.",
    },
    constants="ignore_index reduction",
)
loss(
    "CrossEntropyLoss(weight, size_average, ignore_index, reduce, reduction, "
    "label_smoothing: float = 0.0)",
    "cross_entropy",
    "The cross entropy between logits and target classes or class probabilities.",
    """\
>>> loss = torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([1]))
>>> round(loss.item(), 4)
0.6931""",
    base="_WeightedLoss",
    texts={
        "weight": "One weight per class.",
        "reduction": EXAMPLES,
        "label_smoothing": "How much of each target is spread evenly over the classes.",
    },
    function_texts={
        "input": "Logits of shape ``(C,)``, ``(N, C)`` or ``(N, C, d1, ...)``.",
        "target": (
            "Classes of shape ``()``, ``(N,)`` or ``(N, d1, ...)``, "
            "or probabilities like ``input``."
        ),
    },
    constants="ignore_index reduction label_smoothing",
)
