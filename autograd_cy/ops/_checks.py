"""The checks of a record before it goes into the table, and the values that follow from others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograd_cy.ops._kernels import call, composite, elementwise, host
from autograd_cy.ops._record import AUTOCAST, Arg, Record, RecordError, parse_signature
from autograd_cy.ops._rules import nondiff
from autograd_cy.ops._samples import ORDERS, by_test, differs
from autograd_cy.ops._texts import text_of_parameter

# --- values that follow from others ---


def complete(r: Record) -> Record:
    """Return the record with the values that it leaves to others."""
    r = r.replace(**_rules_of_parts(r), **_forms(r), node=r.derivatives.node or _node(r))
    r = r.replace(special=_each_special(r), samples=tuple(r.tests.samples or ()))
    r = r.replace(raises=tuple(dict(r.presentation.raises).items()))
    return r.replace(params=_texts(r))


def _rules_of_parts(r: Record) -> dict[str, object]:
    """The rules of a composite are those of its parts; a reason against vjp is one against jvp."""
    vjp, jvp, vmap = r.derivatives.vjp, r.derivatives.jvp, r.batching.vmap
    if isinstance(r.kernel, composite):
        vjp, jvp, vmap = (rule or "composite" for rule in (vjp, jvp, vmap))
    return {"vjp": vjp, "jvp": jvp or vjp, "vmap": vmap}


def _forms(r: Record) -> dict[str, object]:
    """A private operator has no method; a kernel that makes one result has an ``out=`` form."""
    method = not r.name.startswith("_") and (not r.namespace or bool(r.call.aliases))
    out = r.call.out
    if out is None:
        single = r.returns == ("result",) or r.tier == "interpreted"
        out = isinstance(r.kernel, elementwise | call | host) and r.returns != ("*",) and single
    options = tuple(
        (parse_signature(f"option(*, {text})")[2][0], key)
        for text, key in dict(r.call.options).items()
    )
    return {"method": r.call.method and method, "out": out, "options": options}


def _node(r: Record) -> str:
    """The name of the node's class."""
    within = [] if r.namespace == "nn.functional" else r.namespace.split(".")
    words = [*within, *r.name.strip("_").split("_")]
    return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"


def _each_special(r: Record) -> tuple[differs, ...]:
    special = r.tests.special
    return (special,) if isinstance(special, differs) else tuple(special)


def _texts(r: Record) -> dict[str, str]:
    """The meaning of each argument: the record's own words, or those of all records."""
    params = dict(r.presentation.params)
    for a in _parameters(r):
        if r.public and a.name not in params:
            text = text_of_parameter(a.name, a.type)
            if text is None:
                raise RecordError(
                    f"{r.label}: no text for {a.name!r}; say in params= what it means"
                )
            params[a.name] = text
    return params


def _parameters(r: Record) -> list[Arg]:
    """The arguments of the signature and those that only the Python forms know."""
    return [*r.args, *(a for a, _ in r.call.options)]


# --- checks ---


def check_fields(r: Record) -> None:
    """Raise RecordError for the first mistake in the fields of a record."""
    for problems in (
        _rules,
        _doc,
        _tier,
        _changes,
        _names,
        _samples,
        _gradients,
        _batching,
        _special,
    ):
        for problem in problems(r):
            raise RecordError(f"{r.label}: {problem}")


def check_in_table(r: Record, table: list[Record]) -> None:
    """Raise RecordError if a complete record doesn't fit into the table."""
    for problem in _presentation(r, table):
        raise RecordError(f"{r.label}: {problem}")
    if any(other.key == r.key for other in table):
        raise RecordError(f"{r.label}: defined twice")
    if any(o.symbol == r.symbol and o.call.autocast != r.call.autocast for o in table):
        raise RecordError(
            f"{r.label}: autocast={r.call.autocast!r}, but another record of this name differs"
        )


def _rules(r: Record) -> Iterator[str]:
    if isinstance(r.kernel, composite):
        return
    vjp, jvp, vmap = r.derivatives.vjp, r.derivatives.jvp, r.batching.vmap
    for rule, value in (("vjp", vjp), ("jvp", jvp), ("vmap", vmap)):
        if value is None and not (rule == "jvp" and isinstance(vjp, nondiff)):
            yield f"no {rule}; give a formula or say why there is none"


def _doc(r: Record) -> Iterator[str]:
    if not r.presentation.doc:
        yield "no doc"
    reference = r.tests.reference
    if isinstance(reference, str) and not _is_expression(reference):
        yield f"reference= is an expression or by_test(...), not {reference!r}"


def _is_expression(text: str) -> bool:
    try:
        compile(text, "record", "eval")
    except SyntaxError:
        return False
    return True


def _tier(r: Record) -> Iterator[str]:
    if r.tier not in ("compiled", "interpreted"):
        yield f"a tier is compiled or interpreted, not {r.tier!r}"
    if isinstance(r.kernel, host) and r.tier != "interpreted":
        yield 'a host kernel is for tier="interpreted"'
    if r.call.autocast not in (None, *AUTOCAST):
        yield f"autocast= is one of {', '.join(AUTOCAST)}, not {r.call.autocast!r}"


def _changes(r: Record) -> Iterator[str]:
    """Mistakes in the arguments that the kernel changes."""
    types = {a.name: a.type for a in r.args}
    for name, condition in r.call.changes:
        if types.get(name) not in ("Tensor", "Tensor?", "Tensor[]"):
            yield f"mutates names {name!r}, which is no tensor among the arguments"
        elif r.tier == "interpreted" and (condition or types[name] == "Tensor[]"):
            yield (
                'lists that are changed, and what is changed at times only, need tier="compiled"'
            )
    checked = isinstance(r.kernel, call) and r.kernel.shape
    if not r.returns and not (r.call.mutates and checked):
        yield (
            "an operator without results changes arguments (mutates=), "
            "and has a shape rule that checks them"
        )
    if r.call.mutates and r.call.inplace:
        yield "mutates and inplace don't go together"


def _names(r: Record) -> Iterator[str]:
    if r.call.dispatched_as and not r.call.dunder:
        yield "dispatched_as= is about the Python operator that dunder= names"
    if r.call.dunder and r.namespace:
        yield f"a Python operator is of the top level, not of {r.namespace!r}"


def _samples(r: Record) -> Iterator[str]:
    by_hand = r.name.startswith("_") or isinstance(r.tests.reference, by_test)
    if r.tests.samples is None and not by_hand:
        yield "no samples"


def _batching(r: Record) -> Iterator[str]:
    """Mistakes in the sets of arguments for which there are vmap rules."""
    names = [a.name for a in r.args]
    rules = r.batching.vmap if isinstance(r.batching.vmap, dict) else {}
    for keys in rules:
        for name in keys if isinstance(keys, tuple) else (keys,):
            if name not in names:
                yield f"vmap names {name!r}, which is no argument"


def _gradients(r: Record) -> Iterator[str]:
    names = [a.name for a in r.args]
    for name in r.derivatives.differentiable:
        if name not in names:
            yield f"vjp names {name!r}, which is no argument"
    for key, inputs in r.derivatives.stays.items():
        for name in (key, *inputs):
            if name not in r.derivatives.differentiable:
                yield f"stays names {name!r}, which has no gradient"


def _special(r: Record) -> Iterator[str]:
    """Mistakes in the special values, each of which names known results and has a reason."""
    for entry in _each_special(r):
        if not isinstance(entry, differs) or not _names_orders(entry.orders):
            yield f"special= takes differs(...) of {', '.join(ORDERS)}"
        elif not entry.reason:
            yield "special= without a reason"
        elif not _is_expression(entry.where):
            yield f"special= can't be read: {entry.where!r}"


def _names_orders(orders: tuple[str, ...]) -> bool:
    return bool(orders) and set(orders) <= {*ORDERS}


def _presentation(r: Record, table: list[Record]) -> Iterator[str]:
    flops, params = r.presentation.flops, r.presentation.params
    if flops and re.search(r"[\[:]\s*-", flops):
        yield f"flops= counts sizes from the front, size[len(size) - 1]: {flops}"
    known = [a.name for a in _parameters(r)] + ["alpha"] * bool(r.call.alpha) + ["out"]
    for param in params:
        if param not in known:
            yield f"params= names {param!r}, which is no argument"
    if r.tests.reference is None and not r.name.startswith("_"):
        yield (
            "no reference; give an expression, or by_test(...) with the test that compares values"
        )
    if r.public and not r.presentation.example and not any(o.symbol == r.symbol for o in table):
        yield "no example; give a session of a line or two that shows a result"
