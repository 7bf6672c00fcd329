"""nn.MultiheadAttention and transformers, by hand and beside torch."""

import warnings

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import nn

RNG = np.random.default_rng(0)


def seeded_torch():
    """Return PyTorch, whose modules get the same weights in every run."""
    other = pytest.importorskip("torch")
    other.manual_seed(0)
    return other


def copied(ours, theirs):
    """Give our module the parameters of theirs."""
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({k: torch.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    return ours.train(theirs.training)


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def same(a, b, close=1e-5):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=close, atol=close)


def beside(other, ours, theirs, arrays, kwargs):
    """Call both, compare results and all gradients."""
    found = []
    for library, module in ((torch, ours), (other, theirs)):
        module.zero_grad()
        inputs = [library.tensor(x, requires_grad=True) for x in arrays]
        given = {
            k: library.tensor(x) if isinstance(x, np.ndarray) else x for k, x in kwargs.items()
        }
        results = quietly(lambda m=module, i=inputs, g=given: m(*i, **g))
        results = results if isinstance(results, tuple) else (results,)
        results = [r for r in results if r is not None]
        sum((r * r.detach().cos()).sum() for r in results).backward()
        found.append([*results, *(x.grad for x in inputs), *(p.grad for p in module.parameters())])
    assert len(found[0]) == len(found[1])
    for a, b in zip(*found, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            same(a, b)


def array(*shape):
    return RNG.normal(size=shape).astype("float32")


ATTENTIONS = [
    {},
    {"bias": False},
    {"batch_first": True},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True},
    {"kdim": 5, "vdim": 7},
    {"kdim": 5, "vdim": 7, "bias": False, "add_bias_kv": True, "batch_first": True},
]


def masks(length, columns, batch, heads):
    seen = RNG.random((length, columns)) < 0.3
    seen[:, 0] = False
    padding = np.zeros((batch, columns), bool)
    padding[0, columns // 2 :] = True
    yield {}
    yield {"need_weights": False}
    yield {"attn_mask": seen, "need_weights": False}
    yield {"attn_mask": seen, "key_padding_mask": padding}
    yield {"key_padding_mask": padding, "need_weights": False, "average_attn_weights": False}
    yield {"attn_mask": array(length, columns), "average_attn_weights": False}
    yield {"attn_mask": array(batch * heads, length, columns), "need_weights": False}
    yield {"attn_mask": array(length, columns), "key_padding_mask": padding}


@pytest.mark.parametrize("options", ATTENTIONS, ids=lambda o: "-".join(o) or "plain")
def test_attention_is_that_of_torch(options):
    other = seeded_torch()
    theirs = other.nn.MultiheadAttention(6, 2, **options)
    with other.no_grad():
        for parameter in theirs.parameters():  # biases begin with zeros
            parameter.copy_(other.tensor(array(*parameter.shape)) * 0.3)
    ours = copied(nn.MultiheadAttention(6, 2, **options), theirs)
    shape = (3, 4) if options.get("batch_first") else (4, 3)
    key = (3, 5) if options.get("batch_first") else (5, 3)
    arrays = [
        array(*shape, 6),
        array(*key, options.get("kdim", 6)),
        array(*key, options.get("vdim", 6)),
    ]
    for kwargs in masks(4, 5, 3, 2):
        beside(other, ours, theirs, arrays, kwargs)
    flat = [array(4, 6), array(5, arrays[1].shape[-1]), array(5, arrays[2].shape[-1])]
    beside(other, ours, theirs, flat, {})
    beside(other, ours, theirs, flat, {"attn_mask": array(2, 4, 5), "need_weights": False})


@pytest.mark.parametrize("batch_first", [False, True])
def test_one_tensor_as_query_key_and_value(batch_first):
    other = seeded_torch()
    theirs = other.nn.MultiheadAttention(6, 3, batch_first=batch_first)
    ours = copied(nn.MultiheadAttention(6, 3, batch_first=batch_first), theirs)
    x = array(4, 4, 6)
    hidden = np.triu(np.ones((4, 4), bool), 1)
    for kwargs in (
        {},
        {"need_weights": False},
        {"attn_mask": hidden, "is_causal": True, "need_weights": False},
        {"attn_mask": hidden, "is_causal": True},
    ):
        found = []
        for library, module in ((torch, ours), (other, theirs)):
            module.zero_grad()
            t = library.tensor(x, requires_grad=True)
            memory = t * 0.5
            given = {
                k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()
            }
            y = module(t, t, t, **given)[0] + module(t, memory, memory, **given)[0]
            (y**2).sum().backward()
            found.append([y, t.grad, *(p.grad for p in module.parameters())])
        for a, b in zip(*found, strict=True):
            same(a, b)


def test_beginning_is_that_of_torch():
    layer = nn.MultiheadAttention(40, 4, add_bias_kv=True)
    bound = (6 / (40 + 120)) ** 0.5
    weight = layer.in_proj_weight.detach().numpy()
    assert abs(weight).max() <= bound and weight.std() > bound / 2
    assert (
        float(layer.in_proj_bias.detach().abs().sum() + layer.out_proj.bias.detach().abs().sum())
        == 0
    )
    assert float(layer.bias_k.detach().abs().sum()) > 0


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda t: t.nn.MultiheadAttention(5, 2), AssertionError, "divisible by num_heads"),
        (lambda t: t.nn.MultiheadAttention(0, 2), ValueError, "greater than 0"),
        (lambda t: m(t, t.ones(1, 3, 2, 4)), AssertionError, "received 4-D query tensor"),
        (lambda t: m(t, t.ones(3, 2, 5)), AssertionError, "embedding dimension of 4, but got 5"),
        (lambda t: m(t, is_causal=True), RuntimeError, "Need attn_mask"),
        (lambda t: m(t, attn_mask=t.zeros(2, 2)), RuntimeError, "2D attn_mask"),
        (lambda t: m(t, attn_mask=t.zeros(2, 3, 3)), RuntimeError, "3D attn_mask"),
        (lambda t: m(t, attn_mask=t.zeros(3)), AssertionError, "2-D or 3-D but found 1-D"),
        (lambda t: m(t, key_padding_mask=t.zeros(3, 3)), AssertionError, "key_padded_mask"),
        (lambda t: m(t, attn_mask=t.zeros(3, 3, dtype=t.int32)), AssertionError, "only bool and"),
        (lambda t: t.nn.TransformerEncoderLayer(4, 2, activation="x"), RuntimeError, "relu/gelu"),
        (lambda t: model(t)(t.ones(3, 2, 4), t.ones(3, 3, 4)), RuntimeError, "batch number"),
        (lambda t: model(t)(t.ones(3, 2, 4), t.ones(3, 2, 5)), RuntimeError, "feature number"),
    ],
)
def test_refusals_are_those_of_torch(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch)
    other = seeded_torch()
    with pytest.raises(kind, match=text):
        quietly(lambda: call(other))


def m(library, query=None, **kwargs):
    x = library.ones(3, 2, 4)
    query = x if query is None else query
    return library.nn.MultiheadAttention(4, 2)(query, query if query is x else x, x, **kwargs)


def model(library):
    return quietly(lambda: library.nn.Transformer(4, 2, 1, 1, 8))


LAYERS = [
    {},
    {"norm_first": True},
    {"batch_first": True, "activation": "gelu"},
    {"bias": False, "layer_norm_eps": 1e-3},
]


@pytest.mark.parametrize("options", LAYERS, ids=lambda o: "-".join(o) or "plain")
def test_layers_are_those_of_torch(options):
    other = seeded_torch()
    theirs = other.nn.TransformerEncoderLayer(8, 2, 12, 0.0, **options)
    ours = copied(nn.TransformerEncoderLayer(8, 2, 12, 0.0, **options), theirs)
    x = array(3, 4, 8) if options.get("batch_first") else array(4, 3, 8)
    hidden = np.triu(np.ones((4, 4), bool), 1)
    padding = np.zeros((3, 4), bool)
    padding[1, 2:] = True
    for kwargs in (
        {},
        {"src_mask": hidden, "is_causal": True},
        {"src_mask": hidden, "src_key_padding_mask": padding},
    ):
        beside(other, ours, theirs, [x], kwargs)
    theirs = other.nn.TransformerDecoderLayer(8, 2, 12, 0.0, **options)
    ours = copied(nn.TransformerDecoderLayer(8, 2, 12, 0.0, **options), theirs)
    memory = array(3, 5, 8) if options.get("batch_first") else array(5, 3, 8)
    padding = np.zeros((3, 5), bool)
    padding[1, 2:] = True
    for kwargs in ({}, {"tgt_mask": hidden, "memory_key_padding_mask": padding}):
        beside(other, ours, theirs, [x, memory], kwargs)


@pytest.mark.parametrize("options", LAYERS[:3], ids=lambda o: "-".join(o) or "plain")
def test_transformer_is_that_of_torch(options):
    other = seeded_torch()
    theirs = quietly(lambda: other.nn.Transformer(8, 2, 2, 2, 12, 0.0, **options))
    ours = copied(quietly(lambda: nn.Transformer(8, 2, 2, 2, 12, 0.0, **options)), theirs)
    source = array(3, 5, 8) if options.get("batch_first") else array(5, 3, 8)
    target = array(3, 4, 8) if options.get("batch_first") else array(4, 3, 8)
    mask = np.triu(np.full((4, 4), -np.inf, "float32"), 1)
    padding = np.zeros((3, 5), "float32")
    padding[2, 3:] = -np.inf
    beside(other, ours, theirs, [source, target], {"tgt_mask": mask})
    beside(
        other,
        ours,
        theirs,
        [source, target],
        {"src_key_padding_mask": padding, "memory_key_padding_mask": padding},
    )


def test_causal_masks_are_recognised():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0)
    encoder = nn.TransformerEncoder(layer, 2, nn.Identity(), enable_nested_tensor=False)
    x = torch.tensor(array(4, 3, 8))
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert mask.tolist()[1] == [0.0, 0.0, -float("inf"), -float("inf")]
    wanted = encoder(x, mask, is_causal=False)
    torch.testing.assert_close(encoder(x, mask), wanted)
    torch.testing.assert_close(encoder(x, mask, is_causal=True), wanted)
    changed = x.clone()
    changed[3] = 0
    torch.testing.assert_close(encoder(changed, mask)[:3], wanted[:3])


def seen_by_a_layer(m, mask, **given):
    """The masks that layers of an encoder, which a program may have made, get."""
    layer = m.nn.TransformerEncoderLayer(4, 2, batch_first=True)
    encoder, seen = m.nn.TransformerEncoder(layer, 1).train(), []

    def forward(src, src_mask=None, is_causal=None, src_key_padding_mask=None):
        seen.extend([is_causal, *(x and x[0] for x in map(kind, (src_mask, src_key_padding_mask)))])
        return src

    def kind(x):
        return None if x is None else (str(x.dtype).partition(".")[2], x.tolist())

    encoder.layers[0].forward = forward
    quietly(lambda: encoder(m.ones(1, 3, 4), mask=mask, **given))
    return seen


def masks_of_bools(m):
    causal = m.ones(3, 3).triu(1).bool()
    added = m.zeros(3, 3).masked_fill(causal, -float("inf"))
    hidden = m.tensor([[False, True, False]])
    return [
        seen_by_a_layer(m, causal),
        seen_by_a_layer(m, added),
        seen_by_a_layer(m, added.double()),
        seen_by_a_layer(m, ~causal),
        seen_by_a_layer(m, m.ones(4, 4).triu(1).bool()),
        seen_by_a_layer(m, causal, is_causal=False),
        seen_by_a_layer(m, causal, src_key_padding_mask=hidden),
        seen_by_a_layer(m, None, src_key_padding_mask=hidden),
    ]


SEEN = [
    [True, "float32", None],
    [True, "float32", None],
    [True, "float64", None],
    [False, "float32", None],
    [False, "float32", None],
    [False, "float32", None],
    [True, "float32", "float32"],
    [False, None, "float32"],
]


def test_layers_of_an_encoder_get_numbers_to_add_and_whether_a_mask_is_causal():
    assert masks_of_bools(torch) == SEEN


def test_layers_of_an_encoder_get_what_torch_gives_them():
    assert masks_of_bools(pytest.importorskip("torch")) == SEEN


def reasons(m):
    """Why encoders don't nest, in their warnings."""
    layer, found = m.nn.TransformerEncoderLayer, []
    for make in (
        lambda: layer(4, 2, batch_first=True),
        lambda: layer(4, 2),
        lambda: layer(4, 2, batch_first=True, norm_first=True),
        lambda: layer(3, 3, batch_first=True),
        lambda: layer(4, 2, batch_first=True, bias=False),
        lambda: layer(4, 2, batch_first=True, activation=m.nn.functional.silu),
        lambda: m.nn.Linear(1, 1),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m.nn.TransformerEncoder(make(), 1)
        found.append([str(w.message).partition("because ")[2] for w in caught])
    return found


def test_encoders_say_why_they_do_not_nest():
    found = reasons(torch)
    assert found[0] == [] and all(len(texts) == 1 for texts in found[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1, enable_nested_tensor=False)


def test_encoders_say_what_torch_says():
    assert reasons(torch) == reasons(pytest.importorskip("torch"))


def test_layers_are_copies_with_weights_of_their_own():
    layer = nn.TransformerEncoderLayer(8, 2, 12, activation=nn.GELU())
    encoder = quietly(lambda: nn.TransformerEncoder(layer, 2, mask_check=False))
    assert encoder.enable_nested_tensor and not encoder.use_nested_tensor
    assert not encoder.mask_check and encoder.num_layers == 2 and encoder.norm is None
    a, b = encoder.layers
    assert a.linear1.weight is not b.linear1.weight and torch.equal(
        a.linear1.weight, b.linear1.weight
    )
    assert a.activation is not b.activation


def test_dropout_is_for_training():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.5)
    x = torch.tensor(array(4, 3, 8))
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))


HIDDEN = {
    "at the end": ([[0] * 5, [0, 0, 0, 1, 1]], {}),
    "all shorter": ([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], {}),
    "with holes": ([[0, 1, 0, 0, 1], [0, 0, 0, 1, 1]], {}),
    "at the start": ([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], {}),
    "a whole row": ([[0] * 5, [1] * 5], {}),
    "as numbers": ([[0] * 5, [0, 0, 0, 1, 1]], {"numbers": True}),
    "in training": ([[0] * 5, [0, 0, 0, 1, 1]], {"training": True}),
    "with gradients": ([[0] * 5, [0, 0, 0, 1, 1]], {"grad": True}),
    "with a mask": ([[0] * 5, [0, 0, 0, 1, 1]], {"mask": True}),
    "not nested": ([[0] * 5, [0, 0, 0, 1, 1]], {"nested": False}),
    "places first": ([[0] * 5, [0, 0, 0, 1, 1]], {"batch_first": False}),
    "norm first": ([[0] * 5, [0, 0, 0, 1, 1]], {"norm_first": True}),
    "gelu": ([[0] * 5, [0, 0, 0, 1, 1]], {"activation": "gelu"}),
    "a module": ([[0] * 5, [0, 0, 0, 1, 1]], {"activation": "module"}),
    "one head": ([[0] * 5, [0, 0, 0, 1, 1]], {"heads": 1}),
    "no bias": ([[0] * 5, [0, 0, 0, 1, 1]], {"bias": False}),
    "a norm": ([[0] * 5, [0, 0, 0, 1, 1]], {"norm": True}),
}


def encoded(lib, rows, training=False, grad=False, mask=False, nested=True, numbers=False,
            norm=False, heads=2, **options):  # fmt: skip
    batch_first = options.pop("batch_first", True)
    if options.get("activation") == "module":
        options["activation"] = lib.nn.ReLU()
    layer = lib.nn.TransformerEncoderLayer(
        4, heads, 8, 0.0, batch_first=batch_first, dtype=lib.float64, **options
    )
    values = np.random.default_rng(2)
    last = lib.nn.LayerNorm(4, dtype=lib.float64) if norm else None
    encoder = quietly(
        lambda: lib.nn.TransformerEncoder(layer, 2, last, enable_nested_tensor=nested)
    )
    with lib.no_grad():
        for p in encoder.parameters():
            p.copy_(lib.from_numpy(values.normal(size=tuple(p.shape))))
    encoder.train(training)
    x = lib.from_numpy(values.normal(size=(2, 5, 4)))
    hidden = lib.tensor(rows).to(lib.bool)
    if numbers:
        hidden = lib.zeros(2, 5, dtype=lib.float64).masked_fill(hidden, -float("inf"))
    over = lib.zeros(5, 5, dtype=lib.bool) if mask else None
    with lib.set_grad_enabled(grad):
        y = encoder(x if batch_first else x.transpose(0, 1), over, hidden)
    return (y if batch_first else y.transpose(0, 1)).detach().numpy()


@pytest.mark.parametrize("which", HIDDEN)
def test_hidden_places_at_the_end_are_zero_where_torch_nests(which):
    lib = pytest.importorskip("torch")
    rows, options = HIDDEN[which]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = encoded(lib, rows, **options)
    np.testing.assert_allclose(encoded(torch, rows, **options), expected, rtol=1e-8, atol=1e-10)


def test_errors_name_what_was_called():
    x = torch.ones(2, 3, 8, dtype=torch.float64)
    for call in (
        lambda: nn.MultiheadAttention(8, 2)(x, x, x),
        lambda: nn.TransformerEncoderLayer(8, 2)(x),
    ):
        with pytest.raises(RuntimeError, match="^multi_head_attention_forward: expected m1 and m2"):
            call()


def layers_with_blocks_of_their_own(nn):
    class Encoder(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            y, self.seen = self.self_attn(
                x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask
            )
            return self.dropout1(y) * 2

        def _ff_block(self, x):
            return super()._ff_block(x) * 3

    class Decoder(nn.TransformerDecoderLayer):
        def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
            y, self.seen = self.multihead_attn(
                x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask
            )
            return self.dropout2(y) - x

        def _sa_block(self, x, *masks, **hints):
            return super()._sa_block(x, *masks, **hints) + 1

        def _ff_block(self, x):
            return self.dropout3(self.linear2(self.linear1(x)))

    return Encoder, Decoder


@pytest.mark.parametrize("norm_first", [False, True])
def test_subclasses_give_blocks_other_contents(norm_first):
    """Programs do so to keep the weights of attention; torch calls the blocks by these names."""
    x, memory = torch.ones(3, 2, 4), torch.zeros(5, 2, 4)
    encoder, decoder = (
        kind(4, 2, 8, 0.0, norm_first=norm_first) for kind in layers_with_blocks_of_their_own(nn)
    )
    encoder(x)
    decoder(x, memory)
    assert encoder.seen.shape == (2, 3, 3) and decoder.seen.shape == (2, 3, 5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_blocks_of_subclasses_take_part_as_in_torch(norm_first):
    theirs = pytest.importorskip("torch")
    x, memory = (RNG.normal(size=(n, 2, 4)).astype("float32") for n in (3, 5))
    for ours, other, inputs in zip(
        layers_with_blocks_of_their_own(nn),
        layers_with_blocks_of_their_own(theirs.nn),
        ((x,), (x, memory)),
        strict=True,
    ):
        reference = other(4, 2, 8, 0.0, norm_first=norm_first)
        layer = copied(ours(4, 2, 8, 0.0, norm_first=norm_first), reference)
        wanted = reference(*map(theirs.tensor, inputs))
        found = layer(*map(torch.tensor, inputs))
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), atol=1e-5)


def test_kernels_of_attention_may_be_asked_for():
    from autograd_cy.nn.attention import SDPBackend, sdpa_kernel

    x = torch.ones(1, 2, 4)
    attention = nn.functional.scaled_dot_product_attention
    for asked in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        with sdpa_kernel(asked, set_priority=True):
            assert torch.equal(attention(x, x, x), x)
    with pytest.raises(AssertionError, match="must be an instance of SDPBackend or a list"):
        with sdpa_kernel("math"):
            pass
    assert repr(SDPBackend.MATH) == "<SDPBackend.MATH: 0>"


def test_kernels_of_attention_are_those_of_torch():
    theirs = pytest.importorskip("torch").nn.attention.SDPBackend
    ours = nn.attention.SDPBackend
    assert {one.name: one.value for one in ours} == {
        name: one.value for name, one in theirs.__members__.items()
    }
