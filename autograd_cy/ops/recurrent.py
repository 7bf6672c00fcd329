"""Recurrent networks: one step of a cell, and whole sequences."""

from autograd_cy.ops._schema import (
    arg,
    box,
    by_test,
    call,
    composite,
    error,
    nondiff,
    op,
    refuse,
    sample,
)

LOADED = "at first use"


SMALL = box(-0.4, 0.4)  # away from the poles of tanh and sigmoid
HERE = "tests/ops/test_recurrent.py::"

# --- cells -------------------------------------------------------------------------------------

CELL = {
    "input": "Of shape ``(batch, input_size)``.",
    "hx": "The state before the step, of shape ``(batch, hidden_size)``.",
    "w_ih": "Weights of the input, the gates one below the other.",
    "w_hh": "Weights of the state.",
    "b_ih": "What is added to the input's part.",
    "b_hh": "What is added to the state's part.",
}

PRODUCTS = "2 * elements(input[:len(input) - 1]) * (elements(w_ih) + elements(w_hh))"


def _cells(gates):
    """One call with biases, one without, one with an empty batch."""
    return [
        sample(
            (
                arg((2, 4)),
                arg((2, 3)),
                arg((gates * 3, 4)),
                arg((gates * 3, 3)),
                arg((gates * 3,)),
                arg((gates * 3,)),
            )
        ),
        sample((arg((3, 2)), arg((3, 1)), arg((gates, 2)), arg((gates, 1)))),
        sample(
            (
                arg((0, 2)),
                arg((0, 3)),
                arg((gates * 3, 2)),
                arg((gates * 3, 3)),
                arg((gates * 3,)),
                arg((gates * 3,)),
            )
        ),
    ]


def _wrong(gates):
    return (
        error(
            sample((arg((2, 5)), arg((2, 3)), arg((gates * 3, 4)), arg((gates * 3, 3)))),
            RuntimeError,
            "input has inconsistent input_size",
        ),
        error(
            sample((arg((2, 4)), arg((1, 3)), arg((gates * 3, 4)), arg((gates * 3, 3)))),
            RuntimeError,
            "batch size 2 doesn't match hidden0",
        ),
        error(
            sample((arg((2, 4)), arg((2, 3)), arg((gates * 3 + 1, 4)), arg((gates * 3, 3)))),
            RuntimeError,
            "weight_ih first dim",
        ),
    )


for _name, _formula in (("tanh", "tanh(W x + b + U h + c)"), ("relu", "relu(W x + b + U h + c)")):
    op(
        f"rnn_{_name}_cell(input, hx, w_ih, w_hh, b_ih: Tensor? = None, b_hh: Tensor? = None)",
        method=False,
        flops=PRODUCTS,
        kernel=composite(f"recurrent.rnn_{_name}_cell"),
        autocast="lower",
        samples=_cells(1),
        dtypes="hfc" if _name == "tanh" else "ihf",
        complex_domain=SMALL,
        tolerance=1e-4,
        reference=(
            f"(np.tanh if '{_name}' == 'tanh' else lambda x: np.maximum(x, 0))(input @ w_ih.T "
            "+ hx @ w_hh.T + (0 if b_ih is None else b_ih + b_hh))"
        ),
        errors=_wrong(1),
        doc=f"The next state of an Elman network, ``{_formula}``.",
        params=CELL,
        example=(
            ">>> x, h, w = ag.tensor([[1.0]]), ag.tensor([[2.0]]), ag.tensor([[0.5]])\n"
            f">>> ag.rnn_{_name}_cell(x, h, w, w)\n"
            f"tensor([[{'0.9051' if _name == 'tanh' else '1.5000'}]])"
        ),
    )

op(
    "gru_cell(input, hx, w_ih, w_hh, b_ih: Tensor? = None, b_hh: Tensor? = None)",
    method=False,
    flops=PRODUCTS,
    kernel=composite("recurrent.gru_cell"),
    autocast="widest",
    samples=_cells(3),
    dtypes="hfc",
    complex_domain=SMALL,
    reference=by_test(HERE + "test_cells_are_their_formulas"),
    tolerance=1e-4,
    errors=_wrong(3),
    doc=(
        "The next state of a gated recurrent unit. The gates are stacked as reset, update, new: "
        "``r = sigmoid(W_r x + U_r h)``,\n"
        "``z = sigmoid(W_z x + U_z h)``, ``n = tanh(W_n x + r (U_n h))``, and the state ``(1 - z) "
        "n + z h``; biases with each product.\n"
        'K. Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014), with '
        "the reset gate after the product."
    ),
    params=CELL,
    example=(
        ">>> x, h, w = ag.tensor([[1.0]]), ag.tensor([[2.0]]), ag.tensor([[0.5]] * 3)\n"
        ">>> ag.gru_cell(x, h, w, w)\n"
        "tensor([[1.7932]])"
    ),
)

op(
    "lstm_cell(input, hx: Tensor[], w_ih, w_hh, b_ih: Tensor? = None, b_hh: Tensor? = None) "
    "-> (hy, cy)",
    method=False,
    named=False,
    flops=PRODUCTS,
    autocast="widest",
    kernel=composite("recurrent.lstm_cell"),
    dtypes="hfc",
    complex_domain=SMALL,
    reference=by_test(HERE + "test_cells_are_their_formulas"),
    tolerance=1e-4,
    samples=[
        sample(
            (
                arg((2, 4)),
                (arg((2, 3)), arg((2, 3))),
                arg((12, 4)),
                arg((12, 3)),
                arg((12,)),
                arg((12,)),
            )
        ),
        sample((arg((3, 2)), (arg((3, 1)), arg((3, 1))), arg((4, 2)), arg((4, 1)))),
    ],
    errors=(
        error(
            sample((arg((2, 4)), (arg((2, 3)),), arg((12, 4)), arg((12, 3)))),
            RuntimeError,
            "lstm_cell expects two hidden states",
        ),
        error(
            sample((arg((2, 4)), (arg((2, 3)), arg((2, 2))), arg((12, 4)), arg((12, 3)))),
            RuntimeError,
            "hidden1 has inconsistent hidden_size",
        ),
    ),
    doc=(
        "The next states ``(h, c)`` of a long short-term memory. The gates are stacked as input, "
        "forget, cell, output:\n``c' = sigmoid(f) c + sigmoid(i) tanh(g)`` and ``h = sigmoid(o) "
        "tanh(c')``, where each of i, f, g, o is ``W x + U h`` and biases.\n"
        'S. Hochreiter, J. Schmidhuber, "Long short-term memory" (1997); F. Gers et al. (2000) '
        "for the forget gate."
    ),
    params={
        **CELL,
        "hx": "The two states before the step, ``(h, c)``, each of shape ``(batch, hidden_size)``.",
    },
    example=(
        ">>> x, h, w = ag.tensor([[1.0]]), ag.tensor([[0.0]]), ag.tensor([[0.5]] * 4)\n"
        ">>> ag.lstm_cell(x, (h, h), w, w)\n"
        "(tensor([[0.1743]]), tensor([[0.2876]]))"
    ),
)

# --- sequences ---------------------------------------------------------------------------------

LAYERS = {
    "input": (
        "Of shape ``(steps, batch, input_size)``, or with the first two exchanged (`batch_first`)."
    ),
    "data": "Packed rows of all sequences, of shape ``(rows, input_size)``.",
    "batch_sizes": "How many rows each step has; never more than the step before.",
    "hx": (
        "The states before the first step, of shape ``(num_layers * directions, batch, "
        "hidden_size)``."
    ),
    "params": (
        "For each layer and direction the weights of input and state, then their biases if there "
        "are, then the weight of the projection if there is one."
    ),
    "has_biases": "Whether there are biases.",
    "num_layers": "Layers on top of each other.",
    "dropout": "The chance to drop an output between layers.",
    "train": "Whether outputs are dropped.",
    "bidirectional": "Whether there is a second direction, from the last step to the first.",
    "batch_first": "Whether input and output have the batch as first dimension.",
}
REST = "has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool"


def _params(gates, sizes, hidden, biases=True):
    params = []
    for size in sizes:
        params += [
            arg((gates * hidden, size)),
            arg((gates * hidden, hidden)),
            *[arg((gates * hidden,))] * (2 * biases),
        ]
    return tuple(params)


for _name, _gates, _about in (
    ("rnn_tanh", 1, "An Elman network with tanh"),
    ("rnn_relu", 1, "An Elman network with relu"),
    ("gru", 3, "Gated recurrent units"),
    ("lstm", 4, "A long short-term memory"),
):
    _two = _name == "lstm"
    _hx, _outs = ("hx: Tensor[]", "(output, hy, cy)") if _two else ("hx", "(output, hy)")

    def _h(shape, two=_two):
        return (arg(shape), arg(shape)) if two else arg(shape)

    def _sample(shape, state, params, rest=(True, 1, 0.0, False, False, False), h=_h):
        return sample((arg(shape), h(state), params, *rest))

    op(
        f"{_name}(input, {_hx}, params: Tensor[], {REST}, batch_first: bool) -> {_outs}",
        method=False,
        named=False,
        kernel=composite(f"recurrent.{_name}"),
        autocast="widest" if _name == "gru" else "lower",
        samples=[
            _sample((3, 2, 2), (1, 2, 2), _params(_gates, (2,), 2)),
            _sample(
                (2, 3, 2),
                (4, 2, 2),
                _params(_gates, (2, 2, 4, 4), 2, False),
                (False, 2, 0.0, True, True, True),
            ),
            _sample((2, 0, 2), (1, 0, 2), _params(_gates, (2,), 2)),
        ],
        dtypes="hf" if _name == "rnn_relu" else "hfc",
        complex_domain=SMALL,
        tolerance=1e-4,
        reference=by_test(HERE + "test_sequences_are_loops_over_cells"),
        errors=(
            error(
                _sample((0, 2, 2), (1, 2, 2), _params(_gates, (2,), 2)),
                RuntimeError,
                "sequence length",
            ),
            error(
                _sample((3, 2, 2), (1, 2, 2), _params(_gates, (2,), 2)[:3]),
                RuntimeError,
                "expected 4 parameters",
            ),
            error(
                _sample((3, 2, 3), (1, 2, 2), _params(_gates, (2,), 2)), RuntimeError, "input.size"
            ),
            error(
                _sample((3, 2, 2), (1, 1, 2), _params(_gates, (2,), 2)),
                RuntimeError,
                "hidden states of shape",
            ),
        ),
        doc=(
            f"{_about}, over all steps of sequences: the last layer's states of all steps, and "
            f"the last state{'s (h, c)' if _two else ''} of each layer.\n"
            f"See {_name}_cell for a step, and ``nn.{_name.split('_')[0].upper()}``."
        ),
        params={
            **{k: v for k, v in LAYERS.items() if k not in ("data", "batch_sizes")},
            **(
                {
                    "hx": (
                        "The states ``(h, c)`` before the first step, each of shape ``(num_layers "
                        "* directions, batch, size)``."
                    )
                }
                if _two
                else {}
            ),
        },
        example=(
            f">>> x, h, w = ag.zeros(5, 1, 2), ag.zeros(1, 1, 3), [ag.zeros({3 * _gates}, 2), "
            f"ag.zeros({3 * _gates}, 3)]\n"
            f">>> [list(t.shape) for t in ag.{_name}(x, {'(h, h)' if _two else 'h'}, w, False, 1, "
            "0.0, False, False, False)]\n"
            f"[[5, 1, 3], [1, 1, 3]{', [1, 1, 3]' if _two else ''}]"
        ),
    )

    op(
        f"{_name}.data(data, batch_sizes, {_hx}, params: Tensor[], {REST}) -> {_outs}",
        named=False,
        kernel=composite(f"recurrent.{_name}_data"),
        method=False,
        autocast="widest" if _name == "gru" else "lower",
        when=(
            "'batch_sizes' in kwargs or 'data' in kwargs or (len(args) > 1 "
            "and isinstance(args[1], Tensor))"
        )
        if _two
        else (
            "'batch_sizes' in kwargs or 'data' in kwargs or (len(args) > 2 "
            "and isinstance(args[2], Tensor))"
        ),
        samples=[],
        dtypes="hf" if _name == "rnn_relu" else "hfc",
        reference=by_test(HERE + "test_packed_sequences_are_sequences_alone"),
        doc="Over packed sequences.",
        params={k: v for k, v in LAYERS.items() if k not in ("input", "batch_first")},
    )

# --- a layer in one direction, or a cell, as one operator ----------------------------------------

# `mode` is the kind of cell, and R_REVERSE for the other direction
# (autograd_cy/_C/rules_recurrent.pxd).
# What is not as usual (vmap, tangents, other dtypes, devices without this kernel) never comes here:
# see ext/composites/recurrent_composites.pyx.
# Products with a weight: one in each step; in backward that of its gradient, and one on the way to
# the input or the state.
FORWARD = (
    "2 * elements(input[:len(input) - 1]) * (elements(weight_ih) + elements(weight_hh) "
    "+ (elements(weight_hr) if weight_hr else 0))"
)
BACKWARD = (
    "2 * elements(input[:len(input) - 1]) * (elements(weight_ih) * ((wanted & 1) + (wanted >> 3 "
    "& 1)) + elements(weight_hh) * (1 + (wanted >> 4 & 1)) + (elements(weight_hr) "
    "* (1 + (wanted >> 7 & 1)) if weight_hr else 0))"
)
PLAIN = refuse("recurrent layers are made of plain operators under vmap")
MOVING = ("input", "hx", "cx", "weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")

op(
    "_recurrent(input, hx, cx: Tensor?, weight_ih, weight_hh, bias_ih: Tensor?, bias_hh: Tensor?, "
    "weight_hr: Tensor?, batch_sizes: Tensor?, mode: int) -> (output, hy, cy, gates)",
    named=False,
    out=False,
    flops=FORWARD,
    nondiff_outputs=("gates",),
    kernel=call(
        "recurrent.layer",
        on_host=("batch_sizes",),
        shape="rules_recurrent.layer(input, hx, cx, weight_hh, batch_sizes, mode)",
    ),
    vjp={
        MOVING: (
            "_recurrent_gradients(given_output, given_hy, given_cy, input, hx, cx, weight_ih, "
            "weight_hh, bias_ih, bias_hh, weight_hr, batch_sizes, output, gates, mode, needed)"
        )
    },
    jvp={
        _out: {_name: f"_recurrent_tangent({_name}_t)" for _name in MOVING}
        for _out in ("output", "hy", "cy")
    },
    vmap=PLAIN,
    dtypes="f",
    doc=(
        "All steps of a layer in one direction, or one step: states of all steps, the last ones, "
        "and what backward needs."
    ),
)

op(
    "_recurrent_tangent(self)",
    kernel=composite("recurrent.no_tangent"),
    doc="An error: tangents go through plain operators.",
)

op(
    "_recurrent_gradients(grad_output: Tensor?, grad_hy: Tensor?, grad_cy: Tensor?, input, hx, "
    "cx: Tensor?, weight_ih, weight_hh, bias_ih: Tensor?, bias_hh: Tensor?, weight_hr: Tensor?, "
    "batch_sizes: Tensor?, output, gates, mode: int, needed: object) -> Tensor[]",
    kernel=composite("recurrent.gradients"),
    doc="Gradients of a layer, by one operator or by plain ones, which are differentiable again.",
)

op(
    "_recurrent_backward(grad_output: Tensor?, grad_hy: Tensor?, grad_cy: Tensor?, input, hx, "
    "cx: Tensor?, weight_ih, weight_hh, weight_hr: Tensor?, batch_sizes: Tensor?, output, gates, "
    "mode: int, wanted: int) -> (grad_input, grad_hx, grad_cx, grad_weight_ih, grad_weight_hh, "
    "grad_bias_ih, grad_bias_hh, grad_weight_hr)",
    named=False,
    out=False,
    flops=BACKWARD,
    kernel=call(
        "recurrent.layer_backward",
        on_host=("batch_sizes",),
        shape=(
            "rules_recurrent.layer_backward(input, hx, cx, weight_ih, weight_hh, weight_hr, wanted)"
        ),
    ),
    vjp=nondiff("gradients that are differentiated again are made of plain operators"),
    vmap=PLAIN,
    dtypes="f",
    doc="Backward through time.",
)
