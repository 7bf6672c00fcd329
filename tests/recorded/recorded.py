"""Calls with the answers that torch has, by the part of the sources that they ask.

A file of `calls/` has a call in a line and the answer in the next, indented: dtype, shape, strides
where they are not those of rows, and the elements, or two sums of them if they are many. Of what
is refused it has the type and the words, which are ours. Lines that begin with `> ` are statements
that run before the call which follows them. A call after `~` is answered otherwise by torch, or is
none of torch's. The line before the first of several such calls, after `# ~ `, says why; the first
line of a file says it of all its calls; what asks for parts of this package alone, by `op` or by
name, needs no reason. `Open:` is no reason, but says how torch's answer differs from ours.
`python -m tests.recorded.recorded [FILE ...]` writes the answers, those of torch, and says where ours
differ.
"""

import ast
import copy
import functools
import importlib
import math
import pickle
import re
import sys
import warnings
from pathlib import Path

import numpy

FOLDER = Path(__file__).parent / "calls"
FILES = sorted(FOLDER.rglob("*.txt"))
SHOWN = 16  # elements that are written one by one
NUMBER = re.compile(r"(?<![\w.])(-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan))(?![\w.])")


def of_2017(lib):
    """The namespace for programs of 2017, which torch has not, and what its calls speak of."""
    era = getattr(lib, "legacy", None)
    if era is None:
        return {}

    def old(*shape):
        """1, 2, ... as a FloatTensor."""
        return era.range(1, math.prod(shape)).view(*shape)

    def slopes(function, *xs):
        """Gradients of what is made of Variables, its elements weighted by 1, 2, ..."""
        leaves = [era.Variable(x.double(), requires_grad=True) for x in xs]
        found = function(*leaves)
        found.backward(old(*found.size()).type_as(found.data))
        return [None if x.grad is None else x.grad.data for x in leaves]

    return {"L": era, "V": era.Variable, "old": old, "slopes": slopes}


def names(lib):
    """What calls speak of, of a library."""
    func = lib.func

    def counted(*shape, dtype=lib.float32):
        return lib.arange(math.prod(shape)).to(dtype).reshape(shape)

    def wave(*shape, dtype=lib.float64, turn=0.3):
        """Numbers between -1 and 1 that look like any."""
        found = (lib.arange(math.prod(shape), dtype=lib.float64) * 1.7 + turn).sin()
        return (found if dtype is lib.float64 else found.to(dtype)).reshape(shape)

    def complex_wave(*shape, dtype=lib.complex128, turn=0.3):
        return (wave(*shape, turn=turn) + 1j * wave(*shape, turn=turn + 1)).to(dtype)

    def mix(x):
        """A number that depends on each element and on its place."""
        found = (x.to(lib.float64) * wave(*x.shape, turn=1.1)).sum()
        return found.to(x.dtype) if x.is_floating_point() else found

    def stepped(name, parameters, n=3, skip=(), **options):
        """Parameters after n steps of an optimizer; `skip` has (step, place) without gradient."""
        parameters = [p.detach().requires_grad_() for p in parameters]
        optimizer = getattr(lib.optim, name)(parameters, **options)
        for k in range(n):
            for j, p in enumerate(parameters):
                made = complex_wave if p.is_complex() else wave
                p.grad = made(*p.shape, dtype=p.dtype, turn=k + j)
                if (k, j) in skip:
                    p.grad = None
            optimizer.step()
        found = [p.detach() for p in parameters]
        found = [mix(lib.view_as_real(p) if p.is_complex() else p) for p in found]
        return found, [p._version > 0 for p in parameters]

    def tried(function, start, n=1, **options):
        """How many places LBFGS with a line search tries, the first of them, a sum, the last."""
        x = lib.tensor(start, dtype=lib.float64, requires_grad=True)
        optimizer = lib.optim.LBFGS([x], line_search_fn="strong_wolfe", **options)
        seen = []

        def closure():
            optimizer.zero_grad()
            loss = function(x)
            loss.backward()
            seen.append(float(x.detach().sum()))
            return loss

        for _ in range(n):
            optimizer.step(closure)
        told = sum(value * math.cos(k) for k, value in enumerate(seen))
        return [len(seen), *seen[:9], told, *x.tolist()]

    def seeds(found):
        return wave(*found.shape, turn=0.9).to(found.dtype)

    def total(function, leaves):
        found = function(*leaves)
        found = [found] if isinstance(found, lib.Tensor) else found
        return sum((y * seeds(y)).sum() for y in found if y.requires_grad)

    def dense(found):
        """The strides of gradients are nobody's concern."""
        return [x if x is None else x.contiguous() for x in found]

    def chosen(xs):
        return [x.detach().clone().requires_grad_(True) for x in xs]

    def gradients(function, *xs):
        """Of results with weights that look like any."""
        leaves = chosen(xs)
        return dense(lib.autograd.grad(total(function, leaves), leaves, allow_unused=True))

    def second(function, *xs):
        leaves = chosen(xs)
        first = lib.autograd.grad(total(function, leaves), leaves, create_graph=True)
        first = sum((g * seeds(g)).sum() for g in first)
        return dense(lib.autograd.grad(first, leaves, allow_unused=True))

    def moved(function, *xs):
        """The tangent of the result, where that of each operand looks like any."""
        found = func.jvp(function, xs, tuple(map(seeds, xs)))[1]
        return dense([found] if isinstance(found, lib.Tensor) else found)

    def curved(function, *xs):
        """Forward over reverse."""
        return moved(func.grad(lambda *xs: (function(*xs) ** 2).sum()), *xs)

    def whole(*shape, dtype=lib.float32, turn=0.3):
        """Whole numbers from -3 to 3, whose sums no order of them changes."""
        return (wave(*shape, turn=turn) * 3.5).round().to(dtype)

    def ways(function, *xs, told=lambda x: x):
        """Of a result and its gradients a sum each, with weights that look like any."""
        leaves = chosen(xs)
        found = function(*leaves)
        found = [found] if isinstance(found, lib.Tensor) else list(found)
        real = [lib.view_as_real(y) if y.is_complex() else y for y in found]
        # Gradients that lie in memory as the results do.
        laid = [lib.empty_like(y).copy_(whole(*y.shape)) for y in real]
        aim = sum((y * g).sum() for y, g in zip(real, laid, strict=True) if y.requires_grad)
        found += [x for x in lib.autograd.grad(aim, leaves, allow_unused=True) if x is not None]
        return sums(*found, told=told)

    def exact(function, *xs):
        """The same of whole numbers, which come out as such."""
        return ways(function, *xs, told=lambda x: x.round())

    def sums(*found, told=lambda x: x):
        found = [lib.view_as_real(x) if x.is_complex() else x for x in found]
        values = [(told(x.double()) * wave(*x.shape, turn=0.5)).sum() for x in found]
        return lib.stack(values).float().detach()

    def op(name):
        """An operator that has no public name."""
        if name not in (families := families_of_operators()):
            raise LookupError(name)
        return getattr(importlib.import_module(f"autograd_cy._C.ops_{families[name]}"), name)

    def facts(x):
        """What can be asked of a tensor besides its elements."""
        node = x.grad_fn and type(x.grad_fn).__name__
        place = x.storage_offset(), x.stride(), x._version, x._is_view()
        return (x.is_leaf, x.requires_grad, node, *place)

    def edges(node):
        """The names of the nodes that gradients go to, and of which output."""
        return [(n and type(n).__name__, nr) for n, nr in node.next_functions]

    def event(function):
        """The name and the shapes of the first event of a call."""
        with lib.autograd.profiler.profile(record_shapes=True) as seen:
            function()
        return seen.function_events[0].name, seen.function_events[0].input_shapes[0]

    def raised(function, *arguments):
        """The name of what a call raises, None if nothing."""
        try:
            function(*arguments)
        except Exception as error:
            return type(error).__name__

    def warned(function, *arguments):
        """The names of the warnings of a call, and what it returns."""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            value = function(*arguments)
        return [w.category.__name__ for w in found], value

    def events(function, *arguments):
        """What the profiler calls what a call did; the first is the call itself."""
        with lib.autograd.profiler.profile() as seen:
            function(*arguments)
        return [event.name for event in seen.function_events]

    def filled(module):
        """A module whose parameters look like any, in float64."""
        module.double()
        for place, parameter in enumerate(module.parameters()):
            parameter.data.copy_(wave(*parameter.shape, turn=place + 0.5))
        return module

    def sgd(*rates, begun=None, **options):
        """An optimizer with a group of one parameter for each rate, maybe of an earlier run."""
        groups = [{"params": [lib.zeros(1, requires_grad=True)], "lr": rate} for rate in rates]
        for group in groups if begun else ():
            group["initial_lr"] = begun
        return lib.optim.SGD(groups, **options)

    def steps(schedule, epochs):
        """The rates of so many steps, or of each of some: what is said, what groups have."""
        found = []
        for epoch in [None] * (epochs + 1) if isinstance(epochs, int) else ["begin", *epochs]:
            if found:
                schedule.optimizer.step()
                schedule.step(*() if epoch is None else [epoch])
            found += schedule.get_last_lr()
            for group in schedule.optimizer.param_groups:
                found += float(group["lr"]), *group.get("betas", [group.get("momentum")])
        return found

    return {
        **of_2017(lib),
        "facts": facts, "edges": edges, "event": event, "events": events,
        "raised": raised, "warned": warned, "np": numpy, "math": math,
        "copy": copy, "pickle": pickle,
        "torch": lib, "nn": lib.nn, "F": lib.nn.functional, "t": lib.tensor, "m": counted,
        "mix": mix, "stepped": stepped, "tried": tried,
        "w": wave, "cw": complex_wave, "grad": gradients, "grad2": second, "jvp": moved,
        "curved": curved, "ways": ways, "exact": exact, "sums": sums, "whole": whole,
        "vmap": func.vmap, "empty": lib.empty, "zeros": lib.zeros, "ones": lib.ones, "op": op,
        "inf": math.inf, "nan": math.nan, "f16": lib.float16, "bf16": lib.bfloat16,
        "f32": lib.float32, "f64": lib.float64, "i64": lib.int64, "i32": lib.int32,
        "u8": lib.uint8, "boolean": lib.bool, "c64": lib.complex64, "c128": lib.complex128,
        "last": lib.channels_last,
        "data": lib.utils.data, "sgd": sgd, "lr": lib.optim.lr_scheduler, "steps": steps,
        "filled": filled,
    }  # fmt: skip


@functools.cache
def families_of_operators():
    """Once: the table is checked whenever it is loaded, which takes longer than a call."""
    from ext.codegen import table

    return {record.key: family for family, found in table.load().items() for record in found}


def answer(lib, call, known):
    """What the call gives in a library, as a line of text."""
    *before, call = call.split("\n")
    known = dict(known)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(before), known)
            return shown(lib, eval(call, known))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def shown(lib, found):
    if isinstance(found, lib.Tensor):
        found = found.detach()
        if hasattr(found, "resolve_conj"):
            found = found.resolve_conj().resolve_neg()
        head = str(found.dtype).rpartition(".")[2] + str(list(found.shape)).replace(" ", "")
        if not found.is_contiguous():
            head += str(found.stride()).replace(" ", "")
        return " ".join([head, *digits(lib, found)])
    if isinstance(found, (tuple, list)):
        return " | ".join(shown(lib, x) for x in found) or "[]"
    return repr(found).removeprefix(f"{lib.__name__}.").replace("\n", "\\n")  # dtypes by name


def digits(lib, found):
    if found.is_complex():
        found = lib.view_as_real(found)
    values = found.reshape(-1).tolist()
    if len(values) > SHOWN:
        values = [sum(values), sum(x * math.cos(k) for k, x in enumerate(values))]
        return ["~", *(f"{float(x):.8g}" for x in values)]
    return [f"{float(x):.7g}" for x in values]


def like(found, wanted):
    """Whether two answers are the same, numbers but for rounding."""
    if "Error: " in wanted.partition(" ")[0] + " ":
        # Python 3.14 has one text for division of all kinds of numbers.
        return len({x.replace("float division", "division") for x in (found, wanted)}) == 1
    left, right = NUMBER.split(found), NUMBER.split(wanted)
    if len(left) != len(right) or left[::2] != right[::2]:
        return False
    close = 1e-2 if "float16" in wanted else 3e-5 if "32[" in wanted or "x64[" in wanted else 1e-7
    for a, b in zip(left[1::2], right[1::2], strict=True):
        a, b = float(a), float(b)
        near = math.isfinite(b) and abs(a - b) <= close * (1 + abs(b))
        if not (near or a == b or (a != a and b != b)):
            return False
    return True


@functools.cache
def read(path):
    """(statements and call, whether torch's, answer) of each call; comments are none."""
    found, before = [], []
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            found[-1][2] = line.strip()
        elif line.startswith(">"):
            before.append(line[2:])
        elif line.strip() and not line.startswith("#"):
            found.append(["\n".join([*before, line.removeprefix("~ ")]), line[:2] != "~ ", ""])
            before = []
    assert not before, before
    return found


def reasons(path):
    """(call, why torch answers otherwise) of each call after `~`; "" where nothing says it."""
    lines = path.read_text().splitlines()
    of_all = lines[0][4:] if lines[0].startswith("# ~ ") else ""
    why, before, found = of_all, [], []
    for line in lines:
        if line.startswith("~ "):
            call, before = "\n".join([*before, line[2:]]), []
            ours = re.search(r"\bop\(|\bautograd_cy\b", call)
            found.append((call, why or (ours and "a part of this package alone") or ""))
        elif line.startswith(">"):
            before.append(line[2:])
        elif not line.startswith("    "):
            before, why = [], line[4:].strip() if line.startswith("# ~ ") else of_all
    return found


def refused(text):
    return re.match(r"(\w+): ", text) if "Error: " in text.partition(" ")[0] + " " else None


def mistake(call, found):
    """What is wrong with a call that has such an answer, None if nothing is."""
    if re.match(r"(Syntax|Indentation|Tab|Name|UnboundLocal)Error: ", found):
        return "no call at all"
    if re.match(r"TypeError: (of_2017|names)\.<locals>\.", found):
        return "a function of this file is called as it can't be"
    if re.match(r"AttributeError: module '(autograd_cy|torch)[\w.]*' has no attribute", found):
        return "no such function"
    if refused(found):
        asked = ast.parse(call.split("\n")[-1], mode="eval").body
        several = isinstance(asked, (ast.List, ast.Tuple)) and len(asked.elts) > 1
        if several or isinstance(asked, ast.ListComp):
            return "one refusal is the answer to all of a list; raised() is for one of them"
    return None


def agrees(ours, theirs):
    """Of refusals the type has to be the same."""
    a, b = refused(ours), refused(theirs)
    return a[1] == b[1] if a and b else not a and not b and like(ours, theirs)


def main(chosen):
    import torch

    import autograd_cy

    mine, theirs = names(autograd_cy), names(torch)
    for path in map(Path, chosen or FILES):
        lines, calls = [], iter(read(path))
        for line in path.read_text().splitlines():
            if line.startswith("    "):
                continue
            lines.append(line)
            if not line.strip() or line[0] in "#>":
                continue
            call, same, _ = next(calls)
            found = answer(autograd_cy, call, mine)
            if same:
                wanted = answer(torch, call, theirs)
                if not agrees(found, wanted):
                    print(f"{path.name}: {call}\n  ours   {found}\n  torch  {wanted}")
                found = found if refused(wanted) else wanted
            if wrong := mistake(call, found):
                print(f"{path.name}: {call}\n  {wrong}: {found}")
            lines.append("    " + found)
        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
