"""Writes the operators: typed node, recording, forward mode, vmap and dispatch of each record.

For a record `mul` the generated Cython is, in this order: the node class `MulBackward0` with its
`apply`; `node_mul`, which makes the node and saves what it needs; `tangent_mul` (forward mode);
`vmap_mul`; `c_mul`, the operator itself; `c_mul_`, its in-place form. The Python functions
around them are written by python_forms.py.
"""

from __future__ import annotations

from ext.codegen.formula import Emitter, FormulaError, parse, uses
from ext.codegen.kernel_runs import has_shape, run_function
from ext.codegen.lines import indent
from ext.codegen.tangents import jvp_formulas, sum_of_terms
from ext.codegen.vmap_rules import rule_of
from ext.codegen.vocabulary import arg_type

RULES = {"same": "P_SAME", "bool": "P_BOOL", "float": "P_FLOAT", "real": "P_REAL", "complex": "P_COMPLEX"}
NUMBERS = ("operand", "operand?", "Scalar")
# Bits of dtype codes for the class letters of `Record.dtypes`.
CLASS_BITS = {"b": 0x001, "i": 0x03E, "h": 0x0C0, "f": 0x300, "c": 0xC00}


class Operator:
    """The generated text of one record."""

    def __init__(self, record, records, constants, imports):
        self.r = record
        self.records, self.constants, self.imports = records, constants, imports
        self.key = record.key
        self.kind = type(record.kernel).__name__
        self.diff = record.differentiable
        self.list_arg = next((a for a in record.args if a.type == "Tensor[]"), None)
        self.multi = len(record.returns) > 1
        self.many = record.returns == ("*",)
        self.params = ", ".join(f"{arg_type(a.type).c} {a.name}" for a in record.args)
        self.names = ", ".join(a.name for a in record.args)
        self.ret = "tuple" if self.multi or self.many else "Tensor"
        self.batching = rule_of(self)
        if self.diff:
            self.plan_saving()

    # --- what the node keeps ------------------------------------------------------------------

    def plan_saving(self):
        r = self.r
        self.formulas = {k: parse(v) for k, v in r.vjp.items()}
        self.uses = {k: uses(t) for k, t in self.formulas.items()}
        outputs = () if self.many else r.returns
        args = {a.name: a for a in r.args}
        self.slots, self.scalars, self.objects = [], [], []
        self.meta_objects = []
        for key in self.diff:
            for name in sorted(self.uses[key].values):
                if name in outputs or (name in args and args[name].is_tensor):
                    if args.get(name) is not None and args[name].type == "Tensor[]":
                        raise FormulaError(f"{self.key}: the formula saves a list; use attrs")
                    self.add(self.slots, name)
                elif name in args:
                    self.add(self.scalars if arg_type(args[name].type).c in
                             ("Py_ssize_t", "bint", "double", "int") else self.objects, name)
                elif name in r.attrs:
                    self.add(self.objects, name)
            for name, what in sorted(self.uses[key].metadata):
                if name == key or name == "grad" or name.startswith("grad_"):
                    continue
                if name in self.uses[key].values:
                    continue
                if name in outputs:
                    self.add(self.slots, name)
                else:
                    self.add(self.meta_objects, (name, what))
        if len(self.scalars) > 4:
            self.objects += self.scalars[4:]
            del self.scalars[4:]
        # Index tensors are saved after the other tensors; the plain objects say where each is.
        self.indices = [name for name in self.objects if name in args and args[name].type == "indices"]
        if len(self.indices) > 1:
            raise FormulaError(f"{self.key}: one list of indices")
        self.edge = {}
        shift = 0
        for name in self.diff:
            if args[name].type == "Tensor[]":
                self.edge[name] = shift
                shift = None
            else:
                if shift is None:
                    raise FormulaError(f"{self.key}: a list of tensors must come last in vjp")
                self.edge[name] = shift
                shift += 1
        self.n_edges = f"{len(self.diff)}"
        if self.list_arg is not None and self.list_arg.name in self.diff:
            self.n_edges = f"{len(self.diff) - 1} + len({self.list_arg.name})"

    @staticmethod
    def add(where, what):
        if what not in where:
            where.append(what)

    @property
    def tuple_items(self):
        """Expressions of the node's args tuple, at recording."""
        r = self.r
        items = [f"save_indices(n, {len(self.slots)}, {n})" if n in self.indices else r.attrs.get(n, n)
                 for n in self.objects]
        for name, what in self.meta_objects:
            items.append({"shape": f"dims_of({name})", "ndim": f"{name}.nd", "dtype": f"{name}.dt",
                          "numel": f"{name}.count", "is_complex": f"dt_is_complex({name}.dt)"}[what])
        return items

    # --- formulas -----------------------------------------------------------------------------

    def emitter(self, names, metadata):
        return Emitter(self.records, names, metadata, self.constants, self.key)

    def plain_metadata(self, name, what):
        return {"shape": f"dims_of({name})", "ndim": f"(<Py_ssize_t>{name}.nd)", "dtype": f"{name}.dt",
                "numel": f"{name}.count", "is_complex": f"dt_is_complex({name}.dt)"}[what]

    def arg_names(self):
        return {a.name: (a.name, arg_type(a.type).formula) for a in self.r.args}

    # --- the node -----------------------------------------------------------------------------

    def node_class(self):
        r = self.r
        lines = ["", *([] if r.variants else ["@cython.final"]), f"cdef class {r.node}(Node):"]
        lines += indent(self.saved_names())
        lines += indent(self.apply())
        for name in r.variants:
            lines += ["", "@cython.final", f"cdef class {name}({r.node}):", "    pass"]
        return lines

    @property
    def shown(self):
        """The name in error messages."""
        return self.r.shown

    def saved_names(self):
        rows, args = [], {a.name: a for a in self.r.args}
        for i, name in enumerate(self.slots):
            kind = "tensor"
            if name in self.r.plain_numbers or (name in args and args[name].type == "Scalar"):
                kind = "operand"
            rows.append(f'("{name}", "{kind}", {i})')
        kinds = {"Py_ssize_t": "int", "bint": "bool", "double": "float", "int": "int"}
        for i, name in enumerate(self.scalars):
            rows.append(f'("{name}", "{kinds[arg_type(self.r.arg(name).type).c]}", {i})')
        for i, name in enumerate(self.objects):
            rows.append(f'("{name}", "{"indices" if name in self.indices else "object"}", {i})')
        for i, (name, what) in enumerate(self.meta_objects):
            shown = {"shape": "sym_sizes", "numel": "sym_numel"}.get(what, what)
            rows.append(f'("{name}_{shown}", "object", {len(self.objects) + i})')
        for name, edge in self.edge.items():
            uses = {what for used in self.uses.values() for n, what in used.metadata if n == name}
            if "shape" in uses and (name, "shape") not in self.meta_objects and self.r.arg(name).type != "Tensor[]":
                rows.append(f'("{name}_sym_sizes", "edge", {edge})')
        if not rows:
            return []
        return ["cdef tuple saved_names(self):", "    return (" + ", ".join(rows) + ",)"]

    def apply(self):
        r = self.r
        outs = r.returns
        lines = ["cdef int apply(self, PyObject** gin, PyObject** gout) except -1:"]
        body = []
        if self.many:
            body += ["cdef tuple grads = materialise(self, gin)"]
            grad_names = {"grads": ("grads", "L")}
        elif self.multi:
            grad_names = {}
            diff_outs = [o for o in outs if o not in r.nondiff_outputs]
            used = set().union(*(u.values for u in self.uses.values()))
            test = " and ".join(f"gin[{outs.index(o)}] == NULL" for o in diff_outs)
            body += [f"if {test}:", "    return 0"]
            for o in diff_outs:
                grad_names[f"grad_{o}"] = (f"grad_{o}", "T")
                if f"grad_{o}" in used:
                    i = outs.index(o)
                    body.append(f"cdef Tensor grad_{o} = <Tensor>gin[{i}] if gin[{i}] != NULL "
                                f"else zeros_for(self, {i})")
                grad_names[f"given_{o}"] = (f"given_{o}", "T")
                if f"given_{o}" in used:
                    i = outs.index(o)
                    body.append(f"cdef Tensor given_{o} = <Tensor>gin[{i}] if gin[{i}] != NULL "
                                "else None")
        else:
            grad_names = {"grad": ("grad", "T")}
            body += ["if gin[0] == NULL:", "    return 0", "cdef Tensor grad = <Tensor>gin[0]"]
        # Cython wants declarations before the branches that use them.
        if self.objects or self.meta_objects:
            body.append("cdef tuple kept = get_args(self)")
        for key in self.diff:
            for name in self.slots:
                if name in self.uses[key].values or (name, ) in self.uses[key].metadata:
                    line = f"cdef Tensor s_{name}"
                    if line not in body:
                        body.append(line)
        for name in self.slots:
            line = f"cdef Tensor s_{name}"
            if line not in body:
                body.append(line)
        body += [f"cdef tuple {name}" for name in self.indices]
        declared = [x for x in body if x.startswith("cdef")]
        tests = [x for x in body if not x.startswith("cdef")]
        plain = [x for x in declared if "=" not in x]
        assigned = [x for x in declared if "=" in x]
        ordered = [*plain]
        ordered += [x.split(" = ")[0] for x in assigned]
        ordered += tests
        ordered += [x.removeprefix("cdef ").split(" ", 1)[1] for x in assigned]
        ordered += [f"{name} = saved_indices(self, <tuple>kept[{self.objects.index(name)}])" for name in self.indices]
        for key in self.diff:
            names = dict(grad_names)
            for name in self.slots:
                names[name] = (f"s_{name}", "T")
            for i, name in enumerate(self.scalars):
                kind = arg_type(r.arg(name).type).formula
                field = "d" if kind == "f" else "i"
                text = f"self.attrs[{i}].{field}"
                names[name] = (f"<{arg_type(r.arg(name).type).c}>{text}" if kind != "f" else text, kind)
            for i, name in enumerate(self.objects):
                kind = arg_type(r.arg(name).type).formula if name in [a.name for a in r.args] else "I"
                c_type = arg_type(r.arg(name).type).c if name in [a.name for a in r.args] else "object"
                names[name] = (f"(<{c_type}>kept[{i}])" if c_type != "object" else f"kept[{i}]", kind)
                if name in self.indices:
                    names[name] = (name, kind)

            def metadata(name, what, key=key, names=names):
                if name in grad_names or name.startswith("grad"):
                    return self.plain_metadata(grad_names[name][0], what)
                if name == key and self.r.arg(key).type != "Tensor[]":
                    return {"shape": f"edge_shape(self, {self.edge[key]})",
                            "ndim": f"edge_ndim(self, {self.edge[key]})",
                            "dtype": f"edge_dtype(self, {self.edge[key]})",
                            "numel": f"edge_numel(self, {self.edge[key]})",
                            "is_complex": f"dt_is_complex(edge_dtype(self, {self.edge[key]}))"}[what]
                if (name in self.slots and name in self.uses[key].values) or (
                        name in self.slots and (name, what) not in self.meta_objects):
                    return self.plain_metadata(f"s_{name}", what)
                i = len(self.objects) + self.meta_objects.index((name, what))
                return f"kept[{i}]" if what == "shape" else f"(<Py_ssize_t>kept[{i}])"

            emitter = self.emitter(names, metadata)
            unpacked = [n for n in self.slots
                        if n in self.uses[key].values
                        or any(m == n and (m, w) not in self.meta_objects and m != key
                               for m, w in self.uses[key].metadata)]
            inner = [f"s_{n} = unpack(self, {self.slots.index(n)})" for n in unpacked]
            if r.arg(key).type == "Tensor[]":
                text, kind = emitter.emit(self.formulas[key])
                if kind != "L":
                    raise FormulaError(f"{self.key}: the gradient of a list is a tuple")
                inner.append(f"give_all(self, gout, {self.edge[key]}, {text})")
                ordered += ["if any_needed(self):", *indent(inner)]
            else:
                text = emitter.tensor(self.formulas[key])
                inner.append(f"gout[{self.edge[key]}] = give({text})")
                ordered += [f"if needs(self, {self.edge[key]}):", *indent(inner)]
        ordered.append("return 0")
        return lines + indent(ordered)

    def node_function(self):
        """Makes the node, with edges and all that is saved before the result is known."""
        r = self.r
        lines = ["", f"cdef {r.node} node_{self.key}({self.params}, bint inplace):",
                 f"    cdef {r.node} n",
                 *self.new_node(),
                 f"    node_init(n, {self.n_edges}, {self.n_slots()}, {self.n_outputs()})"]
        if self.list_arg is not None and self.list_arg.name in self.diff:
            lines.append("    cdef Py_ssize_t k")
        for name in self.diff:
            if r.arg(name).type == "Tensor[]":
                lines += [f"    for k in range(len({name})):",
                          f"        set_edge(n, {self.edge[name]} + k, <Tensor>{name}[k])"]
            elif r.arg(name).type in ("operand?", "Tensor?"):
                lines += [f"    if {name} is not None:", f"        set_edge(n, {self.edge[name]}, {name})"]
            else:
                lines.append(f"    set_edge(n, {self.edge[name]}, {name})")
        lines += self.without_numbers()
        for i, name in enumerate(self.slots):
            if name in r.returns:
                continue
            users = self.users(name)
            edge = self.edge.get(name, -1)
            test = " or ".join(f"edge_defined(n, {self.edge[k]})" for k in users)
            save = [f"save_input(n, {i}, {name}, {edge})"]
            if name == "self" and r.inplace:
                save = ["if inplace:", f"    save_old_value(n, {i}, clone_plain(self), {edge})", "else:", f"    {save[0]}"]
            if r.arg(name).type in ("operand?", "Tensor?"):
                test = f"({test}) and {name} is not None"
            lines += [f"    if {test}:", *indent(save, 8)]
        for i, name in enumerate(self.scalars):
            field = "d" if arg_type(r.arg(name).type).c == "double" else "i"
            lines.append(f"    n.attrs[{i}].{field} = {name}")
        items = self.tuple_items
        if items:
            texts = []
            for item in items:
                if item in r.attrs.values():
                    tree = parse(item)
                    texts.append(self.emitter(self.arg_names(), self.plain_metadata).emit(tree)[0])
                else:
                    texts.append(item)
            lines.append(f"    set_args(n, ({', '.join(texts)},))")
        lines.append("    return n")
        return lines

    def without_numbers(self):
        """Lines that leave out the edges of plain numbers, as far as they are the first or last."""
        lines = []
        for name in reversed(self.diff):
            if name not in self.r.plain_numbers or self.edge[name] == 0:
                break
            given = f"({name} is None or is_number({name}))" if self.r.arg(name).type == "operand?" else f"is_number({name})"
            lines += [f"    if n.n_edges == {self.edge[name] + 1} and {given}:", f"        n.n_edges = {self.edge[name]}"]
        if self.diff[0] in self.r.plain_numbers:
            lines += [f"    if is_number({self.diff[0]}):", "        n.flags |= N_NUMBER_FIRST"]
        return lines

    def new_node(self):
        """Lines that make `n`, of the class by whose name torch knows it."""
        lines, word = [], "if"
        emitter = self.emitter(self.arg_names(), self.plain_metadata)
        for name, test in self.r.variants.items():
            lines += [f"    {word} {emitter.emit(parse(test))[0]}:", f"        n = {name}.__new__({name})"]
            word = "elif"
        node = self.r.node
        if lines:
            return [*lines, "    else:", f"        n = {node}.__new__({node})"]
        return [f"    n = {node}.__new__({node})"]

    def n_slots(self):
        """How many tensors the node saves."""
        return " + ".join([str(len(self.slots)), *(f"n_tensors({name})" for name in self.indices)])

    def n_outputs(self):
        return "n_results" if self.many else str(len(self.r.returns))

    def users(self, name):
        """Arguments whose gradient needs the saved value `name`."""
        return [k for k in self.diff
                if name in self.uses[k].values
                or any(m == name and m != k and (m, w) not in self.meta_objects
                       for m, w in self.uses[k].metadata)]

    def save_results(self, result_of):
        lines = []
        for i, name in enumerate(self.slots):
            if name in self.r.returns:
                test = " or ".join(f"edge_defined(n, {self.edge[k]})" for k in self.users(name))
                nr = self.r.returns.index(name)
                lines += [f"if {test}:", f"    save_output(n, {i}, {result_of(name)}, {nr})"]
        return lines

    # --- forward mode -------------------------------------------------------------------------

    def tangent_function(self):
        r = self.r
        tensors = [a for a in r.args if a.is_tensor and a.type != "Tensor[]"]
        moving = [a.name for a in tensors if a.name in self.diff]
        several = self.many or self.multi
        lines = ["", f"cdef int tangent_{self.key}({self.ret} result, {self.params}) except -1:"]
        body = ["cdef Tensor total", f"cdef {self.ret} below = result"]
        body += [f"cdef Tensor {name}_t" for name in moving]
        listed = self.list_arg.name if self.list_arg is not None and self.list_arg.name in self.diff else None
        if listed:
            body.append(f"cdef tuple {listed}_t")
        if self.multi:
            body += [f"cdef Tensor {o}" for o in r.returns]
        body.append(f"cdef ForwardLevel level = forward_level({self.tuple_of(moving, listed)})")
        body += ["if level is None:", "    return 0"]
        body += [f"{name}_t = tangent_at({name}, level)" for name in moving]
        body += [f"{a.name} = primal_at({a.name}, level)" for a in tensors]
        if listed:
            body += [f"{listed}_t = tangents_at({listed}, level)", f"{listed} = primals_at({listed}, level)"]
        body += [f"if ({self.flags(moving + ([listed] if listed else []))}) & F_DUAL:",
                 f"    below = {'place_aliases' if several else 'place_alias'}(result)",
                 f"    tangent_{self.key}(below, {self.names})"]
        names = self.arg_names()
        if self.multi:
            for i, o in enumerate(r.returns):
                body.append(f"{o} = <Tensor>below[{i}]")
                names[o] = (o, "T")
        elif not self.many:
            names[r.returns[0]] = ("below", "T")
        for a in self.diff:
            names[f"{a}_t"] = (f"{a}_t", "L" if r.arg(a).type == "Tensor[]" else "T")

        def metadata(name, what):
            return self.plain_metadata("below" if name in r.returns and not self.multi else name, what)

        emitter = self.emitter(names, metadata)
        if r.jvp == "linear":
            # The operator itself on the tangents; tensors without one are taken as zeros.
            call = ", ".join(f"{a.name}_t" if a.name in self.diff else a.name for a in r.args)
            for a in self.diff:
                if r.arg(a).type != "Tensor[]":
                    body += [f"if {a}_t is None and {a} is not None:", f"    {a}_t = zero_tangent({a})"]
            body.append(f"cdef {self.ret} moved = T.{self.key}({call})")
            body.append(f"set_tangent{'s' if several else ''}(result, moved, level, below)")
        else:
            for output, rows in jvp_formulas(r, self.diff).items():
                body += sum_of_terms(rows, emitter)
                target = f"<Tensor>result[{r.returns.index(output)}]" if self.multi else "result"
                body.append(f"set_tangent({target}, total, level, {output if self.multi else 'below'})")
        body.append("return 0")
        declared = [x.split(" = ")[0] for x in body if x.startswith("cdef ")]
        rest = [x.removeprefix("cdef ").split(" ", 1)[1] if x.startswith("cdef ") else x
                for x in body if not (x.startswith("cdef ") and " = " not in x)]
        return lines + indent(declared + rest)

    @staticmethod
    def tuple_of(names, listed=None):
        """Text of the tuple of some tensor arguments, and of those of a list."""
        text = "(" + "".join(f"{n}, " for n in names).rstrip(" ") + ")"
        if listed:
            return f"{text} + {listed}" if names else listed
        return text

    # --- vmap ---------------------------------------------------------------------------------

    # --- the operator -------------------------------------------------------------------------

    def kernel_expression(self, out="None", resolving=False, inplace=False):
        r, k = self.r, self.r.kernel
        if has_shape(r):
            names = [self.resolved(a.name) if resolving else a.name for a in r.args]
            flags = "flags" if out == "None" else f"flags | {out}.flags" if not self.multi else "flags"
            return f"run_{self.key}({', '.join([*names, flags, out, str(inplace)])})"
        if self.kind == "elementwise":
            operands = k.args or tuple(a.name for a in r.args if a.is_tensor)
            rule = " | ".join(RULES[word] for word in k.dtypes.split()) + (" | P_SKIP_FIRST" if k.skip_first else "")
            if len(operands) <= 3:
                return (f"ew{len(operands)}(K_{k.name.upper()}, {', '.join(operands)}, {rule}, {out}, "
                        f"\"{self.shown}\")")
            return f"ewn(K_{k.name.upper()}, ({', '.join(operands)}), {rule}, {out}, \"{self.shown}\")"
        module, _, function = k.target.partition(".")
        self.imports.setdefault(module, set()).add(function)
        names = k.args if k.args is not None else [a.name for a in r.args]
        if resolving:
            names = [self.resolved(name) for name in names]
        return f"{module}_{function}({', '.join(names)})"

    @property
    def resolves(self):
        """Whether tensors with F_LAZY must be resolved first; elementwise drivers do it themselves."""
        return self.kind == "call" and not self.r.kernel.lazy

    def resolved(self, name):
        """The text of an argument without F_LAZY."""
        kind = next((a.type for a in self.r.args if a.name == name), None)
        if kind == "Tensor[]":
            return f"all_resolved({name})"
        if kind == "indices":
            return f"resolved_indices({name})"
        if kind in ("operand?", "Tensor?"):
            return f"(None if {name} is None else resolved({name}))"
        return f"resolved({name})" if kind in ("Tensor", "operand") else name

    def claims(self, widen=True):
        """Lines that refuse the dtypes which the record doesn't claim; some are converted before."""
        if self.r.widen and widen:
            letters, target = self.r.widen
            mask = hex(sum(CLASS_BITS[letter] for letter in letters))
            code = {"int64": "DT_I64", "float": "g_default_dtype"}[target]
            return [f"if 1 << self.dt & {mask}:", f"    self = T._to_dtype(self, {code})", *self.claims(False)]
        r, k = self.r, self.r.kernel
        if set(r.dtypes) >= set(CLASS_BITS) or self.kind == "view":
            return []          # views of some dtypes only have an error of their own
        mask = hex(sum(bits for letter, bits in CLASS_BITS.items() if letter in r.dtypes))
        tensors = [a for a in r.args if a.type in ("Tensor", "operand")]
        if self.kind != "elementwise" and not any(a.type == "operand" for a in tensors):
            # No promotion: each argument by itself (indices and targets aren't differentiable).
            if r.vmap == "elementwise" and len(tensors) == 2:       # both are promoted
                return [f"claim_promoted({tensors[0].name}, {tensors[1].name}, {mask}, \"{self.shown}\")"]
            checked = [a for a in tensors if a.name in self.diff] or tensors[:1]
            # What is computed in another dtype need not be of a claimed one.
            given = "{0}.dt if dtype < 0 else dtype" if any(a.type == "dtype?" for a in r.args) else "{0}.dt"
            return [f"claim({given.format(a.name)}, {mask}, \"{self.shown}\")" for a in checked]
        if getattr(k, "skip_first", False):
            tensors = tensors[1:]
        names = [a.name for a in tensors]
        if len(names) == 1:
            return [f"claim({names[0]}.dt, {mask}, \"{self.shown}\")"]
        if len(names) == 2:
            return [f"claim_promoted({', '.join(names)}, {mask}, \"{self.shown}\")"]
        return [f"claim(common_dtype(({', '.join(names)})), {mask}, \"{self.shown}\")"]

    def on_the_cpu(self):
        """Lines that refuse tensors of other devices where only the CPU has an implementation."""
        if self.kind != "call" or has_shape(self.r) or self.r.kernel.anywhere:
            return []
        tensors = self.tuple_of([a.name for a in self.r.args if a.is_tensor and a.type != "Tensor[]"],
                                self.list_arg.name if self.list_arg is not None else None)
        return ["if flags & F_DEVICE:", f"    refuse_device({tensors}, \"{self.shown}\")"]

    def flags(self, names=None):
        parts = []
        for a in self.r.args:
            if a.type == "indices" and names is None:
                parts.append(f"(flags_of_indices({a.name}) & (F_LAYERED | F_DEVICE))")
            if not a.is_tensor or (names is not None and a.name not in names):
                continue
            if a.type == "Tensor[]":
                parts.append(f"flags_of({a.name})")
            elif a.type in ("operand?", "Tensor?"):
                parts.append(f"({a.name}.flags if {a.name} is not None else 0)")
            else:
                parts.append(f"{a.name}.flags")
        return " | ".join(parts) or "0"

    def recording(self):
        """Whether some differentiable argument requires grad."""
        parts = []
        for name in self.diff:
            kind = self.r.arg(name).type
            if kind == "Tensor[]":
                parts.append(f"any_requires_grad({name})")
            elif kind in ("operand?", "Tensor?"):
                parts.append(f"({name} is not None and requires_grad({name}))")
            else:
                parts.append(f"requires_grad({name})")
        return " or ".join(parts)

    def without_negative_dims(self):
        """Lines after which no `dim` argument is negative: kernels, formulas and `_saved_*` see none."""
        args = self.r.args
        lines = []
        if not args or not args[0].is_tensor:
            return lines
        first = args[0].name
        nd = f"widest_nd({first})" if args[0].type == "Tensor[]" else f"{first}.nd"
        for a in args:
            if a.type == "dim":
                lines += [f"if {a.name} < 0:", f"    {a.name} = normal_dim({a.name}, {nd})"]
            elif a.type in ("dim?", "dims", "dims?") or (a.name == "dims" and self.kind != "composite"):
                lines.append(f"{a.name} = known_dims({a.name}, {nd})")
        return lines

    def operator(self):
        r = self.r
        lines = ["", f"cdef {self.ret} c_{self.key}({self.params}):",
                 *indent(self.without_negative_dims())]
        if self.kind == "composite":
            formula = r.kernel.formula
            head = formula.split("(")[0]
            if "." in formula and "(" not in formula:
                family, _, function = formula.partition(".")
                if family != r.file:
                    raise FormulaError(f"{self.key}: a composite of the family {r.file} is in "
                                       f"{r.file}_composites, not of {family!r}")
                module = f"{family}_composites"
                self.imports.setdefault(module, set()).add(function)
                return lines + [f"    return {module}_{function}({self.names})"]
            text, kind = self.emitter(self.arg_names(), self.plain_metadata).emit(parse(formula))
            return lines + [f"    return {text}"]
        body = [f"cdef uint32_t flags = {self.flags()}", f"cdef {self.ret} result", "cdef object observed"]
        is_view = self.kind == "view"
        if self.diff:
            body.append(f"cdef {r.node} n" + (" = None" if self.slots else ""))
        if self.many:
            body += ["cdef Py_ssize_t n_results, i"]
        body += self.claims()
        body += self.on_the_cpu()
        if getattr(r.vjp, "refuse_tangents", False):
            tensors = self.tuple_of([a.name for a in r.args if a.is_tensor])
            body += ["if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
                           f"    refuse_tangent({tensors}, \"{r.name}\")"]
        body += ["if g_modes & G_PROFILE:", f"    observed = observe(\"{self.shown}\")"]
        random = type(r.vmap).__name__ == "randomly"
        batch = [f"result = {self.batching.call}"]
        if self.resolves:
            batch = ["if flags & F_BATCHED:", *indent(batch), "else:",
                     f"    result = {self.kernel_expression(resolving=True)}"]
        test = "F_LAYERED" if self.resolves else "F_BATCHED"
        if random:
            body += ["if flags & F_BATCHED or vmap_level():", f"    result = {self.batching.call}",
                     "else:", f"    result = {self.kernel_expression(resolving=self.resolves)}"]
        else:
            body += [f"if flags & {test}:", *indent(batch), "else:", f"    result = {self.kernel_expression()}"]
        first = r.args[0].name if r.args else None
        if is_view:
            creation = "CREATED_MULTI_OUTPUT" if r.multi_view else "CREATED_DEFAULT"
            if self.many:
                body += ["for i in range(len(result)):",
                         f"    set_view(<Tensor>result[i], {first}, {creation})"]
            else:
                body += ["if result.base == NULL and result is not " + first + ":",
                         f"    set_view(result, {first}, {creation})"]
        if self.diff:
            record, save = [], []
            call = f"node_{self.key}({self.names}, False)"
            if self.many:
                call = f"node_{self.key}({self.names}, False, len(result))"
                record += [f"n = {call}", "for i in range(len(result)):",
                           "    set_history(<Tensor>result[i], n, <int>i)"]
            elif self.multi:
                record += [f"n = {call}"]
                for i, o in enumerate(r.returns):
                    if o not in r.nondiff_outputs:
                        record.append(f"set_history(<Tensor>result[{i}], n, {i})")
                save = self.save_results(lambda o: f"<Tensor>result[{r.returns.index(o)}]")
            else:
                record += [f"n = {call}", "set_history(result, n, 0)"]
                save = self.save_results(lambda o: "result")
            test = f"not (tls_modes() & M_NO_GRAD) and ({self.recording()})"
            if not self.multi and not self.many:
                test += " and dt_differentiable(result.dt)"
            if is_view:
                test += f" and not ({first}.flags & F_INFERENCE)"      # nothing is tracked for its views
            body += [f"if flags & F_GRAD_PATH and {test}:", *indent(record)]
            body += ["if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
                     f"    tangent_{self.key}(result, {self.names})"]
            if save:
                # With its tangent, which the rule computes from the recorded result.
                body += ["if n is not None:", *indent(save)]
        body.append("return result")
        return lines + indent(body)

    def inplace_operator(self):
        r = self.r
        others = [a for a in r.args if a.name != "self"]
        lines = ["", f"cdef Tensor c_{self.key}_({self.params}):",
                 *indent(self.without_negative_dims())]
        given = ", ".join("overwritten(self, flags)" if a.name == "self" else a.name for a in r.args)
        call = f"replace_value(self, T.{self.key}({given}), \"{self.shown}_\")"
        if self.kind == "composite":
            return lines + [f"    cdef uint32_t flags = {self.flags()}", f"    return {call}"]
        body = [f"cdef uint32_t flags = {self.flags()}", "cdef bint recording = False", "cdef object observed"]
        if self.diff:
            body.append(f"cdef {r.node} n = None")
        layered = "F_LAYERED" if self.resolves else "F_BATCHED"
        body += [f"if flags & ({layered} | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD):",
                 f"    return {call}"]
        if self.diff:
            body += [f"if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and ({self.recording()}):",
                     "    recording = True"]
        else:
            body += ["if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and requires_grad(self):",
                     "    recording = True"]
        body += self.claims(False)
        body += self.on_the_cpu()
        truth = self.kind == "elementwise" and r.kernel.dtypes == "bool"
        if self.kind == "elementwise" and r.kernel.dtypes == "real":
            body.append(f"refuse_complex(self, \"{self.shown}\")")
        body.append(f"observed = begin_inplace(self, \"{self.shown}_\", recording)")
        if self.diff:
            body += ["if recording:", f"    n = node_{self.key}({self.names}, True)"]
        if self.kind == "elementwise":
            body.append(self.kernel_expression("self"))
        elif r.into:
            module, _, function = r.into.partition(".")
            self.imports.setdefault(module, set()).add(function)
            body += [f"check_separate(self, {a.name}, \"{self.shown}_\")"
                     for a in others if a.type in ("Tensor", "operand")]
            body.append(f"{module}_{function}({self.names})")
        elif has_shape(r):
            if r.kernel.places:
                body += [f"check_separate(self, {a.name}, \"{self.shown}_\")"
                         for a in others if a.type in ("Tensor", "operand")]
            body.append(self.kernel_expression("self", inplace=True))
        else:
            body.append(f"put_value(self, {self.kernel_expression()}, \"{self.shown}_\")")
        if self.diff:
            body.append("end_inplace(self, n)")
            if save := self.save_results(lambda o: "self"):
                body += ["if recording:", *indent(save)]
        else:
            make = "constant_history" if truth else "unknown_history"
            body += ["end_inplace(self, None)", "if recording:", f"    {make}(self, \"{r.node}\")"]
        body.append("return self")
        return lines + indent(body)

    def result_dtype(self):
        """The code of the dtype that an elementwise kernel gives; None if only its result says."""
        k = self.r.kernel
        if self.kind != "elementwise" or k.dtypes not in ("same", "real", "bool"):
            return None
        if k.dtypes == "bool":
            return "DT_BOOL"
        names = [a.name for a in self.r.args if a.type in ("Tensor", "operand")][int(k.skip_first):]
        code = f"{names[0]}.dt" if len(names) == 1 else f"common_dtype(({', '.join(names)}))"
        return f"dt_real({code})" if k.dtypes == "real" else code

    def out_operator(self):
        r = self.r
        lines = ["", f"cdef Tensor c_{self.key}_out({self.params}, Tensor out):",
                 *indent(self.without_negative_dims()),
                 f"    check_out(out, {self.flags()}, \"{self.shown}\")"]
        write = {"exact": "write_exact_out", "truth": "write_truth_out"}.get(r.out, "write_out")
        if r.wide_out:
            lines.append("    self = widened(self, out)")
        if self.kind == "composite":
            value = f"c_{self.key}({self.names})"
            return [*lines, f"    {write}(out, {value}, \"{r.name}\")", "    bump_version(out)", "    return out"]
        lines += indent(self.claims())
        exact = self.result_dtype() if r.out == "exact" else None
        if exact is not None:
            # What is real for a complex tensor may go into a complex one, too.
            unless = "dt_is_complex(self.dt) or " if r.kernel.dtypes == "real" else ""
            lines += [f"    if not ({unless}out.dt == {exact}):",
                      f"        raise other_out(out, {exact}, \"{r.name}\")"]
        if has_shape(r):
            lines += [f"    cdef uint32_t flags = {self.flags()}", f"    {self.kernel_expression('out', resolving=self.resolves)}"]
        elif exact is not None or (self.kind == "elementwise" and write == "write_out"):
            lines.append(f"    {self.kernel_expression('out')}")
        else:
            lines.append(f"    {write}(out, {self.kernel_expression(resolving=self.resolves)}, \"{r.name}\")")
        return lines + ["    bump_version(out)", "    return out"]

    def outs_operator(self):
        """The form with one tensor in ``out=`` for each of several results."""
        writes = [f"bump_version(<Tensor>out[{i}])" for i in range(len(self.r.returns))]
        return ["", f"cdef tuple c_{self.key}_outs({self.params}, tuple out):",
                *indent([*self.without_negative_dims(), *self.claims(), f"cdef uint32_t flags = {self.flags()}",
                         self.kernel_expression("out", resolving=self.resolves), *writes, "return out"])]

    def text(self):
        """All lines of this operator."""
        lines = run_function(self.r, self.shown, self.imports) if has_shape(self.r) else []
        if self.kind != "composite":
            if self.diff:
                lines += self.node_class()
                function = self.node_function()
                if self.many:
                    function[1] = function[1].replace("bint inplace)", "bint inplace, Py_ssize_t n_results)")
                lines += function
                lines += self.tangent_function()
            lines += self.batching.function()
        lines += self.operator()
        if self.r.inplace:
            lines += self.inplace_operator()
        if self.r.out:
            lines += self.out_operator()
        if self.r.outs and has_shape(self.r):
            lines += self.outs_operator()
        return lines
