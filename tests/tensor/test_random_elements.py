"""Fills one element after the other, by the functions of scalar/random_elements.h, give the bits of
the loops: whoever writes a kernel that gives each element to a thread of its own needs no more."""

import pytest

import autograd_cy as ag
from autograd_cy._C import random_fills

FLOATS = (ag.float16, ag.bfloat16, ag.float32, ag.float64)
ALL = (ag.bool, ag.uint8, ag.int8, ag.int16, ag.int32, ag.int64, *FLOATS)
SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000)
P = ag.arange(1000) / 999

FILLS = {
    "uniform": (lambda t, g: t.uniform_(generator=g), (*FLOATS, ag.complex64, ag.complex128)),
    "uniform within": (lambda t, g: t.uniform_(-3, 0.1, generator=g), FLOATS),
    "normal": (lambda t, g: t.normal_(generator=g), (*FLOATS, ag.complex64, ag.complex128)),
    "normal around": (lambda t, g: t.normal_(2.5, 0.3, generator=g), FLOATS),
    "exponential": (lambda t, g: t.exponential_(3.0, generator=g), FLOATS),
    "bernoulli": (lambda t, g: t.bernoulli_(0.3, generator=g), ALL),
    "always": (lambda t, g: t.bernoulli_(1.0, generator=g), ALL),
    "never": (lambda t, g: t.bernoulli_(0.0, generator=g), ALL),
    "chances": (lambda t, g: t.bernoulli_(P[: len(t)], generator=g), ALL),
    "random": (lambda t, g: t.random_(generator=g), ALL),
    "random below": (lambda t, g: t.random_(1, generator=g), ALL),
    "random within": (
        lambda t, g: t.random_(-7, 100, generator=g),
        (ag.int8, ag.int16, ag.int32, ag.int64, *FLOATS[2:]),
    ),
    "long range": (lambda t, g: t.random_(-(2**62), 2**62, generator=g), (ag.int64,)),
    "whole range": (lambda t, g: t.random_(-(2**63), 2**63 - 1, generator=g), (ag.int64,)),
}


def by_element(call):
    random_fills._draw_by_element(True)
    try:
        return call()
    finally:
        random_fills._draw_by_element(False)


def bits(t):
    return bytes(t.untyped_storage())[: t.numel() * t.element_size()]


@pytest.mark.parametrize("name", FILLS)
def test_an_element_alone_is_that_of_the_loops(name):
    fill, dtypes = FILLS[name]
    for dtype in dtypes:
        for seed, drawn in ((0, 0), (2**64 - 1, 5), (123, 0)):
            for n in SIZES:
                g = ag.Generator().manual_seed(seed)
                ag.rand(64 * drawn, generator=g)
                h = ag.Generator()
                h.set_state(g.get_state())
                loops = fill(ag.zeros(n, dtype=dtype), g)
                alone = by_element(lambda: fill(ag.zeros(n, dtype=dtype), h))
                assert bits(loops) == bits(alone), (dtype, n)
                assert g.get_state().tolist() == h.get_state().tolist()


def test_a_position_beyond_32_bits_is_that_of_the_loops():
    mark = ag.Generator().get_state()[:8].tolist()
    for position in (2**28 - 1, 2**28, 2**32 + 3, 2**59 + 1, 2**64 - 2):
        state = ag.tensor(
            [*mark, *(77).to_bytes(8, "little"), *position.to_bytes(8, "little")], dtype=ag.uint8
        )
        drawn = []
        for way in (lambda call: call(), by_element):
            g = ag.Generator()
            g.set_state(state)
            drawn.append(way(lambda: ag.randn(300, generator=g)))
        assert bits(drawn[0]) == bits(drawn[1])
        assert int.from_bytes(bytes(g.get_state().tolist()[16:]), "little") == (
            (position + 5) % 2**64
        )


def test_masks_and_permutations_are_those_of_the_loops():
    x = ag.ones(3, 4, 50)
    for draw in (
        lambda: ag.randperm(500),
        lambda: ag.randperm(1),
        lambda: ag.nn.functional.dropout(x, 0.3),
        lambda: ag.nn.functional.dropout(x.double(), 0.3),
        lambda: ag.nn.functional.dropout(x.half(), 0.3),
        lambda: ag.nn.functional.dropout(x.bfloat16(), 0.3),
        lambda: ag.nn.functional.dropout2d(x[..., None], 0.3),
        lambda: ag.nn.functional.alpha_dropout(x, 0.3, True),
        lambda: ag.nn.functional.rrelu(-x, 0.1, 0.9, True),
    ):
        ag.manual_seed(8)
        loops = draw()
        ag.manual_seed(8)
        assert bits(loops) == bits(by_element(draw))
