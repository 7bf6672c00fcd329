"""The text of tensors. Expected texts are those that PyTorch 2.13 prints, with our name."""

import math

import pytest

import autograd_cy as ag

nan, inf = math.nan, math.inf


@pytest.fixture(autouse=True)
def default_options():
    yield
    ag.set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([1.0, 2.0], "tensor([1., 2.])"),
        ([0.0, -0.0], "tensor([0., -0.])"),
        ([0.5, 10.25], "tensor([ 0.5000, 10.2500])"),
        ([-1.5, 2.0], "tensor([-1.5000,  2.0000])"),
        ([1, -200], "tensor([   1, -200])"),
        ([True, False], "tensor([ True, False])"),
        ([nan, 1.0], "tensor([nan, 1.])"),
        ([0.0, nan], "tensor([0., nan])"),
        ([-inf, 1.5, nan], "tensor([  -inf, 1.5000,    nan])"),
        ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ([1.0, 1000.0], "tensor([   1., 1000.])"),
        ([1e-5, 1e-5], "tensor([1.0000e-05, 1.0000e-05])"),
        ([1e-4, 2e-4], "tensor([1.0000e-04, 2.0000e-04])"),
        ([1.5e8, 1.5e8], "tensor([1.5000e+08, 1.5000e+08])"),
        ([1e8, 1e8], "tensor([100000000., 100000000.])"),
        ([1e30], "tensor([1.0000e+30])"),
        (2.5, "tensor(2.5000)"),
        (3, "tensor(3)"),
        (3.0, "tensor(3.)"),
        (True, "tensor(True)"),
        ([1 + 2j, -0.5j], "tensor([1.+2.0000j, -0.-0.5000j])"),
        ([1 + 2j, 3 - 4j], "tensor([1.+2.j, 3.-4.j])"),
        ([complex(nan, -inf)], "tensor([nan-infj])"),
        (0.5 - 1e-7j, "tensor(0.5000-1.0000e-07j)"),
        ([], "tensor([])"),
        ([[], []], "tensor([], size=(2, 0))"),
        ([[1, -20], [300, 4]], "tensor([[  1, -20],\n        [300,   4]])"),
        (
            [[[1.0, 2.0]], [[3.0, 4.5]]],
            "tensor([[[1.0000, 2.0000]],\n\n        [[3.0000, 4.5000]]])",
        ),
    ],
)
def test_numbers_are_aligned_and_rounded(data, text):
    t = ag.tensor(data)
    assert repr(t) == text
    assert str(t) == text


class TestSuffixes:
    def test_dtype_is_named_unless_it_is_the_default_one(self):
        assert repr(ag.zeros(1, dtype=ag.float64)) == "tensor([0.], dtype=autograd_cy.float64)"
        assert repr(ag.zeros(1, dtype=ag.int32)) == "tensor([0], dtype=autograd_cy.int32)"
        assert repr(ag.ones(2, dtype=ag.float16) / 3) == (
            "tensor([0.3333, 0.3333], dtype=autograd_cy.float16)"
        )
        assert repr(ag.ones(2, dtype=ag.bfloat16)) == "tensor([1., 1.], dtype=autograd_cy.bfloat16)"
        assert repr(ag.zeros(0, dtype=ag.int64)) == "tensor([], dtype=autograd_cy.int64)"

    def test_default_dtype_decides_what_is_named(self):
        ag.set_default_dtype(ag.float64)
        try:
            assert repr(ag.ones(1)) == "tensor([1.])"
            assert repr(ag.ones(1, dtype=ag.float32)) == "tensor([1.], dtype=autograd_cy.float32)"
            assert repr(ag.tensor([1j])) == "tensor([0.+1.j])"
        finally:
            ag.set_default_dtype(ag.float32)

    def test_history_is_shown(self):
        x = ag.ones(2, requires_grad=True)
        assert repr(x) == "tensor([1., 1.], requires_grad=True)"
        assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
        assert repr((x * 2).double()).startswith("tensor([2., 2.], dtype=autograd_cy.float64, grad")

    def test_size_dtype_and_grad_of_an_empty_tensor(self):
        t = ag.zeros(2, 0, dtype=ag.float64, requires_grad=True)
        assert repr(t) == ("tensor([], size=(2, 0), dtype=autograd_cy.float64, requires_grad=True)")

    def test_long_lines_are_broken_before_a_suffix(self):
        assert repr(ag.full((7,), 1 / 3, requires_grad=True)) == (
            "tensor([0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333],\n"
            "       requires_grad=True)"
        )

    def test_parameter_and_subclass(self):
        class Named(ag.Tensor):
            pass

        assert repr(ag.nn.Parameter(ag.ones(2))) == (
            "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
        )
        assert repr(ag.Tensor._make_subclass(Named, ag.ones(2))) == "Named([1., 1.])"

    def test_printing_records_nothing(self):
        x = ag.ones(2, requires_grad=True)
        y = x * 2
        node = y.grad_fn
        repr(y)
        assert y.grad_fn is node
        assert y._version == 0


class TestLines:
    def test_long_vectors_are_broken(self):
        assert repr(ag.arange(30.0) * 1.5 + 100).split("\n")[:2] == [
            "tensor([100.0000, 101.5000, 103.0000, 104.5000, 106.0000, 107.5000, 109.0000,",
            "        110.5000, 112.0000, 113.5000, 115.0000, 116.5000, 118.0000, 119.5000,",
        ]

    def test_large_tensors_are_summarised(self):
        assert repr(ag.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
        assert "..." not in repr(ag.arange(1000))
        text = repr(ag.arange(1200).reshape(30, 40))
        assert text == (
            "tensor([[   0,    1,    2,  ...,   37,   38,   39],\n"
            "        [  40,   41,   42,  ...,   77,   78,   79],\n"
            "        [  80,   81,   82,  ...,  117,  118,  119],\n"
            "        ...,\n"
            "        [1080, 1081, 1082,  ..., 1117, 1118, 1119],\n"
            "        [1120, 1121, 1122,  ..., 1157, 1158, 1159],\n"
            "        [1160, 1161, 1162,  ..., 1197, 1198, 1199]])"
        )

    def test_hidden_elements_do_not_decide_the_format(self):
        t = ag.zeros(2000)
        t[1000] = 1e20
        assert repr(t) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"

    def test_strided_views_print_their_elements(self):
        t = ag.arange(6).reshape(2, 3).t()
        assert repr(t) == "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])"


class TestOptions:
    def test_each_option_has_its_effect(self):
        t = ag.tensor([1.123456, 2.0])
        ag.set_printoptions(precision=2)
        assert repr(t) == "tensor([1.12, 2.00])"
        ag.set_printoptions(profile="default", sci_mode=True)
        assert repr(t) == "tensor([1.1235e+00, 2.0000e+00])"
        ag.set_printoptions(sci_mode=False)
        assert repr(ag.tensor([1e-5, 1.0])) == "tensor([0.0000, 1.0000])"
        ag.set_printoptions(threshold=5, edgeitems=1)
        assert repr(ag.arange(6)) == "tensor([0,  ..., 5])"
        ag.set_printoptions(profile="default", linewidth=20)
        assert repr(ag.arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])"

    def test_profiles(self):
        ag.set_printoptions(profile="full")
        assert "..." not in repr(ag.arange(2000))
        ag.set_printoptions(profile="short")
        assert repr(ag.tensor([1.123])) == "tensor([1.12])"

    def test_unknown_profile_raises(self):
        with pytest.raises(ValueError, match="unknown profile"):
            ag.set_printoptions(profile="wide")

    def test_context_puts_them_back(self):
        with ag.printoptions(precision=1):
            assert ag.get_printoptions()["precision"] == 1
            assert repr(ag.tensor([1.25])) == "tensor([1.2])"
        assert ag.get_printoptions()["precision"] == 4


def test_format_of_a_scalar_takes_a_specification():
    assert f"{ag.tensor(2.5):.1f}" == "2.5"
    assert f"{ag.tensor(2.5)}" == "2.5"
    assert f"{ag.tensor(7):03d}" == "007"
    assert f"{ag.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError):
        f"{ag.ones(2):.1f}"


def test_printoptions_names_itself_when_it_refuses_an_option():
    with pytest.raises(TypeError, match=r"^printoptions\(\) got an unexpected .* argument .x."):
        ag.printoptions(x=1)


def test_a_summary_reads_nothing_but_its_edges():
    """A tensor of 4 TB, which a byte of memory stands for, is printed, too."""
    x = ag.full((1,), 2.0).expand(2**40)
    assert str(x) == "tensor([2., 2., 2.,  ..., 2., 2., 2.])"
    assert str(x.view(2**20, 2**20)).count("2.") == 36
    table = ag.arange(2_000_000).view(1000, 2000).t()
    assert str(table) == str(table.contiguous())
