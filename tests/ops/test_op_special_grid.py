"""Every elementwise operator and its first and second derivatives on a grid of special values.

What must come out is in special_values.json: torch's answers by their class (NaN, an infinity,
zero, a sign), which ``python -m tests.ops.special_table`` asks for. A record lists in `special`
where an answer differs, and why. With torch installed, finite answers are compared in full. Lanes
of vectors, both modes and both widths are compared with each other, and values with C's. The grid
is in special_points.py.
"""

import functools
import importlib.util
import json
import re
import warnings

import numpy as np
import pytest
from calls import CLASS_OF, NUMPY, RECORDS, tensor, to_array
from grouping import each
from special_points import (
    DTYPES,
    TABLE,
    classes,
    forms,
    grid,
    noise,
    order_of,
    plain,
    public,
    results,
    unpacked,
)

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

FORMS = forms()
BY_ID = {f.id: f for f in FORMS}
FUSED = ("_add_scaled", "_sub_scaled", "addcmul", "square", "reciprocal")
ANSWERS = json.loads(TABLE.read_text())
CLOSE = {"float32": 1e-4, "float64": 1e-10, "complex64": 1e-4, "complex128": 1e-10}

each_form = each("form", [pytest.param(f, id=f.id) for f in FORMS])


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@functools.cache
def ours(form_id, dtype):
    """(arrays, results) of this library on the whole grid."""
    form = BY_ID[form_id]
    arrays = grid(form, dtype)
    return arrays, results(ag, form, arrays)


def expected(form, dtype):
    """{answer: letters} of the table; empty where torch, or the table yet, has no such operator."""
    rows = ANSWERS.get(form.id, {})
    row = rows.get(dtype)
    row = rows[row] if isinstance(row, str) else row
    return {key: unpacked(text) for key, text in (row or {}).items()}


def listed(form, dtype, arrays, entry):
    """At which points an entry of `special` allows another answer."""
    names = [a.name for a in form.record.args]
    given = dict(zip(names, form.template)) | dict(form.keywords)
    given |= {n: a for (n, _), a in zip(form.leaves, arrays)}
    for a in form.record.args:
        if a.name not in given and a.default is not None:
            given[a.name] = eval(a.default)
    known = {
        "np": np,
        "finite": np.isfinite,
        "infinite": np.isinf,
        "nan": np.isnan,
        "is_complex": np.bool_(CLASS_OF[dtype] == "c"),  # which ~ turns round
        "largest": np.finfo(dtype).max,
        "smallest": np.finfo(dtype).smallest_normal,
    }
    return np.broadcast_to(eval(entry.where, known | given), arrays[0].shape)


def unequal(found, wanted, parts):
    """At which points some part has another class; a question mark is any class."""
    different = (found != wanted) & (wanted != "?")
    return different.reshape(-1, parts).any(1)


def differences(form, dtype):
    """[(answer, arrays, where classes differ)] of a form."""
    arrays, found = ours(form.id, dtype)
    rows = []
    for key, letters in expected(form, dtype).items():
        given = classes(found[key], key)
        assert given.shape == letters.shape, f"{key}: {given.shape} results, not {letters.shape}"
        rows.append(
            (
                key,
                arrays,
                unequal(given, letters, len(given) // len(arrays[0])),
                found[key],
                letters,
            )
        )
    return rows


def shown(arrays, found, letters, where):
    """Some of the points that a mask names."""
    parts = len(letters) // len(where)
    lines = []
    for i in np.flatnonzero(where)[:12]:
        point = ", ".join(str(a[i]) for a in arrays)
        lines.append(
            f"  at ({point}): {found[i]}, not {''.join(letters[i * parts : (i + 1) * parts])}"
        )
    return "\n".join([f"{where.sum()} points", *lines])


def test_the_table_is_of_these_operators():
    assert sorted(ANSWERS) == sorted(f.id for f in FORMS), "run python -m tests.ops.special_table"
    for form in FORMS:
        assert set(ANSWERS[form.id]) == set(form.dtypes)


@each_form
def test_answers_are_those_of_the_table_or_listed(form):
    for dtype in form.dtypes:
        for key, arrays, where, found, letters in differences(form, dtype):
            for entry in form.record.tests.special:
                if order_of(key) in entry.orders:
                    where = where & ~listed(form, dtype, arrays, entry)
            assert not where.any(), f"{key} in {dtype}: {shown(arrays, found, letters, where)}"


@pytest.mark.parametrize(
    ("record", "entry"),
    [pytest.param(r, e, id=f"{r.key}: {e.where}") for r in RECORDS for e in r.tests.special],
)
def test_every_listed_difference_is_one(record, entry):
    remaining = set(entry.orders)
    for form in FORMS:
        for dtype in form.dtypes if form.record is record else ():
            for key, arrays, where, found, _ in differences(form, dtype):
                if order_of(key) in remaining:
                    where = where | far(form, dtype, key, found)
                    if (where & listed(form, dtype, arrays, entry)).any():
                        remaining.discard(order_of(key))
    if remaining and record.key in FUSED:
        pytest.skip("sums and products are fused in some instruction sets, as in torch")
    if remaining and not has_torch():
        pytest.skip("whether finite answers differ is known with torch only")
    assert not remaining, f"no such difference: {' '.join(remaining)}"


# --- finite answers, with torch ---------------------------------------------------------------


def has_torch():
    return importlib.util.find_spec("torch") is not None


@functools.cache
def theirs(form_id, dtype):
    """Torch's results on the whole grid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch

        return results(torch, BY_ID[form_id], ours(form_id, dtype)[0])


def far(form, dtype, key, found):
    """Mark the points at which both results are finite and not close; none without torch."""
    if not has_torch() or found.dtype.kind == "b":
        return np.zeros(found.shape, bool)
    wanted = theirs(form.id, dtype)[key]
    least = noise(wanted, key).reshape(len(wanted), -1).max(1)
    away = np.abs(found - wanted) > CLOSE[dtype] * np.abs(wanted) + least
    return away & np.isfinite(found) & np.isfinite(wanted)


@each_form
def test_finite_answers_are_close_to_torch(form):
    pytest.importorskip("torch")
    for dtype in form.dtypes:
        for key, arrays, _, found, letters in differences(form, dtype):
            where = far(form, dtype, key, found)
            for entry in form.record.tests.special:
                if order_of(key) in entry.orders:
                    where = where & ~listed(form, dtype, arrays, entry)
            assert not where.any(), f"{key} in {dtype}: {shown(arrays, found, letters, where)}"


# --- without any reference --------------------------------------------------------------------


@each_form
def test_lanes_and_tails_agree(form):
    """Each point among ordinary numbers, in a vector and behind one, as in the whole grid."""
    for dtype in form.dtypes:
        arrays, whole = ours(form.id, dtype)
        many = len(arrays[0])
        third = -(-many // 3)
        value = np.empty_like(whole["value"])
        for i in range(third):
            # Three points that are far from each other at once.
            lanes = {(i + 3 * k) % 9: i + third * k for k in range(3) if i + third * k < many}
            rows = [np.full(9, 0.25, a.dtype) for a in arrays]
            for row, a in zip(rows, arrays):
                row[[*lanes]] = a[[*lanes.values()]]
            found = plain(form(ag, [ag.from_numpy(row) for row in rows]))
            value[[*lanes.values()]] = found[[*lanes]]
        same(value, whole["value"], "value")
        moved = results(ag, form, [np.roll(a, 5) for a in arrays])
        strided = results(ag, form, [np.repeat(a, 2)[::2] for a in arrays])
        for key, x in whole.items():
            same(np.roll(moved[key], -5), x, key)
            same(strided[key], x, key)


@each_form
def test_ordinary_numbers_give_the_same_bits_in_any_place(form):
    """The bits are the same in each lane of a vector, in the rest, and alone."""
    rng = np.random.default_rng(4)
    for dtype in form.dtypes:
        arrays = [ordinary(rng, 53, a.dtype) for a in grid(form, dtype)]
        whole = plain(form(ag, [ag.from_numpy(a.copy()) for a in arrays]))
        for start, end in (*((k, None) for k in range(1, 9)), (3, 4), (7, 9), (10, 13), (20, 37)):
            part = plain(form(ag, [ag.from_numpy(a[start:end].copy()) for a in arrays]))
            np.testing.assert_array_equal(part, whole[start:end], f"{dtype} from {start} to {end}")


def ordinary(rng, many, dtype):
    """Numbers that are in the domain of most functions."""
    found = rng.uniform(0.05, 0.95, (2, many))
    return (found[0] + 1j * found[1] if dtype.kind == "c" else found[0]).astype(dtype)


def same(found, wanted, key):
    np.testing.assert_array_equal(classes(found, key), classes(wanted, key), err_msg=key)
    if found.dtype.kind != "b":
        rtol = 16 * float(np.finfo(found.dtype).eps)
        finite = np.isfinite(found)
        atol = noise(wanted, key).reshape(len(wanted), -1).max(1)[finite] / 2
        assert (np.abs(found - wanted)[finite] <= rtol * np.abs(wanted[finite]) + atol).all(), key


@each_form
def test_tangents_are_the_gradients(form):
    """Forward mode has the result of reverse mode everywhere, for functions with one derivative."""
    for dtype in form.dtypes:
        _, found = ours(form.id, dtype)
        if CLASS_OF[dtype] == "c" and len(found) > 1 and not holomorphic(form, dtype):
            continue
        for key in [k for k in found if k.endswith("'") and k[:-1] in found]:
            tangent, gradient = found[key], np.conj(found[key[:-1]])
            if tangent.dtype != gradient.dtype:
                continue  # complex() of real numbers
            np.testing.assert_array_equal(classes(tangent, key), classes(gradient, key), key)


def holomorphic(form, dtype):
    """Return whether the derivative along i is i times that along 1."""
    point = [np.array([0.3 + 0.4j], dtype) + 0.1 * i for i in range(len(form.leaves))]
    point = [
        np.array([True]) if a.values is not None else x for x, (_, a) in zip(point, form.leaves)
    ]
    for place in form.moving:
        steps = []
        for step in (1e-3, 1e-3j):
            values = []
            for sign in (1, -1):
                moved = [x + sign * step if i == place else x for i, x in enumerate(point)]
                values.append(
                    plain(
                        form(
                            ag,
                            [ag.from_numpy(np.asarray(x, p.dtype)) for x, p in zip(moved, point)],
                        )
                    )
                )
            steps.append((values[0] - values[1]) / (2 * step))
        if not np.allclose(*steps, rtol=1e-2, atol=1e-2):
            return False
    return True


@each_form
def test_float32_answers_are_in_the_classes_of_float64(form):
    """Both dtypes have the same classes where the points are the same and small."""
    for wide, narrow in DTYPES.values():
        if wide not in form.dtypes:
            continue
        (first, found), (second, other) = ours(form.id, wide), ours(form.id, narrow)
        alike = np.ones(len(first[0]), bool)
        for a, b in zip(first, second):
            if a.dtype != bool:
                a, b = a.view(a.real.dtype), b.view(b.real.dtype)
                moderate = ((a == b) & (np.abs(a) <= 3)) | (a != a) | np.isinf(a)
                alike &= moderate.reshape(len(alike), -1).all(1)
        for key, x in found.items():
            parts = len(classes(x, key)) // len(alike)
            chosen = np.repeat(alike, parts)
            a, b = classes(x, key)[chosen], classes(other[key], key)[chosen]
            np.testing.assert_array_equal(b, a, key)


PLAIN = re.compile(r"np\.(\w+)\(self(, other|, exponent)?\)")


@each(
    "form",
    [
        pytest.param(f, id=f.id)
        for f in FORMS
        if PLAIN.fullmatch(f.record.tests.reference or "") and "." not in f.id
    ],
)
def test_real_values_are_those_of_c(form):
    """NumPy calls the C library, which follows C99; this needs no torch."""
    function = getattr(np, PLAIN.fullmatch(form.record.tests.reference)[1])
    for dtype in [n for n in form.dtypes if CLASS_OF[n] == "f"]:
        arrays, found = ours(form.id, dtype)
        rest = iter(arrays)
        given = [x if isinstance(x, (int, float)) else next(rest) for x in form.template]
        wanted = classes(function(*given))
        where = classes(found["value"]) != wanted
        if function in (np.fmax, np.fmin):  # C leaves open which zero it is
            where &= (arrays[0] != 0) | (arrays[1] != 0)
        for entry in form.record.tests.special:
            if "value" in entry.orders:
                where &= ~listed(form, dtype, arrays, entry)
        assert not where.any(), shown(arrays, found["value"], wanted, where)


# The numbers that nan_to_num puts in are those of the dtype.
HALVES = [f for f in FORMS if "h" in f.record.call.dtypes and f.name != "nan_to_num"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@each("form", [pytest.param(f, id=f.id) for f in HALVES])
def test_half_types_have_the_rounded_values_of_float32(form, dtype):
    arrays = [a if a.dtype == bool else a.astype(NUMPY[dtype]) for a in grid(form, "float32")]
    value = form(ag, [tensor(a) for a in arrays])
    wide = form(ag, [tensor(a if a.dtype == bool else a.astype("float32")) for a in arrays])
    found, wanted = to_array(value).astype("float32"), to_array(wide)
    if wanted.dtype != bool:
        wanted = wanted.astype(NUMPY[dtype]).astype("float32")
        np.testing.assert_array_equal(classes(found), classes(wanted))
    # Of numbers given as such each dtype has its own rounding (logit with eps).
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    np.testing.assert_allclose(found.astype("float32"), wanted.astype("float32"), rtol=2 * eps)


def test_every_public_elementwise_operator_has_a_form():
    """The grid has every operator with an elementwise kernel, or that SciPy computes element by
    element."""
    covered = {f.record.key for f in FORMS} | {f.name for f in FORMS}
    missing = [
        r.key
        for r in RECORDS
        if (type(r.kernel).__name__ == "elementwise" or isinstance(r.kernel, schema.host))
        and r.batching.vmap == "elementwise"
        and r.namespace in ("", "special")
        and any(c in r.call.dtypes for c in "fc")
        and public(ag, r.presentation.shown_as or r.name) is not None
        and not {r.key, r.presentation.shown_as or r.name} & covered
    ]
    # A weight for each channel is no operand like the other; tests/distributions has draws.
    drawn = {"_dirichlet_grad", "_standard_gamma_grad", "_gamma_drawn", "_poisson_drawn"}
    assert set(missing) <= {"_prelu_kernel"} | drawn


@pytest.mark.parametrize(
    "special",
    [
        schema.differs("third", "self == 0", "a reason"),
        schema.differs("", "self == 0", "a reason"),
        schema.differs("value", "self ==", "a reason"),
        schema.differs("value", "self == 0", ""),
        ("value",),
    ],
)
def test_a_difference_that_says_too_little_is_refused(special):
    with pytest.raises(schema.RecordError, match="cube: special="):
        schema.op(
            "cube(self)",
            kernel=schema.elementwise("cube"),
            vjp=schema.nondiff("a reason"),
            vmap="elementwise",
            samples=schema.UNARY,
            doc="Cube.",
            reference="self**3",
            special=special,
        )
    assert all(r.name != "cube" for r in schema.TABLE)
