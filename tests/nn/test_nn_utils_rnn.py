"""Padded and packed sequences, by hand and beside torch."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.utils import rnn


def sequences(library, lengths=(3, 1, 2), tail=(2,)):
    rng = np.random.default_rng(0)
    return [library.tensor(rng.normal(size=(n, *tail))) for n in lengths]


def parts_of(packed):
    return [None if p is None else p.tolist() for p in packed]


CASES = {
    "pad": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t)),
    "pad batch first": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t), True, -1.0),
    "pad left": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t), padding_side="left"),
    "pad vectors": lambda t: t.nn.utils.rnn.pad_sequence(sequences(t, tail=())),
    "pad rows of a tensor": lambda t: t.nn.utils.rnn.pad_sequence(t.ones(2, 3)),
    "pad ints": lambda t: t.nn.utils.rnn.pad_sequence(
        [t.tensor([1, 2]), t.tensor([3])], padding_value=7
    ),
    "pack": lambda t: t.nn.utils.rnn.pack_sequence(sequences(t, (3, 2, 2))),
    "pack out of order": lambda t: t.nn.utils.rnn.pack_sequence(
        sequences(t, (1, 3, 1, 2)), enforce_sorted=False
    ),
    "pack scalars": lambda t: t.nn.utils.rnn.pack_sequence(sequences(t, (2, 1), ())),
    "pack padded": lambda t: t.nn.utils.rnn.pack_padded_sequence(
        t.arange(24.0).view(3, 2, 4), [3, 1]
    ),
    "pack padded batch first": lambda t: t.nn.utils.rnn.pack_padded_sequence(
        t.arange(24.0).view(2, 3, 4), t.tensor([1, 2]), batch_first=True, enforce_sorted=False
    ),
    "unpack": lambda t: t.nn.utils.rnn.unpack_sequence(
        t.nn.utils.rnn.pack_sequence(sequences(t), enforce_sorted=False)
    ),
    "pad packed": lambda t: t.nn.utils.rnn.pad_packed_sequence(
        t.nn.utils.rnn.pack_sequence(sequences(t), enforce_sorted=False), True, -1.0, 5
    ),
    "pad packed steps first": lambda t: t.nn.utils.rnn.pad_packed_sequence(
        t.nn.utils.rnn.pack_sequence(sequences(t), enforce_sorted=False)
    ),
    "unpad": lambda t: t.nn.utils.rnn.unpad_sequence(t.ones(3, 2, 4), t.tensor([3, 1])),
    "unpad batch first": lambda t: t.nn.utils.rnn.unpad_sequence(
        t.ones(2, 3), t.tensor([2, 1]), batch_first=True
    ),
    "invert": lambda t: t.nn.utils.rnn.invert_permutation(t.tensor([2, 0, 3, 1])),
    "pair": lambda t: t.nn.utils.rnn.PackedSequence((t.ones(3), t.tensor([2, 1]))),
    "with order": lambda t: t.nn.utils.rnn.PackedSequence(
        t.ones(3), t.tensor([2, 1]), t.tensor([1, 0])
    ),
}


def listed(made):
    if made is None:
        return None
    if isinstance(made, list | tuple):
        return [listed(m) for m in made]
    return str(made.dtype).rpartition(".")[2], made.tolist()


@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_torch(case):
    torch = pytest.importorskip("torch")
    assert listed(CASES[case](ag)) == listed(CASES[case](torch))


REFUSED = {
    "out of order": lambda t: t.nn.utils.rnn.pack_sequence(sequences(t, (1, 2))),
    "empty sequence": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2), [3, 0]),
    "too few lengths": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2), [3]),
    "nothing": lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(0, 2), [0, 0]),
    "too short": lambda t: t.nn.utils.rnn.pad_packed_sequence(
        t.nn.utils.rnn.pack_sequence(sequences(t, (3, 1))), total_length=2
    ),
    "no sequences": lambda t: t.nn.utils.rnn.pad_sequence([]),
    "another side": lambda t: t.nn.utils.rnn.pad_sequence([t.ones(2)], padding_side="foo"),
    "no pair": lambda t: t.nn.utils.rnn.PackedSequence(t.ones(3)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_those_of_torch(case):
    torch = pytest.importorskip("torch")
    found = []
    for library in (ag, torch):
        with pytest.raises(Exception) as caught:
            REFUSED[case](library)
        found.append((type(caught.value), str(caught.value)))
    assert found[0] == found[1]


def test_a_length_beyond_the_steps_is_refused():
    with pytest.raises(RuntimeError, match="a length of 4 exceeds the 3 steps"):
        rnn.pack_padded_sequence(ag.ones(3, 2), [4, 2])


def test_lengths_are_one_row():
    with pytest.raises(RuntimeError, match="1D CPU int64"):
        rnn.pack_padded_sequence(ag.ones(3, 2), ag.tensor([[3, 1]]))
    with pytest.raises(IndexError, match="needs steps and batch"):
        rnn.pack_padded_sequence(ag.ones(3), [3])


@pytest.mark.parametrize("dtype", [ag.int32, ag.uint8, ag.float32, ag.float64])
def test_lengths_of_another_dtype_become_integers(dtype):
    packed = rnn.pack_padded_sequence(ag.ones(3, 2), ag.tensor([3, 1], dtype=dtype))
    assert packed.batch_sizes.tolist() == [2, 1, 1] and packed.batch_sizes.dtype is ag.int64


def test_shapes_of_sequences_must_agree():
    with pytest.raises(RuntimeError, match="agree in all other sizes"):
        rnn.pad_sequence([ag.ones(2, 3), ag.ones(3, 4)])
    with pytest.raises(RuntimeError, match="Expected iterable"):
        rnn.pad_sequence(3)


@pytest.mark.parametrize("first", [False, True])
def test_padding_a_packed_sequence_gives_it_back(first):
    parts = sequences(ag, (2, 4, 1))
    lengths = ag.tensor([2, 4, 1])
    padded = rnn.pad_sequence(parts, first)
    packed = rnn.pack_padded_sequence(padded, lengths, first, enforce_sorted=False)
    again, found = rnn.pad_packed_sequence(packed, first)
    assert ag.equal(again, padded)
    assert found.tolist() == [2, 4, 1]


def test_gradients_pass_through():
    x = ag.randn(4, 3, 2, dtype=ag.float64, requires_grad=True)

    def there_and_back(x):
        packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        return packed.data, rnn.pad_packed_sequence(packed)[0]

    assert ag.autograd.gradcheck(there_and_back, (x,))
    parts = [p.requires_grad_() for p in sequences(ag)]
    for side in ("left", "right"):
        assert ag.autograd.gradcheck(
            lambda *p, side=side: rnn.pad_sequence(p, padding_side=side), tuple(parts)
        )


def test_a_packed_sequence_is_a_named_tuple():
    packed = rnn.pack_sequence(sequences(ag), enforce_sorted=False)
    data, sizes, order, back = packed
    assert (data is packed.data, sizes is packed.batch_sizes) == (True, True)
    assert (order is packed.sorted_indices, back is packed.unsorted_indices) == (True, True)
    assert packed._fields == ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
    assert repr(packed).startswith("PackedSequence(data=tensor(")


def test_conversions():
    packed = rnn.pack_sequence(sequences(ag), enforce_sorted=False)
    for name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
        made = getattr(packed, name)()
        assert type(made) is rnn.PackedSequence
        assert made.data.dtype is getattr(packed.data, name)().dtype
        assert made.batch_sizes is packed.batch_sizes
    assert packed.double() is packed
    assert packed.cpu() is packed
    assert packed.to(ag.float64) is packed
    assert packed.to(ag.float32).data.dtype is ag.float32
    assert packed.is_cuda is False
    assert packed.is_pinned() is False
    with pytest.raises(RuntimeError, match="accelerator"):
        packed.pin_memory()


def test_copies_and_pickles():
    packed = rnn.pack_sequence(sequences(ag), enforce_sorted=False)
    for other in (copy.copy(packed), copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert type(other) is rnn.PackedSequence
        assert parts_of(other) == parts_of(packed)


def test_sizes_on_another_device_are_refused():
    with pytest.raises(ValueError, match="should always be on CPU"):
        rnn.PackedSequence(ag.ones(3), ag.tensor([2, 1]).to("meta"))


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_of_half_types_are_those_of_float64(name, dtype, bidirectional):
    """Types for which there is no kernel of a layer go step by step, also in packed sequences."""
    module = getattr(nn, name)(3, 4, num_layers=2, bidirectional=bidirectional)
    half = getattr(ag, dtype)
    with ag.no_grad():
        for p in module.parameters():
            p.copy_(p.to(half))
    lengths = ag.tensor([5, 3, 3, 1])
    x = ag.randn(5, 4, 3, generator=ag.Generator().manual_seed(0)).to(half)

    def run(kind):
        given = x.to(kind).detach().clone().requires_grad_()
        packed = rnn.pack_padded_sequence(given, lengths)
        outputs, state = module.to(kind)(packed)
        padded, _ = rnn.pad_packed_sequence(outputs)
        (padded.double() ** 2).sum().backward()
        states = state if isinstance(state, tuple) else (state,)
        return [padded, *states, given.grad]

    for found, wanted in zip(run(half), run(ag.float64), strict=True):
        assert found.dtype == half and found.shape == wanted.shape
        assert (found.double() - wanted).abs().max() < (0.02 if dtype == "float16" else 0.12)


def test_sequences_that_are_taken_apart_are_copies():
    padded = ag.arange(12.0).view(3, 2, 2)
    for parts in (
        rnn.unpad_sequence(padded, ag.tensor([3, 1])),
        rnn.unpad_sequence(padded, ag.tensor([2, 1, 2]), batch_first=True),
    ):
        for part in parts:
            assert part.is_contiguous() and part._base is None
            part.zero_()
    assert padded.flatten().tolist() == list(range(12))


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match="'sequences'.* must be tuple of Tensors.* NoneType as e"):
        rnn.pad_sequence([ag.ones(2), None])
    with pytest.raises(TypeError, match="'input'.* must be Tensor, not NoneType"):
        rnn.pack_padded_sequence(None, [1])
