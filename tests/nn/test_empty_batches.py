"""Every function of nn.functional with a batch of no examples, beside a batch of two."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as torch
from autograd_cy.nn import functional as F

# Of what is deprecated, and of means that are none.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# What a call needs, by name; B is the size of the batch. A function that maps elements is called
# with `x`, what is not here. A loss has the reductions as well.
X = "rand(B, 3)"
PLANES = {1: "rand(B, 2, 8)", 2: "rand(B, 2, 8, 8)", 3: "rand(B, 2, 8, 8, 8)"}
KERNELS = {1: "rand(4, 2, 3)", 2: "rand(4, 2, 3, 3)", 3: "rand(4, 2, 3, 3, 3)"}
TRANSPOSED = {1: "rand(2, 4, 3)", 2: "rand(2, 4, 3, 3)", 3: "rand(2, 4, 3, 3, 3)"}
HEADS = "2, 1, rand(6, 2), rand(6), None, None, False, 0.0, rand(2, 2), rand(2)"

CALLS = {
    "batch_norm": ["rand(B, 3), rand(3), rand(3)", "rand(B, 3, 4, 4), rand(3), rand(3), rand(3)"],
    "bilinear": ["rand(B, 2), rand(B, 3), rand(4, 2, 3), rand(4)"],
    "binary_cross_entropy": [f"{X}, {X}, reduction=R", f"{X}, {X}, ones(B, 3), reduction=R"],
    "binary_cross_entropy_with_logits": [
        f"{X}, {X}, reduction=R",
        f"{X}, {X}, ones(3), reduction=R",
    ],
    "channel_shuffle": ["rand(B, 4, 3, 3), 2"],
    "cosine_embedding_loss": [f"{X}, {X}, ones(B), reduction=R"],
    "cosine_similarity": [f"{X}, {X}"],
    "cross_entropy": [
        f"{X}, whole(B), reduction=R",
        f"{X}, {X}, reduction=R",
        f"{X}, whole(B), ones(3), label_smoothing=0.1, reduction=R",
        "rand(B, 3, 4), whole(B, 4), reduction=R",
    ],
    "embedding": ["whole(B, 2), rand(3, 4)"],
    "embedding_bag": ["whole(B, 2), rand(3, 4)", "whole(B, 2), rand(3, 4), mode='max'"],
    "fold": ["rand(B, 8, 9), (4, 4), 2"],
    "gaussian_nll_loss": [f"{X}, {X}, {X}, reduction=R"],
    "glu": ["rand(B, 4)"],
    "grid_sample": [
        f"rand(B, 2, {sizes}), rand(B, {points}), {mode!r}, {padding!r}, False"
        for sizes, points, modes in (
            ("4, 4", "3, 3, 2", ("bilinear", "nearest", "bicubic")),
            ("4, 4, 4", "3, 3, 3, 3", ("bilinear", "nearest")),
        )
        for mode in modes
        for padding in ("zeros", "border", "reflection")
    ],
    "group_norm": ["rand(B, 4, 3), 2, rand(4), rand(4)"],
    "gumbel_softmax": [f"{X}", f"{X}, hard=True"],
    "hinge_embedding_loss": [f"{X}, ones(B, 3), reduction=R"],
    "huber_loss": [f"{X}, {X}, reduction=R"],
    "instance_norm": ["rand(B, 3, 4), rand(3), rand(3)", "rand(B, 3, 4)"],
    "interpolate": [
        *(f"{PLANES[rank]}, scale_factor=2" for rank in PLANES),
        *(f"{PLANES[2]}, (5, 5), mode={mode!r}" for mode in ("bilinear", "bicubic", "area")),
        f"{PLANES[2]}, (5, 5), mode='bilinear', antialias=True",
    ],
    "kl_div": [f"{X}, {X}, reduction=R"],
    "l1_loss": [f"{X}, {X}, reduction=R"],
    "layer_norm": ["rand(B, 3, 4), (4,), rand(4), rand(4)"],
    "linear": ["rand(B, 2, 3), rand(4, 3), rand(4)"],
    "local_response_norm": ["rand(B, 4, 3), 2"],
    "margin_ranking_loss": ["rand(B), rand(B), ones(B), reduction=R"],
    "mse_loss": [f"{X}, {X}, reduction=R"],
    "multi_head_attention_forward": [
        f"rand(5, B, 2), rand(4, B, 2), rand(4, B, 2), {HEADS}",
        f"rand(5, B, 2), rand(4, B, 2), rand(4, B, 2), {HEADS}, key_padding_mask=ones(B, 4) == 0",
        f"rand(5, B, 2), rand(4, B, 2), rand(4, B, 2), {HEADS}, need_weights=False",
    ],
    "multi_margin_loss": [f"{X}, whole(B), reduction=R"],
    "multilabel_margin_loss": [f"{X}, whole(B, 3), reduction=R"],
    "multilabel_soft_margin_loss": [f"{X}, ones(B, 3), reduction=R"],
    "nll_loss": [f"{X}, whole(B), reduction=R", "rand(B, 3, 4), whole(B, 4), ones(3), reduction=R"],
    "normalize": [X],
    "one_hot": ["whole(B), 3"],
    "pad": [
        f"rand(B, 2, 4), (1, 2), {mode!r}"
        for mode in ("constant", "reflect", "replicate", "circular")
    ],
    "pairwise_distance": [f"{X}, {X}"],
    "pixel_shuffle": ["rand(B, 4, 3, 3), 2"],
    "pixel_unshuffle": ["rand(B, 1, 4, 4), 2"],
    "poisson_nll_loss": [f"{X}, {X}, reduction=R", f"{X}, {X}, full=True, reduction=R"],
    "prelu": ["rand(B, 3), rand(3)"],
    "rms_norm": ["rand(B, 3, 4), (4,), rand(4)"],
    "scaled_dot_product_attention": ["rand(B, 2, 5, 4), rand(B, 2, 3, 4), rand(B, 2, 3, 4)"],
    "smooth_l1_loss": [f"{X}, {X}, reduction=R"],
    "soft_margin_loss": [f"{X}, ones(B, 3), reduction=R"],
    "softmax": [f"{X}, 1"],
    "softmin": [f"{X}, 1"],
    "log_softmax": [f"{X}, 1"],
    "threshold": [f"{X}, 0.5, 0.0"],
    "threshold_": [f"{X}, 0.5, 0.0"],
    "triplet_margin_loss": [
        f"{X}, {X}, {X}, reduction=R",
        f"{X}, {X}, {X}, swap=True, reduction=R",
    ],
    "triplet_margin_with_distance_loss": [f"{X}, {X}, {X}, reduction=R"],
    "unfold": ["rand(B, 2, 4, 4), 2"],
    "upsample": [f"{PLANES[2]}, scale_factor=2"],
    "upsample_bilinear": [f"{PLANES[2]}, scale_factor=2"],
    "upsample_nearest": [f"{PLANES[2]}, scale_factor=2"],
}
for rank, planes in PLANES.items():
    places = planes.replace("rand", "whole").replace("8", "4")
    some = planes.replace("8", "4")
    CALLS |= {
        f"adaptive_avg_pool{rank}d": [f"{planes}, 3"],
        f"adaptive_max_pool{rank}d": [f"{planes}, 3"],
        f"adaptive_max_pool{rank}d_with_indices": [f"{planes}, 3"],
        f"avg_pool{rank}d": [f"{planes}, 2"],
        f"conv{rank}d": [
            f"{planes}, {KERNELS[rank]}, rand(4)",
            f"{planes}, {KERNELS[rank]}, padding=1",
        ],
        f"conv_transpose{rank}d": [f"{planes}, {TRANSPOSED[rank]}, rand(4), stride=2"],
        f"dropout{rank}d": [planes],
        f"lp_pool{rank}d": [f"{planes}, 2, 2"],
        f"max_pool{rank}d": [f"{planes}, 2"],
        f"max_pool{rank}d_with_indices": [f"{planes}, 2"],
        f"max_unpool{rank}d": [f"{some}, {places}, 2"],
    }
CALLS["dropout3d"] = [PLANES[3]]
CALLS["feature_alpha_dropout"] = [PLANES[2]]
# Distances of one matrix have no batch; the others refuse to have no examples, as in torch.
NO_BATCH = {"affine_grid", "ctc_loss", "pdist"}


def call(library, name, arguments, count, reduction):
    """The results, and behind them the gradients of what is real."""
    leaves = []

    def rand(*shape):
        leaves.append(library.rand(*shape, dtype=library.float64).requires_grad_())
        return leaves[-1]

    given = {
        "rand": rand,
        "ones": lambda *shape: library.ones(*shape, dtype=library.float64),
        "whole": lambda *shape: library.zeros(*shape, dtype=library.int64),
        "B": count,
        "R": reduction,
    }
    args, options = eval(f"(lambda *a, **k: (a, k))({arguments})", given)
    if name.endswith("_"):
        args = (args[0] * 1, *args[1:])  # a leaf may not be changed
    if name in ("batch_norm", "instance_norm"):  # statistics are updated
        args = tuple(x.detach() if i in (1, 2) else x for i, x in enumerate(args))
        leaves = [x for x in args if x.requires_grad]
    results = getattr(library.nn.functional, name)(*args, **options)
    results = results if isinstance(results, tuple) else (results,)
    real = [x.sum() for x in results if x is not None and x.requires_grad]
    if real:
        options = {"allow_unused": True, "materialize_grads": True}
        results += tuple(library.autograd.grad(sum(real), leaves, **options))
    results = [x for x in results if x is not None]
    return [x.detach() for x in results]


CASES = [
    pytest.param(name, arguments, reduction, id=f"{name}-{arguments}-{reduction}")
    for name in sorted(set(F.__all__) - NO_BATCH)
    for arguments in CALLS.get(name, [X])
    for reduction in (("none", "mean", "sum") if "reduction=R" in arguments else ("",))
]


@each("name, arguments, reduction", CASES)
def test_sizes_follow_those_of_batches_with_examples(name, arguments, reduction):
    none, two, three = (
        [tuple(x.shape) for x in call(torch, name, arguments, count, reduction)]
        for count in (0, 2, 3)
    )
    assert none == [
        tuple(m - 2 * (n - m) for m, n in zip(some, more, strict=True))
        for some, more in zip(two, three, strict=True)
    ]


@each("name, arguments, reduction", CASES)
def test_as_in_torch(name, arguments, reduction):
    theirs = pytest.importorskip("torch")
    if name in ("pixel_shuffle", "pixel_unshuffle"):
        pytest.skip("torch's gradient of no examples has the shape of the result")
    found, expected = (call(x, name, arguments, 0, reduction) for x in (torch, theirs))
    if name in ("multi_margin_loss", "multilabel_margin_loss") and reduction != "none":
        expected[0] = theirs.zeros(
            (), dtype=theirs.float64
        )  # torch leaves it to what the memory holds
    assert [(x.shape, x.numpy().dtype) for x in found] == [
        (tuple(x.shape), x.numpy().dtype) for x in expected
    ]
    for ours, other in zip(found, expected):
        np.testing.assert_array_equal(ours.numpy(), other.numpy())


def test_grids_without_channels_or_points():
    for image, grid, expected in (
        ((1, 0, 4, 4), (1, 3, 3, 2), (1, 0, 3, 3)),
        ((1, 2, 4, 4), (1, 0, 3, 2), (1, 2, 0, 3)),
        ((1, 0, 4, 4, 4), (1, 3, 3, 3, 3), (1, 0, 3, 3, 3)),
    ):
        x, at = torch.ones(image, requires_grad=True), torch.zeros(grid, requires_grad=True)
        result = F.grid_sample(x, at, align_corners=False)
        result.sum().backward()
        assert (result.shape, x.grad.shape, at.grad.shape) == (expected, image, grid)
        assert not at.grad.any()


def test_attention_over_no_keys_that_are_hidden():
    layer = torch.nn.MultiheadAttention(4, 2)
    keys, hidden = torch.ones(0, 2, 4), torch.ones(2, 0, dtype=torch.bool)
    result, weights = layer(torch.ones(5, 2, 4), keys, keys, key_padding_mask=hidden)
    assert (result.shape, weights.shape) == ((5, 2, 4), (2, 5, 0))
