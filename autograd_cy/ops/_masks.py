"""The records of masks, and of what is not zero, for the family indexing."""

from autograd_cy.ops._schema import (
    arg,
    booleans,
    by_test,
    call,
    composite,
    integers,
    nondiff,
    op,
    refuse,
    sample,
)

op(
    "masked_fill(self, mask, value: operand)",
    checks="mask",
    kernel=call("special.masked_fill", anywhere=True, into=True),
    inplace=True,
    out=False,
    vjp={"self": "masked_fill(grad, mask, 0)", "value": "where(mask, grad, 0)"},
    jvp={"self": "masked_fill(self_t, mask, 0)", "value": "where(mask, value_t, zeros_like(self))"},
    vmap="elementwise",
    node="MaskedFillBackward0",
    variants={"MaskedFillBackward1": "not is_number(value)"},
    plain_numbers=("value",),
    dtypes="biuhfc",
    samples=[
        sample((arg((3, 4)), arg((3, 4), booleans(), False), 1)),
        sample((arg((4,)), arg((3, 1), booleans(), False), 0)),
        sample((arg((3, 4)), arg((4,), booleans(), False), arg(()))),
    ],
    reference="np.where(mask, np.asarray(value).astype(self.dtype), self)",
    doc="`value` where `mask` is true.",
    example=(
        ">>> ag.masked_fill(ag.tensor([1, 2, 3]), ag.tensor([True, False, True]), 0)\n"
        "tensor([0, 2, 0])"
    ),
)

op(
    "_fill_where(self, mask, value: operand)",
    shown_as="index_fill",
    checks="mask",
    kernel=call("special.fill_where", anywhere=True, into=True),
    inplace=True,
    out=False,
    vjp={"self": "masked_fill(grad, mask, 0)", "value": "where(mask, grad, 0)"},
    jvp={"self": "_fill_where(self_t, mask, 0)", "value": "where(mask, value_t, zeros_like(self))"},
    vmap="elementwise",
    node="MaskedFillBackward0",
    variants={"MaskedFillBackward1": "not is_number(value)"},
    plain_numbers=("value",),
    dtypes="biuhfc",
    doc="masked_fill whose result has the memory format of `self`.",
)

op(
    "masked_scatter(self, mask, source)",
    kernel=composite("indexing.masked_scatter"),
    inplace=True,
    samples=[],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_masked_scatter_takes_elements_in_order"
    ),
    doc="A copy of `self` with the elements of `source`, in order, where `mask` is true.",
    example=(
        ">>> ag.masked_scatter(ag.zeros(3), ag.tensor([True, False, True]), "
        "ag.tensor([1.0, 2.0]))\n"
        "tensor([1., 0., 2.])"
    ),
)

op(
    "masked_select(self, mask)",
    checks="selection",
    kernel=composite("indexing.masked_select"),
    out="exact",
    samples=[
        sample((arg((3, 4)), arg((3, 4), booleans(), False))),
        sample((arg((3, 4)), arg((4,), booleans(), False))),
    ],
    reference="self[np.broadcast_to(mask, self.shape)]",
    doc="The elements where `mask` is true, as a vector.",
    example=(
        ">>> ag.masked_select(ag.tensor([1, 2, 3]), ag.tensor([True, False, True]))\ntensor([1, 3])"
    ),
)

for _name, _options in (
    ("nonzero", {"as_tuple: bool = False": "_nonzero_tuple"}),
    ("argwhere", {}),
):
    op(
        f"{_name}(self)",
        options=_options,
        kernel=call(
            "indexing.nonzero",
            shape="rules_indexing.true_places(self, sizes)",
            sized="indexing.count_nonzero",
        ),
        out="exact" if _options else False,
        vjp=nondiff("the result is indices"),
        vmap=refuse(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            f"to vmap over {_name}; use where() with the condition instead."
        ),
        dtypes="biuhfc",
        samples=[sample((arg((3, 4), integers(0, 2)),))],
        reference="np.argwhere(self)",
        doc="Indices of the elements that aren't zero, one row each.",
        example=f">>> ag.{_name}(ag.tensor([0, 3, 4]))\ntensor([[1],\n        [2]])",
    )

op(
    "_nonzero_tuple(self, as_tuple: bool) -> Tensor[]",
    kernel=composite("indexing.nonzero_tuple"),
    doc="nonzero, as one vector of indices per dimension.",
)

op(
    "_refuse_where(self, mask, text: str)",
    kernel=call("iterate.clone_plain", ("self",), anywhere=True),
    out=False,
    node="ErrorBackward0",
    vjp={"self": "_raise_where(grad, mask, text)"},
    jvp={"self": "_raise_where(self_t, mask, text)"},
    vmap="_refuse_where(self, mask, text)",
    dtypes="biuhfc",
    doc="`self`, whose derivative is an error if an element of `mask` is set.",
)

op(
    "_raise_where(self, mask, text: str)",
    kernel=composite("indexing.raise_where"),
    doc="`self`, or an error if an element of `mask` is set.",
)
