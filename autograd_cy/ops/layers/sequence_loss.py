"""The loss of sequences without an alignment."""

from autograd_cy.ops.layers._losses import loss

IMPORTS = """\
from collections.abc import Sequence

from autograd_cy.nn.loss import _Loss
"""

loss(
    "CTCLoss(blank: int = 0, reduction, zero_infinity: bool = False)",
    "ctc_loss",
    "The negative log likelihood of classes in their order, at any times.",
    """\
>>> x = torch.full((2, 1, 2), 0.5).log()
>>> torch.nn.CTCLoss()(x, torch.tensor([[1]]), (2,), (1,))
tensor(0.2877)""",
    texts={
        "blank": "The class that stands for none.",
        "reduction": (
            "What becomes of the losses; for a mean each is divided by the number of its classes."
        ),
        "zero_infinity": "Whether the loss of what can't be is 0, not infinity.",
    },
    function_doc="""Return the negative log likelihood of classes in their order, at any times.

(Graves, Fernandez, Gomez and Schmidhuber, Connectionist temporal classification, 2006.) The
gradient is that of the loss with respect to ``log_probs``; PyTorch's differs by what
``log_softmax`` takes out of it again.""",
    function_texts={
        "log_probs": "Logarithms of probabilities, of shape ``(T, N, C)`` or ``(T, C)``.",
        "targets": "Classes of shape ``(N, S)``, or all one after the other.",
        "input_lengths target_lengths": "How many times and how many classes each example has.",
    },
    kinds={
        "input_lengths": "Tensor or sequence of int",
        "target_lengths": "Tensor or sequence of int",
    },
    inputs="log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int], "
    "target_lengths: Tensor | Sequence[int]",
    constants="blank reduction",
)
