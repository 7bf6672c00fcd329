"""The records of the reductions at indices, for the family indexing."""

from autograd_cy.ops._schema import arg, by_test, call, composite, integers, loop, op, sample

DOC = (
    '"prod", "mean", "amax" or "amin". Without `include_self` the old value of a slot that is '
    "reached doesn't count. Equal extremes share the gradient."
)


def _reduction(name, source, index, rule, doc, **own):
    """Add one record; `index` is the formula of indices in the shape of the sources."""
    rest = f"self, dim, {index}, {source}, result, reduce, include_self"
    gathered = f"_to_sources(gather(grad, dim, {index}), {rest}, '{name}', '{source}')"
    return op(
        f"{name}(self, dim: dim, index, {source}, reduce: str, *, include_self: bool = True)",
        out="exact",
        kernel=call(
            f"indexing.{name}",
            from_host=("index", source),
            over="self",
            places=True,
            shape=f"rules_indexing.{rule}(self, dim, index, {source}, reduce)",
        ),
        inplace=True,
        vjp={
            "self": f"_to_slots(grad, {rest})",
            source: f"_pad_corner({gathered}, {source}.shape)",
        },
        stays={"self": ("self",)},
        jvp={
            "self": f"_to_slots(self_t.conj(), {rest}).conj()",
            source: f"_sources_jvp({source}_t, {rest}, '{name}', '{source}')",
        },
        reference=by_test("tests/ops/test_selection.py::test_reductions_at_indices"),
        tolerance=1e-4,
        doc=f"Sources at the indices along a dimension, reduced into `self`: {doc}",
        **own,
    )


_reduction(
    "scatter_reduce",
    "src",
    "index",
    "reduced_at",
    f'"sum", {DOC}',
    dtypes="bihfc",
    vmap=(
        "scatter_reduce(self, dim + 1, index, src, reduce, include_self) if self.ndim > 1 else "
        "scatter_reduce(unsqueeze(self, 1), 1, unsqueeze(index, 1) if index.ndim == 1 else "
        "index, unsqueeze(src, 1) if src.ndim == 1 else src, reduce, "
        "include_self).reshape(self.shape)"
    ),
    samples=[
        sample((arg((3, 4)), 0, arg((2, 4), integers(0, 2), False), arg((2, 4)), order), more)
        for order in ("prod", "mean", "sum")
        for more in ({}, {"include_self": False})
    ],
    example=(
        ">>> ag.scatter_reduce(ag.ones(2), 0, ag.tensor([0, 0, 1]), "
        'ag.tensor([2.0, 3.0, 4.0]), "prod")\n'
        "tensor([6., 4.])"
    ),
)
_reduction(
    "index_reduce",
    "source",
    "_along(index, dim, source)",
    "rows_reduced",
    DOC,
    dtypes="bihf",
    vmap=loop("indices and slices are checked for each example"),
    samples=[
        sample((arg((3, 4)), 1, arg((5,), integers(0, 3), False), arg((3, 5)), order), more)
        for order in ("prod", "mean", "amax", "amin")
        for more in ({}, {"include_self": False})
    ],
    example=(
        ">>> ag.index_reduce(ag.ones(2), 0, ag.tensor([0, 0, 1]), "
        'ag.tensor([2.0, 3.0, 4.0]), "amax")\n'
        "tensor([3., 4.])"
    ),
)

op(
    "_to_slots(v, self, dim: int, index, src, result, reduce: str, include_self: bool)",
    kernel=composite("indexing.to_slots"),
    doc="A gradient or tangent of reductions at indices, as far as it belongs to `self`.",
)

op(
    "_to_sources(v, self, dim: int, index, src, result, reduce: str, include_self: bool, op: str, "
    "name: str)",
    kernel=composite("indexing.to_sources"),
    doc="A gradient of reductions at indices, as far as it belongs to the sources.",
)

op(
    "_sources_jvp(tangent, self, dim: int, index, src, result, reduce: str, include_self: bool, "
    "op: str, name: str)",
    kernel=composite("indexing.sources_jvp"),
    doc="The tangent of the slots from that of the sources.",
)

op(
    "_along(index, dim: int, other)",
    kernel=composite("indexing.along"),
    doc="Indices of slices as indices of elements, in the shape of `other`.",
)
