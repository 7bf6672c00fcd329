"""Inputs and summaries for the calls of `calls/`: tensors without randomness, checksums, facts.

The calls import them from here. Where torch makes the calls, a second copy of this module stands in
whose `torch` is PyTorch (`recorded.py`).
"""

import contextlib
import functools
import importlib
import math
import warnings

import autograd_cy as torch


@contextlib.contextmanager
def differs(reason):
    """Mark calls whose result in torch is another one, or which torch does not have."""
    assert reason
    yield


# --- tensors ----------------------------------------------------------------------------------


def iota(*shape, dtype=torch.float32):
    """Count 0, 1, 2, ... in rows."""
    return torch.arange(math.prod(shape)).to(dtype).reshape(shape)


def sines(*shape, dtype=torch.float64, phase=0.3):
    """Numbers between -1 and 1 without a pattern: sin(phase), sin(phase + 1.7), ..."""
    values = (torch.arange(math.prod(shape), dtype=torch.float64) * 1.7 + phase).sin()
    return (values if dtype is torch.float64 else values.to(dtype)).reshape(shape)


def complex_sines(*shape, dtype=torch.complex128, phase=0.3):
    """Complex numbers whose real and imaginary parts are `sines`."""
    return (sines(*shape, phase=phase) + 1j * sines(*shape, phase=phase + 1)).to(dtype)


def small_integers(*shape, dtype=torch.float32, phase=0.3):
    """Whole numbers from -3 to 3, whose sums are exact in any order."""
    return (sines(*shape, phase=phase) * 3.5).round().to(dtype)


# --- checksums: one number for a tensor with many elements ------------------------------------


def checksum(x):
    """A number that depends on each element and on its place."""
    total = (x.to(torch.float64) * sines(*x.shape, phase=1.1)).sum()
    return total.to(x.dtype) if x.is_floating_point() else total


def checksums(*tensors, transform=lambda x: x):
    """One number for each tensor, in float32."""
    tensors = [torch.view_as_real(x) if x.is_complex() else x for x in tensors]
    values = [(transform(x.double()) * sines(*x.shape, phase=0.5)).sum() for x in tensors]
    return torch.stack(values).float().detach()


def checksums_with_gradients(function, *operands, transform=lambda x: x):
    """Checksums of the results and of the gradients of all operands."""
    leaves = _leaves(operands)
    results = _as_list(function(*leaves))
    real = [torch.view_as_real(y) if y.is_complex() else y for y in results]
    # The gradients have the memory format of the results.
    incoming = [torch.empty_like(y).copy_(small_integers(*y.shape)) for y in real]
    pairs = zip(real, incoming, strict=True)
    loss = sum((y * g).sum() for y, g in pairs if y.requires_grad)
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
    results += [x for x in gradients if x is not None]
    return checksums(*results, transform=transform)


def exact_checksums(function, *operands):
    """Checksums of results and gradients that are whole numbers, freed from rounding."""
    return checksums_with_gradients(function, *operands, transform=lambda x: x.round())


# --- derivatives ------------------------------------------------------------------------------


def _as_list(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


def _leaves(tensors):
    return [x.detach().clone().requires_grad_(True) for x in tensors]


def _seed(x):
    """A gradient or tangent for x."""
    return sines(*x.shape, phase=0.9).to(x.dtype)


def _contiguous(tensors):
    """Drop the strides, which a gradient is free to choose."""
    return [x if x is None else x.contiguous() for x in tensors]


def _weighted_sum(function, leaves):
    results = _as_list(function(*leaves))
    return sum((y * _seed(y)).sum() for y in results if y.requires_grad)


def gradients(function, *operands):
    """The gradients of a weighted sum of the results."""
    leaves = _leaves(operands)
    loss = _weighted_sum(function, leaves)
    return _contiguous(torch.autograd.grad(loss, leaves, allow_unused=True))


def second_gradients(function, *operands):
    """The gradients of a weighted sum of `gradients`."""
    leaves = _leaves(operands)
    first = torch.autograd.grad(_weighted_sum(function, leaves), leaves, create_graph=True)
    loss = sum((g * _seed(g)).sum() for g in first)
    return _contiguous(torch.autograd.grad(loss, leaves, allow_unused=True))


def tangents(function, *operands):
    """The tangents of the results (jvp)."""
    return _contiguous(_as_list(torch.func.jvp(function, operands, tuple(map(_seed, operands)))[1]))


def forward_over_reverse(function, *operands):
    """The tangent of the gradient of the sum of squares."""
    return tangents(torch.func.grad(lambda *xs: (function(*xs) ** 2).sum()), *operands)


# --- optimizers and schedulers ----------------------------------------------------------------


def optimizer_steps(name, parameters, n=3, skip=(), **options):
    """Take n steps; return checksums of the parameters, and of each if its version has changed.

    `skip` has (step, index) of parameters without a gradient in that step.
    """
    parameters = [p.detach().requires_grad_() for p in parameters]
    optimizer = getattr(torch.optim, name)(parameters, **options)
    for step in range(n):
        for index, p in enumerate(parameters):
            values = complex_sines if p.is_complex() else sines
            p.grad = values(*p.shape, dtype=p.dtype, phase=step + index)
            if (step, index) in skip:
                p.grad = None
        optimizer.step()
    detached = [p.detach() for p in parameters]
    sums = [checksum(torch.view_as_real(p) if p.is_complex() else p) for p in detached]
    return sums, [p._version > 0 for p in parameters]


def line_search_trials(function, start, n=1, **options):
    """Run LBFGS with a line search: how many points it tries, the first nine, a sum, the last."""
    x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], line_search_fn="strong_wolfe", **options)
    points = []

    def closure():
        optimizer.zero_grad()
        loss = function(x)
        loss.backward()
        points.append(float(x.detach().sum()))
        return loss

    for _ in range(n):
        optimizer.step(closure)
    weighted = sum(value * math.cos(k) for k, value in enumerate(points))
    return [len(points), *points[:9], weighted, *x.tolist()]


def sgd_with_rates(*rates, begun=None, **options):
    """An optimizer with one group of one parameter for each rate.

    `begun` is the initial rate of an earlier run.
    """
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": rate} for rate in rates]
    for group in groups if begun else ():
        group["initial_lr"] = begun
    return torch.optim.SGD(groups, **options)


def scheduled_rates(scheduler, epochs):
    """Take so many steps, or a step to each of some epochs; list the rates and momenta of each."""
    rates = []
    for epoch in [None] * (epochs + 1) if isinstance(epochs, int) else ["begin", *epochs]:
        if rates:
            scheduler.optimizer.step()
            scheduler.step(*() if epoch is None else [epoch])
        rates += scheduler.get_last_lr()
        for group in scheduler.optimizer.param_groups:
            rates += float(group["lr"]), *group.get("betas", [group.get("momentum")])
    return rates


def fill_parameters(module):
    """The module in float64 with `sines` as parameters."""
    module.double()
    for index, parameter in enumerate(module.parameters()):
        parameter.data.copy_(sines(*parameter.shape, phase=index + 0.5))
    return module


# --- facts about tensors, nodes and calls -----------------------------------------------------


def metadata(x):
    """The properties of a tensor besides its elements."""
    node = x.grad_fn and type(x.grad_fn).__name__
    memory = x.storage_offset(), x.stride(), x._version, x._is_view()
    return (x.is_leaf, x.requires_grad, node, *memory)


def next_nodes(node):
    """The names of the nodes that gradients go to, each with the index of its output."""
    return [(n and type(n).__name__, index) for n, index in node.next_functions]


def first_event(function):
    """The name and the shapes of the first event of the profiler."""
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        function()
    return profile.function_events[0].name, profile.function_events[0].input_shapes[0]


def event_names(function, *arguments):
    """The names of all events of the profiler; the first is that of the call itself."""
    with torch.autograd.profiler.profile() as profile:
        function(*arguments)
    return [event.name for event in profile.function_events]


def error_name(function, *arguments):
    """The type of the exception that a call raises; None if it raises none."""
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__


def with_warnings(function, *arguments):
    """The types of the warnings that a call issues, and its result."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        value = function(*arguments)
    return [w.category.__name__ for w in issued], value


@functools.cache
def _families():
    """{operator: family}, read once: the table is checked whenever it is loaded."""
    from ext.codegen import table

    return {r.key: family for family, records in table.load().items() for r in records}


def operator(name):
    """An operator of this package that has no public name."""
    if name not in _families():
        raise LookupError(name)
    return getattr(importlib.import_module(f"autograd_cy._C.ops_{_families()[name]}"), name)


# --- programs of 2017 (autograd_cy.legacy, which torch does not have) -------------------------


def float_range(*shape):
    """A FloatTensor with 1, 2, ... in rows."""
    return torch.legacy.range(1, math.prod(shape)).view(*shape)


def legacy_gradients(function, *operands):
    """The gradients of a function of Variables whose results have the weights 1, 2, ..."""
    variable = torch.legacy.Variable
    leaves = [variable(x.double(), requires_grad=True) for x in operands]
    result = function(*leaves)
    result.backward(float_range(*result.size()).type_as(result.data))
    return [None if x.grad is None else x.grad.data for x in leaves]
