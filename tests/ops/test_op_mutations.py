"""Wrong formulas are noticed: the checks of the table are checked.

Each formula is changed in every small way that mutations.py knows; each mutant must disagree with
differences for some sample of its record. By default one mutant of each formula is looked at, and
all without a conj; the slow tests take all.
"""

import zlib

import pytest
from grouping import each
from mutations import mutants, noticed, sites

SITES = sites()
# (record, kind of formula, argument, text of the mutant) -> why no sample shows that it is wrong.
TIES = "only ties show it, where no difference exists; test_op_ties.py has them"
FACTORS = "factors of samples are real; test_op_gradcheck.py has complex ones"
SAME = "says the same: "
_HALF = "where(eq(self, other), {}, where({}, 0, grad))"
MEDIANS = ("median", "nanmedian")
_REACH = "logical_or(eq(self, result), logical_and(ne(self, self), ne(result, result)))"
_WINDOW = (
    "where(eq(_as_strided_backward({}, self.shape, {}, {}, size, stride, storage_offset), 0), "
    "{}, 0)"
)
SURVIVORS = {
    **{
        (name, "vjp", argument, _HALF.format(part, order)): TIES
        for name, compare in (("maximum", "lt"), ("minimum", "gt"))
        for argument, order in (
            ("self", f"{compare}(self, other)"),
            ("other", f"{compare}(other, self)"),
        )
        for part in ("grad", "0.5")
    },
    **{
        (
            name,
            "jvp",
            "self",
            "sum(where(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), self_t, 0), "
            "dim, keepdim)",
        ): TIES
        for name in ("amax", "amin")
    },
    **{
        (
            "aminmax",
            "jvp",
            which,
            f"sum(where(eq(self, _expand_reduced({which}, self.shape, dim, keepdim)), self_t, 0), "
            "dim, keepdim)",
        ): TIES
        for which in ("min", "max")
    },
    (
        "_share_among_ties",
        "composite",
        "",
        "eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)) * "
        "_expand_reduced(grad_output, self.shape, dim, keepdim)",
    ): TIES,
    **{
        (name, "vjp", "self", "where(_reaches(self, result), grad, 0)"): TIES
        for name in ("max", "min")
    },
    **{
        (name, "jvp", "self", "sum(where(_reaches(self, result), self_t, 0))"): TIES
        for name in ("max", "min")
    },
    **{(name, "vjp", "self", f"where({_REACH}, grad, 0)"): TIES for name in MEDIANS},
    **{(name, "jvp", "self", f"sum(where({_REACH}, self_t, 0))"): TIES for name in MEDIANS},
    (
        "narrow",
        "vjp",
        "self",
        "_slice_backward(grad, self.shape, dim, start if start >= 0 else start, "
        "(start if start >= 0 else start + self.shape[dim]) + length, 1)",
    ): SAME + "a slice counts a negative start from the end",
    **{
        (
            "as_strided_scatter",
            kind,
            "self",
            _WINDOW.format(mark.format(f"new_zeros({g}, size)"), strides, offset, g),
        ): SAME + "any number but zero marks the window"
        for kind, g, strides, offset in (
            ("vjp", "grad", "base_stride", "base_offset"),
            ("jvp", "self_t", "strides_of(self)", "offset_of(self)"),
        )
        for mark in ("{} - 1", "1", "{} * 2 + 1", "{} + 1 * 2")
    },
    **{
        ("copysign", kind, "self", f"where(eq(self, 0), 0, {g} * (self / result))"): SAME
        + "the quotient is 1 or -1"
        for kind, g in (("vjp", "grad"), ("jvp", "self_t"))
    },
    **{
        (name, "vjp", "self", text): SAME + "zero"
        for name in ("threshold_backward", "_threshold_backward")
        for text in ("-zeros_like(self)", "zeros_like(self) * 2")
    },
    **{
        (f"_{name}_loss_backward", "vjp", argument, f"{sign}grad * {text}"): SAME + "a distance"
        for name, text in (
            ("smooth_l1", "grad_output * lt(abs(target - self), beta) / beta"),
            ("huber", "grad_output * lt(abs(target - self), delta)"),
        )
        for argument, sign in (("self", ""), ("target", "-"))
    },
    ("_outer", "composite", "", "unsqueeze(self, 1) * vec"): SAME + "self is a vector",
    ("_add_scaled", "vjp", "other", "grad * alpha"): FACTORS,
    ("_sub_scaled", "vjp", "other", "grad * alpha"): FACTORS,
    ("addmm", "vjp", "self", "grad * beta"): FACTORS,
    ("addmm", "vjp", "mat1", "mm(grad, mat2.t().conj()) * alpha"): FACTORS,
    ("addmm", "vjp", "mat2", "mm(mat1.t().conj(), grad) * alpha"): FACTORS,
    ("addmv", "vjp", "self", "grad * beta"): FACTORS,
    ("addmv", "vjp", "mat", "_outer(grad, vec.conj()) * alpha"): FACTORS,
    ("addmv", "vjp", "vec", "mv(mat.t().conj(), grad) * alpha"): FACTORS,
    ("addbmm", "vjp", "self", "grad * beta"): FACTORS,
    ("addbmm", "vjp", "batch1", "matmul(grad, batch2.transpose(1, 2).conj()) * alpha"): FACTORS,
    ("addbmm", "vjp", "batch2", "matmul(batch1.transpose(1, 2).conj(), grad) * alpha"): FACTORS,
    ("baddbmm", "vjp", "self", "grad * beta"): FACTORS,
    ("baddbmm", "vjp", "batch1", "bmm(grad, batch2.transpose(1, 2).conj()) * alpha"): FACTORS,
    ("baddbmm", "vjp", "batch2", "bmm(batch1.transpose(1, 2).conj(), grad) * alpha"): FACTORS,
}


def mutant_cases():
    for site in SITES:
        found = mutants(site)
        drawn = zlib.crc32(site.id.encode()) % max(len(found), 1)
        for number, (kind, text) in enumerate(found):
            taken = number == drawn or kind == "drop conj"
            marks = () if taken else pytest.mark.slow
            yield pytest.param(site, text, id=f"{site.id}-{kind}-{text}", marks=marks)


@each("site", [pytest.param(s, id=s.id) for s in SITES])
def test_formula_itself_is_right(site):
    assert not noticed(site, site.text)


@each("site, text", mutant_cases())
def test_wrong_formula_is_noticed(site, text):
    survives = SURVIVORS.get((site.record.key, site.kind, site.output or site.key, text))
    if survives:
        assert not noticed(site, text), "remove it from SURVIVORS"
        return
    assert noticed(site, text), (
        f"no sample of {site.record.key} shows that {text!r} is not its {site.kind} ({site.key})"
    )
