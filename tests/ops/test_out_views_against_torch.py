"""`out=` into views of every kind beside torch: what is refused, resized, warned about, written."""

import warnings

import numpy as np
import pytest
from calls import RECORDS, Case, make, outputs
from grouping import each
from out_places import VIEWS, outcome, possible
from test_out_against_torch import RANDOM, known, place
from varied import dtype_of

import autograd_cy as ag

torch = pytest.importorskip("torch")

from test_op_arguments_against_torch import as_torch  # noqa: E402

# Where torch grows memory that others see, or writes elements one over the other (and in some
# functions past the end of the memory): refused here, so torch isn't asked.
OURS_REFUSES = ("too_small", "overlapping", "expanded")
# What torch does otherwise, and why ours is as it is.
OTHERWISE = {
    "fft_fftfreq": "torch writes the negative frequencies beside the view",
    "nonzero": "columns, where those of the function without out= are rows",
    "linalg_inv": "columns, where those of the function without out= are rows",
    "linalg_solve": "columns, where those of the function without out= are rows",
    "linalg_qr": "columns, where those of the function without out= are rows",
    "linalg_solve_triangular": "columns, where those of the function without out= are rows",
    "addbmm": "torch doesn't warn",
    "narrow_copy": "torch doesn't warn",
    "nn_functional_logsigmoid": "torch doesn't warn",
    "kthvalue": "torch doesn't warn",
    "isin": "torch warns, as it resizes to no elements first",
}
# torch writes as if the view lay in rows, past its end.
BEYOND = ("nn_functional_avg_pool3d",)


def difference(ours, theirs, kind):
    if isinstance(ours, str) or isinstance(theirs, str):
        taken = "refused" if isinstance(ours, str) else "taken"
        return None if isinstance(ours, str) == isinstance(theirs, str) else f"{kind}: ours {taken}"
    for name, x, y in zip(("warned", "shape", "strides"), ours, theirs):
        if x != y:
            return f"{kind}: {name} {x}, torch {y}"
    if not np.allclose(ours[3] * 1.0, theirs[3] * 1.0, 1e-6, 1e-6, equal_nan=True):
        return f"{kind}: memory {ours[3].tolist()}, torch {theirs[3].tolist()}"
    return None


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if known(r) and r.key not in BEYOND])
def test_views_are_filled_resized_or_refused_as_in_torch(record):
    ours, theirs = place(ag, record), place(torch, record)
    faults = []
    for number in {0, len(record.tests.samples) - 1}:
        call = make(Case(record, number), dtype_of(record))
        args, kwargs = call.arguments(call.tensors())
        their_args = [as_torch(x) for x in args]
        their_kwargs = {k: as_torch(v) for k, v in kwargs.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = [
                    outputs(ours(*args, **kwargs)),
                    outputs(theirs(*their_args, **their_kwargs)),
                ]
                empty = [torch.empty(0, dtype=r.dtype) for r in results[1]]
                out = tuple(empty) if len(empty) > 1 else empty[0]
                theirs(*their_args, **their_kwargs, out=out)
            except (RuntimeError, TypeError, AttributeError):
                continue
        if record.name in RANDOM:
            continue
        for kind in VIEWS:
            for at in range(len(results[0])):
                if not possible(kind, tuple(results[0][at].shape)):
                    continue
                found = outcome(ag, ours, args, kwargs, results[0], kind, at)
                if kind not in OURS_REFUSES or not isinstance(found, str):
                    wanted = outcome(torch, theirs, their_args, their_kwargs, results[1], kind, at)
                    faults.append(difference(found, wanted, kind))
    faults = [f for f in faults if f]
    assert not faults or record.key in OTHERWISE, faults
    assert faults or record.key not in OTHERWISE, f"torch does the same: {record.key}"
