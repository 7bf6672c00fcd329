"""Every operator of the table on meta: what it gives on the CPU without values, or a refusal."""

import pytest
from grouping import each
from helpers import cases, make, meta_agrees, meta_gradients_agree, on_meta, one_dtype

from autograd_cy.ops import _schema as schema

# Composites of which a part needs values: sizes that a mask says, or a library of arrays.
OF_VALUES = {"masked_select", "linalg_solve"}


def needs_values(record):
    """Whether the results of a record, or their sizes, come from values alone."""
    kernel = record.kernel
    if isinstance(kernel, schema.host) or record.key in OF_VALUES:
        return True
    return isinstance(kernel, schema.call) and kernel.shape is None and not kernel.anywhere


EVERY = cases(lambda r: bool(r.samples) and any(a.is_tensor for a in r.args))
SIZED = [c for c in EVERY if not needs_values(c.values[0].record)]
VALUED = [c for c in EVERY if needs_values(c.values[0].record)]


@each("case", SIZED)
def test_results_are_sized_as_on_the_cpu(case):
    meta_agrees(case, one_dtype(case.record))


@each(
    "case",
    [c for c in SIZED if c.values[0].record.differentiable and "f" in c.values[0].record.dtypes],
)
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


@each("case", VALUED)
def test_what_needs_values_is_refused(case):
    call = make(case, one_dtype(case.record))
    tensors = [on_meta(t) for t in call.tensors()]
    with pytest.raises(NotImplementedError, match="meta"):
        call(tensors)
