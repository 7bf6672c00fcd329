"""Derivative formulas of records as values: the names they use, what the engine makes of them."""

import numpy as np
from calls import CLASS_OF, EVALUATOR, make, outputs, tensor, to_array
from derivatives import differentiable_outputs


def with_formulas(record):
    return isinstance(record.derivatives.vjp, dict) and any(c in record.call.dtypes for c in "fc")


def formula_names(call, weights):
    """The names a vjp formula may use, with plain tensors as values."""
    record = call.record
    args, kwargs = call.arguments(call.tensors())
    names = EVALUATOR.names(record, args, kwargs)
    result = call(call.tensors())
    rest = iter(tensor(w) for w in weights)
    smooth = {id(t) for t in differentiable_outputs(call, result)}
    given = [next(rest) if id(t) in smooth else None for t in outputs(result)]
    if record.returns == ("*",):
        names["grads"] = tuple(given)
    elif len(record.returns) == 1:
        names |= {"grad": given[0], "result": result, record.returns[0]: result}
    else:
        for name, t, g in zip(record.returns, outputs(result), given):
            names |= {name: t, f"grad_{name}": g, f"given_{name}": g}
    return names


def fitted(gradient, array):
    """Treat the value of a formula as the engine does: sum out broadcasting, keep real parts."""
    g = to_array(gradient)
    if array.dtype.kind != "c":
        g = np.real(g)
    extra = g.ndim - array.ndim
    g = g.sum(axis=tuple(range(extra))) if extra > 0 else g
    axes = tuple(i for i, n in enumerate(array.shape) if n == 1 and g.shape[i] != 1)
    return np.broadcast_to(g.sum(axis=axes, keepdims=True), array.shape)


def evaluate(call, names, tree, evaluator=EVALUATOR):
    """Gradients of the leaves behind one formula, as arrays, by leaf number."""
    key, formula = tree
    if isinstance(key, tuple):
        wanted = tuple(any(call.leaves[i].name == name for i in call.moving) for name in key)
        values = evaluator.evaluate(formula, names | {"needed": wanted})
        found = {}
        for name, value in zip(key, values, strict=True):
            for i in call.moving:
                if call.leaves[i].name == name:
                    found[i] = fitted(value, call.arrays[i])
        return found
    places = [i for i in call.moving if call.leaves[i].name == key]
    if not places and names.get(key) is None:  # nothing is given, of which a formula may ask
        return {}
    value = evaluator.evaluate(formula, names)
    if isinstance(value, tuple):
        value = [value[call.leaves[i].place] for i in places]
    else:
        value = [value] * len(places)
    return {i: fitted(v, call.arrays[i]) for i, v in zip(places, value)}


def calls_of(case):
    for name in ("float64", "complex128"):
        if CLASS_OF[name] in case.record.call.dtypes:
            call = make(case, name)
            if call.moving and differentiable_outputs(call, call(call.tensors())):
                yield call
