"""The loss of sequences without an alignment; without a number for `reduction` there is none."""

from autograd_cy.ops._schema import arg, by_test, composite, error, op, sample

op(
    "ctc_loss(log_probs, targets, input_lengths: int | ints | Tensor, target_lengths: int | ints "
    "| Tensor, blank: int = 0, reduction: int = 0, zero_infinity: bool = False)",
    functional=(
        "ctc_loss(log_probs, targets, input_lengths: Tensor | Sequence[int], "
        "target_lengths: Tensor | Sequence[int], blank, reduction, zero_infinity)"
    ),
    autocast="float32",
    tier="interpreted",
    method=False,
    kernel=composite("sequence_loss.ctc_loss"),
    dtypes="f",
    reference=by_test("tests/nn/test_ctc_loss.py::test_all_alignments"),
    errors=(
        error(
            sample((arg((5, 2, 4)), arg((2, 2)), (5,), (2, 2))),
            RuntimeError,
            "input_lengths must be of size batch_size",
        ),
        error(sample((arg((5, 2, 4)), arg((2, 2)), (5, 6), (2, 2))), RuntimeError, "at most 5"),
        error(
            sample((arg((5, 2, 4)), arg((2, 2)), (5, 5), (2, 2), 4)),
            RuntimeError,
            "blank must be in label range",
        ),
    ),
    params={
        "log_probs": "Logarithms of probabilities: time, batch, classes; or time, classes.",
        "targets": "Classes: one row for each example, or all one after the other.",
        "input_lengths": "How many times there are.",
        "target_lengths": "How many classes there are.",
        "blank": "The class that stands for none.",
        "reduction": (
            "0 for the losses themselves, 1 for the mean of losses for each class, 2 for their sum."
        ),
        "zero_infinity": "Whether the loss of what can't be is 0, not infinity.",
    },
    doc="Negative log-likelihood of classes in their order, at any times [1]_.\n\n"
    ".. [1] Graves, Fernandez, Gomez, Schmidhuber, Connectionist temporal classification, 2006.",
    example=(
        ">>> x = ag.full((2, 1, 2), 0.5).log()\n"
        ">>> ag.ctc_loss(x, ag.tensor([[1]]), (2,), (1,))\n"
        "tensor([0.2877])"
    ),
)
