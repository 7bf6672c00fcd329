"""The operator itself, its in-place form and the form that writes into ``out=``."""

from __future__ import annotations

import ast
import re

from ext.codegen.formula import FormulaError, parse
from ext.codegen.kernel_runs import fresh_function, has_shape
from ext.codegen.lines import indent
from ext.codegen.node_text import NodeText
from ext.codegen.plan import bits_of, claim_of
from ext.codegen.vmap_rules import Random, Refused, Rule, rule_of
from ext.codegen.vocabulary import arg_type

RULES = {
    "same": "P_SAME",
    "bool": "P_BOOL",
    "float": "P_FLOAT",
    "real": "P_REAL",
    "complex": "P_COMPLEX",
}
# What describes an argument to the recorder, by its C type.
PUT = {
    "Tensor": "put_tensor",
    "Py_ssize_t": "put_int",
    "int": "put_int",
    "double": "put_float",
    "bint": "put_bool",
}


class OperatorForms(NodeText):
    """Writes ``c_<key>``, ``c_<key>_`` and ``c_<key>_out``."""

    @property
    def batching(self) -> Rule:
        """What is done with batched tensors."""
        return rule_of(self)

    def kernel_expression(
        self, out: str = "None", resolving: bool = False, inplace: bool = False
    ) -> str:
        r, k = self.r, self.r.kernel
        if has_shape(r):
            names = [self.resolved(a.name) if resolving else a.name for a in r.args]
            flags = (
                "flags" if out == "None" else f"flags | {out}.flags" if not self.multi else "flags"
            )
            return f"run_{self.key}({', '.join([*names, flags, out, str(inplace)])})"
        if self.kind == "elementwise":
            operands = k.args or tuple(a.name for a in r.args if a.is_tensor)
            rule = " | ".join(RULES[word] for word in k.dtypes.split()) + (
                " | P_SKIP_FIRST" if k.skip_first else ""
            )
            if len(operands) <= 3:
                return (
                    f"ew{len(operands)}(K_{k.name.upper()}, {', '.join(operands)}, {rule}, {out}, "
                    f'"{self.shown}")'
                )
            return (
                f'ewn(K_{k.name.upper()}, ({", ".join(operands)}), {rule}, {out}, "{self.shown}")'
            )
        module, _, function = k.target.partition(".")
        self.imports.setdefault(module, set()).add(function)
        names = k.args if k.args is not None else [a.name for a in r.args]
        if resolving:
            names = [self.resolved(name) for name in names]
        if self.writes_out:
            names = [*names, out]
        return f"{module}_{function}({', '.join(names)})"

    @property
    def writes_out(self) -> bool:
        """Whether the function of a `call` without a shape rule takes ``out``."""
        return self.kind == "call" and self.r.kernel.into

    def claims(self, widen: bool = True) -> list[str]:
        """Lines that refuse the dtypes which the record doesn't claim; some are converted before."""
        if self.r.call.widen and widen:
            letters, target = self.r.call.widen
            mask = hex(bits_of(letters))
            code = {"int64": "DT_I64", "float": "g_default_dtype"}[target]
            return [
                f"if 1 << self.dt & {mask}:",
                f"    self = T._to_dtype(self, {code})",
                *self.claims(False),
            ]
        claim = claim_of(self.r)
        if claim is None:
            return []
        mask, names = hex(claim.bits), claim.names
        how = f'{mask}, "{self.shown}", {self.r.call.refusal!r}'
        if claim.promoted and len(names) > 2:
            return [f"claim(common_dtype(({', '.join(names)})), {how})"]
        if claim.promoted and len(names) == 2:
            return [f"claim_promoted({', '.join(names)}, {how})"]
        # What is computed in another dtype need not be of a claimed one.
        given = "{0}.dt if dtype < 0 else dtype" if claim.by_dtype else "{0}.dt"
        return [f"claim({given.format(name)}, {how})" for name in names]

    def on_the_cpu(self) -> list[str]:
        """Lines that refuse tensors of other devices where only the CPU has an implementation."""
        if self.kind != "call" or has_shape(self.r) or self.r.kernel.anywhere:
            return []
        return ["if flags & F_DEVICE:", f'    refuse_device({self.every}, "{self.shown}")']

    def operator(self) -> list[str]:
        r = self.r
        lines = [
            *self.seen_function(),
            "",
            f"cdef {self.ret} c_{self.key}({self.params}):",
            *indent(self.seen()),
            *indent(self.without_negative_dims()),
        ]
        if r.call.idle:
            lines += [f"    if {r.call.idle}:", "        return self"]
        if self.kind == "composite":
            formula = r.kernel.formula
            if "(" not in formula:
                given = f"{self.names}, None" if r.kernel.into else self.names
                return lines + [f"    return {self.composite_function()}({given})"]
            text, _ = self.emitter(self.arg_names(), self.plain_metadata).emit(parse(formula))
            return lines + [f"    return {text}"]
        body = [
            f"cdef uint32_t flags = {self.flags()}",
            f"cdef {self.ret} result",
        ]
        is_view = self.kind == "view"
        if self.diff:
            body.append("cdef Node n" + (" = None" if self.slots else ""))
        if self.many:
            body += ["cdef Py_ssize_t n_results, i"]
        body += self.claims()
        body += self.on_the_cpu()
        if isinstance(self.batching, Refused) and r.call.mutates:
            body += ["if flags & F_BATCHED:", f"    {self.batching.call}"]
        if r.call.mutates:
            body += [
                f"cdef tuple changed = {self.changed}",
                f'before_change(changed, {self.every} if flags & F_BATCHED else (), flags, "{self.shown}")',
            ]
        if getattr(r.derivatives.vjp, "refuse_tangents", False):
            body += [
                "if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
                f'    refuse_tangent({self.every}, "{self.shown}")',
            ]
        batch = [f"result = {self.batching.call}"]
        if self.resolves:
            batch = [
                "if flags & F_BATCHED:",
                *indent(batch),
                "else:",
                f"    result = {self.kernel_expression(resolving=True)}",
            ]
        test = "F_LAYERED" if self.resolves else "F_BATCHED"
        if isinstance(self.batching, Random):
            body += [
                "if flags & F_BATCHED or vmap_level():",
                f"    result = {self.batching.call}",
                "else:",
                f"    result = {self.kernel_expression(resolving=self.resolves)}",
            ]
        else:
            body += [
                f"if flags & {test}:",
                *indent(batch),
                "else:",
                f"    result = {self.kernel_expression()}",
            ]
        if r.call.mutates:
            body.append(f'after_change(changed, "{r.derivatives.node}")')
        first = r.args[0].name if r.args else None
        # One of millions of results, now and then.
        heed = ["    if i & 0x3fff == 0x3fff:", "        PyErr_CheckSignals()"]
        if is_view:
            creation = "CREATED_MULTI_OUTPUT" if r.derivatives.multi_view else "CREATED_DEFAULT"
            if self.many:
                body += [
                    "for i in range(len(result)):",
                    *heed,
                    f"    set_view(<Tensor>result[i], {first}, {creation})",
                ]
            else:
                body += [
                    f"if result.base == NULL and result is not {first}:",
                    f"    set_view(result, {first}, {creation})",
                ]
        if self.diff:
            record, save = [], []
            call = f"node_{self.key}({self.names}, False)"
            if self.many:
                call = f"node_{self.key}({self.names}, False, len(result))"
                record += [
                    f"n = {call}",
                    "for i in range(len(result)):",
                    *heed,
                    "    set_history(<Tensor>result[i], n, <int>i)",
                ]
            elif self.multi:
                record += [f"n = {call}"]
                for i, o in enumerate(r.returns):
                    if o not in r.derivatives.nondiff_outputs:
                        record.append(f"set_history(<Tensor>result[{i}], n, {i})")
                save = self.save_results(lambda o: f"<Tensor>result[{r.returns.index(o)}]")
            else:
                record += [f"n = {call}", "set_history(result, n, 0)"]
                save = self.save_results(lambda o: "result")
            test = f"not (tls_modes() & M_NO_GRAD) and ({self.recording()})"
            if not self.multi and not self.many:
                test += " and dt_differentiable(result.dt)"
            if is_view:
                test += (
                    f" and not ({first}.flags & F_INFERENCE)"  # nothing is tracked for its views
                )
            if not self.slots:
                record += ["if seen != NULL:", "    note_node(seen, n)"]
            body += [f"if flags & F_GRAD_PATH and {test}:", *indent(record)]
            body += [
                "if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
                f"    tangent_{self.key}(result, {self.names})",
            ]
            if save:
                # With its tangent, which the rule computes from the recorded result.
                body += ["if n is not None:", *indent(save)]
        node = "n" if self.diff and self.slots else "None"
        moved = "None" if is_view or self.nothing else "result"
        body += [*self.seen_end(f"finished(seen, {moved}, {node})"), "return result"]
        return lines + indent(body)

    def composite_function(self) -> str:
        """The function that a composite is, by its name in the generated module."""
        family, _, function = self.r.kernel.formula.partition(".")
        if family != self.r.file:
            raise FormulaError(
                f"{self.key}: a composite of the family {self.r.file} is in "
                f"{self.r.file}_composites, not of {family!r}"
            )
        self.imports.setdefault(f"{family}_composites", set()).add(function)
        return f"{family}_composites_{function}"

    def inplace_operator(self) -> list[str]:
        r = self.r
        lines = [
            "",
            f"cdef Tensor c_{self.key}_({self.params}):",
            *indent(self.seen("_")),
            *indent(self.without_negative_dims()),
        ]
        given = ", ".join(
            "overwritten(self, flags)" if a.name == "self" else a.name for a in r.args
        )
        call = f'replace_value(self, T.{self.key}({given}), "{self.shown}_")'
        if r.call.idle:
            lines += [f"    if {r.call.idle}:", "        return self"]
        if self.kind == "composite":
            formula = r.kernel.formula
            text = self.last_step(parse(formula), "inplace") if "(" in formula else None
            if text is not None:
                return lines + [f"    return {text}"]
            lines.append(f"    cdef uint32_t flags = {self.flags()}")
            return lines + indent([*self.composite_in_place(), f"return {call}"])
        body = [
            f"cdef uint32_t flags = {self.flags()}",
            "cdef bint recording = False",
        ]
        if self.diff:
            body.append("cdef Node n = None")
        layered = "F_LAYERED" if self.resolves else "F_BATCHED"
        if isinstance(self.batching, Random):
            body += ["if vmap_level():", f"    return {self.batching.in_place}"]
        body += [
            f"if flags & ({layered} | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD):",
            f"    return {call}",
        ]
        if self.diff:
            body += [
                f"if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and ({self.recording()}):",
                "    recording = True",
            ]
        else:
            body += [
                "if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and requires_grad(self):",
                "    recording = True",
            ]
        body += self.claims(False)
        body += self.on_the_cpu()
        truth = self.kind == "elementwise" and r.kernel.dtypes == "bool"
        if self.kind == "elementwise" and r.kernel.dtypes == "real":
            body.append(f'refuse_complex(self, "{self.shown}")')
        body.append(f'check_inplace(self, "{self.shown}_", recording)')
        if self.diff:
            body += ["if recording:", f"    n = node_{self.key}({self.names}, True)"]
        if self.kind == "elementwise":
            body.append(self.kernel_expression("self"))
        elif has_shape(r):
            body += self.separate("self", "_")
            body.append(self.kernel_expression("self", inplace=True))
        elif self.writes_out:
            body.append(self.kernel_expression("self"))
        else:
            body.append(f'put_value(self, {self.kernel_expression()}, "{self.shown}_")')
        if self.diff:
            body.append("end_inplace(self, n)")
            if save := self.save_results(lambda o: "self"):
                body += ["if recording:", *indent(save)]
        else:
            make = "constant_history" if truth else "unknown_history"
            body += [
                "end_inplace(self, None)",
                "if recording:",
                f'    {make}(self, "{r.derivatives.node}")',
            ]
        node = "n" if self.diff else "None"
        body += [*self.seen_end(f"finished(seen, self, {node})"), "return self"]
        return lines + indent(body)

    def fresh_operator(self) -> list[str]:
        """The form for functions that make tensors: it fills what nobody else knows yet."""
        head = f"cdef Tensor c_{self.key}_fresh({self.params}, str op, str draws):"
        body = [
            "if vmap_level():",
            f'    return random_under_vmap(op, "{self.key}", ({self.names},), draws)',
            *fresh_function(self.r, self.imports),
        ]
        return ["", head, *indent(body)]

    def separate(self, target: str, form: str = "") -> list[str]:
        """Lines that refuse operands in the memory of which a kernel writes some places only."""
        if not self.r.kernel.places:
            return []
        ways = {"Tensor": "separated", "operand": "separated", "indices": "all_separated"}
        return [
            f'{a.name} = {ways[a.type]}({target}, {a.name}, "{self.shown}{form}")'
            for a in self.r.args
            if a.name != self.r.kernel.over and a.type in ways
        ]

    def composite_in_place(self) -> list[str]:
        """Lines that let a composite write to `self`, where nothing is recorded."""
        if not self.r.kernel.into:
            return []
        return [
            "if not (flags & (F_LAYERED | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD)",
            "        or (flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD))):",
            f'    check_inplace(self, "{self.shown}_", False)',
            f"    if {self.composite_function()}({self.names}, self) is self:",
            "        return self",
        ]

    # --- events: see ext/core/recorder.pyx --------------------------------------------------

    def event(self, form: str = "") -> str:
        """The number of the event's name."""
        entry = (self.key, self.r.event_name + form)
        if entry not in self.events:
            self.events.append(entry)
        return f"E + {self.events.index(entry)}"

    @property
    def silent(self) -> bool:
        """Whether there are no events of it: a step of formulas that is made of operators."""
        return self.kind == "composite" and self.r.event_name.startswith("autograd_cy::")

    def seen(self, form: str = "") -> list[str]:
        """The first lines of a form: its event begins, and ends however the function is left."""
        if self.silent:
            return []
        return [
            "cdef Scope seen = NULL",
            "if g_modes & G_PROFILE:",
            f"    seen = seen_{self.key}({self.event(form)}{', ' if self.names else ''}{self.names})",
        ]

    def seen_end(self, call: str) -> list[str]:
        """Lines that end the event before the function returns."""
        if self.silent:
            return []
        return ["if seen != NULL:", f"    {call}", "    seen = NULL"]

    def seen_function(self) -> list[str]:
        """`seen_<key>`: an event begins, with what its arguments look like. Out of the plain path."""
        if self.silent:
            return []
        params = f", {self.params}" if self.params else ""
        puts = [f"{PUT.get(arg_type(a.type).c, 'put_object')}({a.name})" for a in self.r.args]
        for i, a in enumerate(self.r.args):
            if a.type == "dtype?":
                puts[i] = f"put_dtype({a.name})"
        return [
            "",
            f"cdef Event* seen_{self.key}(int event{params}) noexcept:",
            "    cdef Event* seen = begin(event, S_OPERATOR)",
            "    if seen != NULL and details & D_ARGUMENTS:",
            *(f"        {line}" for line in puts),
            "        put_end(seen)",
            *["        seen.moved = 0"] * (self.kind == "view"),
            "    return seen",
        ]

    def result_dtype(self) -> str | None:
        """The code of the dtype that an elementwise kernel gives; None if only its result says."""
        k = self.r.kernel
        if self.kind != "elementwise" or k.dtypes not in ("same", "real", "bool", "complex"):
            return None
        if k.dtypes == "bool":
            return "DT_BOOL"
        names = [a.name for a in self.r.args if a.type in ("Tensor", "operand")][
            int(k.skip_first) :
        ]
        code = f"{names[0]}.dt" if len(names) == 1 else f"common_dtype(({', '.join(names)}))"
        wrap = {"real": "dt_real", "complex": "dt_to_complex"}.get(k.dtypes)
        return f"{wrap}({code})" if wrap else code

    def last_step(self, tree: ast.expr, form: str) -> str | None:
        """The formula of a composite with its last step in another form; None if it has none."""
        if isinstance(tree, ast.IfExp):
            first, second = self.last_step(tree.body, form), self.last_step(tree.orelse, form)
            if first is None or second is None:
                return None
            test = self.emitter(self.arg_names(), self.plain_metadata).emit(tree.test)[0]
            return f"({first} if {test} else {second})"
        text, kind = self.emitter(self.arg_names(), self.plain_metadata).emit(tree)
        found = re.fullmatch(r"T\.(\w+)\((.*)\)", text, re.S) if kind == "T" else None
        if found is None:
            return None
        record = next(r for rs in self.records.values() for r in rs if r.key == found[1])
        if form == "out":
            exact = self.r.call.out == "exact" and getattr(record.kernel, "dtypes", None) == "same"
            fits = (
                record.call.out == self.r.call.out or exact
            ) and record.call.wide_out == self.r.call.wide_out
            return f"T.{found[1]}_out({found[2]}, out)" if fits else None
        fits = record.call.inplace and re.match(r"self\b(?=,|$)", found[2])
        return f"T.{found[1]}_({found[2]})" if fits else None

    def out_operator(self) -> list[str]:
        r = self.r
        lines = [
            "",
            f"cdef Tensor c_{self.key}_out({self.params}, Tensor out):",
            *indent(self.seen()),
            *indent(self.without_negative_dims()),
            f'    check_out(out, {self.flags()}, "{self.shown}")',
        ]
        write = {"exact": "write_exact_out", "truth": "write_truth_out"}.get(
            r.call.out, "write_out"
        )
        if r.call.wide_out:
            chosen = any(a.type == "dtype?" for a in r.args)
            if chosen:
                lines += [
                    "    if dtype >= 0:",
                    f'        need_exact_out(out, dtype, "{self.shown}")',
                ]
            # As in torch, what has a dtype and takes integers computes in the dtype of `out`.
            if "i" in r.call.dtypes and chosen:
                lines.append("    dtype = out.dt")
            else:
                lines.append("    self = widened(self, out)")
        if self.kind == "composite":
            value = f"c_{self.key}({self.names})"
            if r.kernel.into:
                value = "value"
                lines += [
                    f"    cdef Tensor value = {self.composite_function()}({self.names}, out)",
                    "    if value is out:",
                    "        return out",
                ]
            elif "(" in r.kernel.formula:
                text = self.last_step(parse(r.kernel.formula), "out")
                if text is not None and r.call.out == "exact":
                    given = ", ".join(a.name for a in r.tensor_args)
                    lines += [
                        f"    if out.dt == common_dtype(tuple([t for t in ({given},) if t is not None])):",
                        f"        return {text}",
                    ]
                elif text is not None:
                    return [*lines, f"    return {text}"]
            return [
                *lines,
                f'    {write}(out, {value}, "{self.shown}")',
                "    bump_version(out)",
                "    return out",
            ]
        lines += indent(self.claims())
        if refusal := self.on_the_cpu():
            lines += [f"    cdef uint32_t flags = {self.flags()}", *indent(refusal)]
        exact = self.result_dtype() if r.call.out == "exact" else None
        if exact is not None:
            # What is real for a complex tensor may go into a complex one, too.
            refuse = "need_exact_out" if r.kernel.dtypes == "complex" else "raise other_out"
            unless = "dt_is_complex(self.dt) or " if r.kernel.dtypes == "real" else ""
            lines += [
                f"    if not ({unless}out.dt == {exact}):",
                f'        {refuse}(out, {exact}, "{self.shown}")',
            ]
        if has_shape(r):
            lines += [
                f"    cdef uint32_t flags = {self.flags()}",
                *indent(self.separate("out")),
                f"    {self.kernel_expression('out', resolving=self.resolves)}",
            ]
        elif (
            self.writes_out
            or exact is not None
            or (self.kind == "elementwise" and write == "write_out")
        ):
            lines.append(f"    {self.kernel_expression('out', resolving=self.resolves)}")
        else:
            lines.append(
                f'    {write}(out, {self.kernel_expression(resolving=self.resolves)}, "{self.shown}")'
            )
        ends = self.seen_end("finished(seen, out, None)")
        return lines + ["    bump_version(out)", *indent(ends), "    return out"]

    def outs_operator(self) -> list[str]:
        """The form with one tensor in ``out=`` for each of several results."""
        writes = [f"bump_version(<Tensor>out[{i}])" for i in range(len(self.r.returns))]
        body = [
            *self.seen(),
            *self.without_negative_dims(),
            *self.claims(),
            f"cdef uint32_t flags = {self.flags()}",
            *self.on_the_cpu(),
            self.kernel_expression("out", resolving=self.resolves),
            *writes,
            "return out",
        ]
        return ["", f"cdef tuple c_{self.key}_outs({self.params}, tuple out):", *indent(body)]
