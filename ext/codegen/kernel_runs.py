"""Write how an operator with a shape rule runs: checks, memory for the results, kernel of the
device.

The kernel of the record `sum` is
``call("reduce.sum_into", ..., shape="rules_reduction.summed(...)")``. So the generated module has
a table of kernels, one column for each type of device, in which `sum` has a slot of type
``int (*)(Tensor, Tensor, ...) except -1``, and a function

    run_sum(self, ..., uint32_t flags, Tensor out, bint inplace)

which calls the shape rule, allocates the result or takes `out`, and calls the slot. The operator,
its ``out=`` form and its in-place form call it.

A record is sized if values decide the size of its results, as those of `nonzero` do. It has a
second slot, ``nonzero_sizes``, with the key ``nonzero.sizes``, which is called where the rule asks
for sizes, before there is memory.
"""

from __future__ import annotations

import re

from ext.codegen.formula import FormulaError
from ext.codegen.lines import indent
from ext.codegen.vocabulary import arg_type

OUT_KINDS = {"exact": "OUT_EXACT", "truth": "OUT_TRUTH", "joined": "OUT_JOINED"}
_RULE = re.compile(r"^(\w+)\.(\w+)\((.*)\)$", re.S)
_SIZES = re.compile(r"\bsizes\b")
_LITERALS = {"None": "object", "True": "bint", "False": "bint"}


def has_shape(record) -> bool:
    """Return whether the results of a record are made before its kernel runs."""
    return getattr(record.kernel, "shape", None) is not None


def kernel_args(record) -> list[str]:
    """The arguments that the kernel gets after its results."""
    kernel = record.kernel
    if kernel.args is not None:
        return list(kernel.args)
    return [a.name for a in record.args if not (kernel.draws and a.type == "Generator?")]


def c_type(record, text: str) -> str:
    """The C type of what a kernel gets: an argument, or a constant."""
    argument = next((a for a in record.args if a.name == text), None)
    if argument is not None:
        return arg_type(argument.type).c
    if text in _LITERALS:
        return _LITERALS[text]
    if re.fullmatch(r"-?\d+", text):
        return "int"
    if re.fullmatch(r"-?\d+\.\d*", text):
        return "double"
    raise FormulaError(f"{record.key}: a kernel gets arguments and constants, not {text!r}")


def is_sized(record) -> bool:
    """Tell whether values decide how large the results are."""
    return getattr(record.kernel, "sized", None) is not None


def signature(record) -> str:
    """The signature of the record's kernels, on whatever device."""
    types = ["Tensor"] * len(record.returns) + [
        c_type(record, text) for text in kernel_args(record)
    ]
    if record.kernel.draws:
        types.append("Tensor")  # the state of the generator
    if is_sized(record):
        types.append("list")  # the memo of counting
    return f"int ({', '.join(types)})"


def sizes_signature(record) -> str:
    """The signature of the functions that find sizes in values."""
    types = [c_type(record, text) for text in kernel_args(record)]
    return f"int ({', '.join([*types, 'Py_ssize_t*', 'list'])})"


def slots_of(records) -> list[tuple[str, str, str, str]]:
    """(key, name in C, signature, function of the CPU) of each slot."""
    slots = []
    for r in records:
        if has_shape(r):
            slots.append((r.key, r.key, signature(r), r.kernel.target))
        if is_sized(r):
            sizes = f"{r.key}.sizes", f"{r.key}_sizes", sizes_signature(r), r.kernel.sized
            slots.append(sizes)
    return slots


def rule_of(record) -> tuple[str, str, str]:
    """(module, function, arguments) of the shape rule."""
    match = _RULE.match(record.kernel.shape)
    if match is None:
        raise FormulaError(
            f"{record.key}: shape= is a call, as rules_x.f(self), not {record.kernel.shape!r}"
        )
    return match.group(1), match.group(2), match.group(3)


def kernel_slots(records) -> list[str]:
    """The table of kernels of a module: declarations, and the column of the CPU."""
    slots = slots_of(records)
    if not slots:
        return []
    lines = ["", "cdef struct Kernels:"]
    for _, name, form, _ in slots:
        lines.append(f"    int (*{name})({form.removeprefix('int ').strip('()')}) except -1")
    return [*lines, "", "cdef Kernels K[MAX_DEVICE_TYPES]", "memset(K, 0, sizeof(K))"]


def registration(records) -> list[str]:
    """Lines that fill the CPU's column and tell other devices where theirs is."""
    slots = slots_of(records)
    if not slots:
        return []
    lines = []
    for _, name, _, target in slots:
        lines.append(f"K[0].{name} = {target.replace('.', '_')}")
    keys = "".join(f'"{key}", ' for key, *_ in slots)
    signatures = "".join(f'"{form}", ' for _, _, form, _ in slots)
    return [*lines, f"add_slots(<void**>K, ({keys}), ({signatures}))"]


def read_tuple(
    record,
    without: str | None = None,
    also: tuple[str, ...] = (),
    indices: bool = True,
    from_host: bool = True,
) -> str:
    """Text of a tuple of all tensors that the kernel reads, and of some more."""
    names = [
        a.name
        for a in record.args
        if (indices if a.type == "indices" else a.is_tensor)
        and a.name != without
        and (from_host or a.name not in (*record.kernel.from_host, *record.kernel.on_host))
    ]
    return "(" + "".join(f"{name}, " for name in [*names, *also]).rstrip(" ") + ")"


def _following(record, action: str) -> list[str]:
    """Return `action` for the number of each output that is channels last if a tensor that it
    follows is."""
    lines = []
    for output, (names, where) in record.kernel.format_sources.items():
        condition = " or ".join(f"channels_last({name})" for name in names)
        condition = f"{where} and ({condition})" if where else condition
        lines += [f"if {condition}:", "    " + action.format(record.returns.index(output))]
    return [f"    {line}" for line in lines]


def formatted_outputs(record) -> list[str]:
    """Return lines that give a kernel memory channels last, if it fills such."""
    if not record.kernel.any_format:
        return []
    return [
        "if flags & F_STRIDED and lays_channels_last(device):",
        *_following(record, "lay_channels_last(&results[{0}])"),
    ]


def turned_outputs(record) -> list[str]:
    """List the outputs that are channels last because a tensor that they follow is."""
    if not record.kernel.follows:
        return []
    other = " and not lays_channels_last(device)" if record.kernel.any_format else ""
    turning = _following(record, "to_{0} = turned_channels_last(to_{0})")
    return [f"if flags & F_STRIDED{other}:", *turning]


def calling(record, shown: str, *filled: str) -> list[str]:
    """Lines that call the kernel of the device; on meta there is nothing to do."""
    values = [*filled, *kernel_args(record)]
    values += ["state"] * record.kernel.draws + ["memo"] * is_sized(record)
    return [
        f"if {column('device')}.{record.key} != NULL:",
        f"    {column('device')}.{record.key}({', '.join(values)})",
        "elif device != ON_META:",
        f'    raise no_kernel("{shown}", device)',
    ]


def drawing_function(record, shown: str) -> list[str]:
    """`draw_<key>`: a kernel that draws fills memory of any strides, from the generator's state."""
    params = "".join(f", {arg_type(a.type).c} {a.name}" for a in record.args)
    generator = next((a.name for a in record.args if a.type == "Generator?"), "None")
    body = [
        "cdef Tensor drawn = to_0",
        f'cdef Tensor state = drawing_state({generator}, device, "{shown}{"_" * record.call.inplace}")',
        "if to_0.flags & F_STRIDED:",
        "    drawn = fresh_dense(to_0)",
        *calling(record, shown, "drawn"),
        "if drawn is not to_0:",
        f'    copy_into(to_0, drawn, "{shown}")',
        "return 0",
    ]
    head = f"cdef int draw_{record.key}(int device, Tensor to_0{params}) except -1:"
    return ["", head, *(f"    {line}" for line in body)]


def fresh_function(record, imports) -> list[str]:
    """The body of the form that fills a new tensor: nothing of it has to be looked at but dtype."""
    module, function, rule_args = rule_of(record)
    imports.setdefault(module, set()).add(function)
    names = ", ".join(a.name for a in record.args)
    return [
        "cdef Result[1] results",
        f'{module}_{function}(results, {rule_args}, "{record.shown}")',
        f"draw_{record.key}(self.mem.device, self, {names})",
        "return self",
    ]


def checked_shape(record, shown: str, imports) -> list[str]:
    """Lines that ask the shape rule, and for sizes if it needs them."""
    module, function, args = rule_of(record)
    imports.setdefault(module, set()).add(function)
    rule = f'{module}_{function}({"results" if record.returns else "NULL"}, {args}, "{shown}")'
    if not is_sized(record):
        return [rule]
    if not _SIZES.search(args):
        raise FormulaError(f"{record.key}: the rule of a sized record gets `sizes`, not {args!r}")
    target, _, counting = record.kernel.sized.partition(".")
    imports.setdefault(target, set()).add(counting)
    # On meta there are no values, unless those that count are on the CPU.
    counted = "ON_CPU if device == ON_META else device" if record.kernel.from_host else "device"
    names = "".join(f"{name}, " for name in kernel_args(record))
    return [
        f"if {without_sizes(rule)} == NEEDS_SIZES:",
        f"    counted = {counted}",
        f"    if {column('counted')}.{record.key}_sizes == NULL:",
        f'        raise no_kernel("{shown}", counted)',
        f'    sized_by_values("{"indexing by a mask" if _indexes(record) else shown}")',
        "    memo = []",
        f"    {column('counted')}.{record.key}_sizes({names}sizes, memo)",
        f"    {rule}",
    ]


def _indexes(record) -> bool:
    """Tell whether a record has a tuple of index tensors."""
    return any(a.type == "indices" for a in record.args)


def column(device: str) -> str:
    """The kernels of a device."""
    return f"K[device_type({device})]"


def without_sizes(text: str) -> str:
    """The call of a rule before any size is known."""
    return _SIZES.sub("NULL", text)


def shortcut(record, imports) -> list[str]:
    """Lines that go another way if there is one."""
    if record.kernel.shortcut is None:
        return []
    module, _, function = record.kernel.shortcut.partition(".")
    imports.setdefault(module, set()).add(function)
    return [
        f"to_0 = {module}_{function}({', '.join(kernel_args(record))}, out)",
        "if to_0 is not None:",
        "    return to_0",
    ]


def run_function(record, shown: str, imports) -> list[str]:
    """`run_<key>`: the operator on plain tensors, into fresh memory or into what is given."""
    r, n = record, len(record.returns)
    target_module, _, target = r.kernel.target.partition(".")
    imports.setdefault(target_module, set()).add(target)
    params = "".join(f"{arg_type(a.type).c} {a.name}, " for a in r.args)
    result = "tuple" if n > 1 else "Tensor" if n else "object"
    head = f"cdef {result} run_{r.key}({params}uint32_t flags, {result} out, bint inplace):"
    body = [*_declarations(r), *_checks(r, shown), *checked_shape(r, shown, imports)]
    body += shortcut(r, imports)
    if not n:  # the arguments are what it changes
        body += calling(r, shown)
        return ["", head, *indent(body)]
    fresh = [*formatted_outputs(r), *(f"to_{i} = fresh(&results[{i}], device)" for i in range(n))]
    body += ["if out is None:", *indent(fresh)]
    if r.call.inplace and n == 1:
        body += ["elif inplace:", f"    {_in_place_target(r, shown)}"]
    body += ["else:", *indent(_out_targets(r, shown))]
    if r.kernel.draws:
        body.append(f"draw_{r.key}(device, to_0, {', '.join(a.name for a in r.args)})")
    else:
        body += calling(r, shown, *(f"to_{i}" for i in range(n)))
    settled = [f'settle(out, to_0, "{shown}")']
    if n > 1:
        settled = [f'settle(<Tensor>out[{i}], to_{i}, "{shown}")' for i in range(n)]
    body += ["if out is not None:", *indent([*settled, "return out"])]
    body += turned_outputs(r)
    outs = ", ".join(f"to_{i}" for i in range(n))
    body += [f"return ({outs})" if n > 1 else "return to_0"]
    first = drawing_function(r, shown) if r.kernel.draws else []
    return [*first, "", head, *indent(body)]


def _declarations(r) -> list[str]:
    """The variables of `run_<key>`."""
    n = len(r.returns)
    lines = [f"cdef Result[{n}] results"] * bool(n) + ["cdef int device = 0"]
    lines += [f"cdef Tensor to_{i} = None" for i in range(n)]
    if is_sized(r):
        lines += ["cdef Py_ssize_t sizes[64]", "cdef list memo = None", "cdef int counted"]
    return lines


def _checks(r, shown: str) -> list[str]:
    """Lines that agree on the device, and move indices there."""
    tensors = read_tuple(r, indices=False, from_host=False)
    lines = [f'device = device_among({tensors}, "{shown}")']
    for a in r.args:
        if a.type == "indices":
            lines.append(f"{a.name} = indices_on_device({a.name}, device)")
    if not _indexes(r):  # whose rule asks where each index tensor is
        lines += [f'check_place({name}, device, "{shown}")' for name in r.kernel.from_host]
    return ["if flags & F_DEVICE:", *indent(lines)]


def _in_place_target(r, shown: str) -> str:
    """The line that takes the place of `self` for the result."""
    kernel, over, others = r.kernel, "OVER_NONE", "()"
    if kernel.over is not None and not kernel.places:
        over, others = "OVER_DENSE", read_tuple(r, kernel.over)
    if kernel.places:
        over = "OVER_PLACES"
    return f'to_0 = inplace_target(out, results, {others}, device, {over}, "{shown}_")'


def _out_targets(r, shown: str) -> list[str]:
    """Lines that take the memory of ``out`` for the results."""
    if len(r.returns) == 1:
        kind = OUT_KINDS.get(r.call.out, "OUT_CAST")
        return [f'to_0 = out_target(out, results, {read_tuple(r)}, device, {kind}, "{shown}")']
    lines = [f'check_outs(out, results, "{shown}")']
    for i in range(len(r.returns)):
        # None may share memory with those before it, either.
        reads = read_tuple(r, also=tuple(f"to_{j}" for j in range(i)))
        target = f"out_target(<Tensor>out[{i}], &results[{i}], {reads}, device, OUT_EXACT, "
        lines.append(f'to_{i} = {target}"{shown}")')
    return lines
