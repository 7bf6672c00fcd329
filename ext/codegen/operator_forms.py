"""The forms of an operator: with a result of its own, in place, and into ``out=``.

Each form is a class whose `lines` are one Cython function, put together from the parts in
form_parts.py.
"""

from __future__ import annotations

from ext.codegen.form_parts import (
    BeginChange,
    CheckDevice,
    CheckDtype,
    CheckTangent,
    Composite,
    Compute,
    EndChange,
    Event,
    History,
    KernelCall,
    Part,
    SaveResults,
    Tangent,
    View,
)
from ext.codegen.kernel_runs import fresh_function, has_shape
from ext.codegen.lines import indent
from ext.codegen.vmap_rules import Random, rule_of

# The function that copies a value into ``out``, by the dtypes that a record takes there.
WRITE = {"exact": "write_exact_out", "truth": "write_truth_out"}


class Form(Part):
    """A function in C, ``c_<key>`` with a suffix."""

    def part(self, kind: type[Part]) -> list[str]:
        """The lines of a part."""
        return kind(self.op, self.node).lines()

    @property
    def event(self) -> Event:
        return Event(self.op, self.node)

    @property
    def kernel(self) -> KernelCall:
        return KernelCall(self.op)

    @property
    def composite(self) -> Composite:
        return Composite(self.op, self.node)

    def flags(self) -> str:
        """The declaration of the flags of all arguments."""
        return f"cdef uint32_t flags = {self.op.flags()}"

    def idle(self) -> list[str]:
        """Lines that return at once where the operator does nothing."""
        return [f"if {self.r.call.idle}:", "    return self"] if self.r.call.idle else []

    def function(self, head: str, event: list[str], body: list[str]) -> list[str]:
        return ["", head, *indent([*event, *self.op.without_negative_dims(), *body])]


class ResultForm(Form):
    """``c_<key>``: the operator itself."""

    PARTS = (
        CheckDtype,
        CheckDevice,
        BeginChange,
        CheckTangent,
        Compute,
        EndChange,
        View,
        History,
        Tangent,
        SaveResults,
    )

    def lines(self) -> list[str]:
        head = f"cdef {self.op.ret} c_{self.op.key}({self.op.params}):"
        return [
            *self.event.lines(),
            *self.function(head, self.event.begin(), [*self.idle(), *self.body()]),
        ]

    def body(self) -> list[str]:
        if self.op.kind == "composite":
            return self.composite.lines()
        lines = [self.flags(), f"cdef {self.op.ret} result"]
        if self.node is not None:
            lines.append("cdef Node n" + (" = None" if self.node.slots else ""))
        if self.op.many:
            lines.append("cdef Py_ssize_t n_results, i")
        for part in self.PARTS:
            lines += self.part(part)
        node = "n" if self.node is not None and self.node.slots else "None"
        result = "None" if self.op.kind == "view" or self.op.nothing else "result"
        return [*lines, *self.event.end(f"finished(seen, {result}, {node})"), "return result"]


class InPlaceForm(Form):
    """``c_<key>_``: the form that writes its result to `self`."""

    def lines(self) -> list[str]:
        head = f"cdef Tensor c_{self.op.key}_({self.op.params}):"
        body = self.by_others() if self.op.kind == "composite" else self.by_kernel()
        return self.function(
            head, self.event.begin("_"), [*self.idle(), *self.check_given_dtype(), *body]
        )

    def check_given_dtype(self) -> list[str]:
        """Lines that refuse a ``dtype`` which `self` doesn't have."""
        if not any(a.type == "dtype?" for a in self.r.args):
            return []
        return ["if dtype >= 0 and dtype != self.dt:", "    raise bad_inplace(self, dtype)"]

    def replacement(self) -> str:
        """The call that computes a result of its own, which then takes the place of `self`."""
        arguments = ", ".join(
            "overwritten(self, flags)" if a.name == "self" else a.name for a in self.r.args
        )
        return f'replace_value(self, T.{self.op.key}({arguments}), "{self.op.shown}_")'

    def by_others(self) -> list[str]:
        composite = self.composite
        text = None if composite.by_function else composite.last_step("inplace")
        if text is not None:
            return [f"return {text}"]
        return [self.flags(), *composite.in_place(), f"return {self.replacement()}"]

    def by_kernel(self) -> list[str]:
        lines = [self.flags(), "cdef bint recording = False"]
        if self.node is not None:
            lines.append("cdef Node n = None")
        lines += self.without_kernel()
        requires = "requires_grad(self)" if self.node is None else f"({self.op.recording()})"
        lines += [
            f"if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and {requires}:",
            "    recording = True",
            *CheckDtype(self.op, self.node).check(inplace=True),
            *self.part(CheckDevice),
        ]
        if self.op.kind == "elementwise" and self.r.kernel.dtypes == "real":
            lines.append(f'refuse_complex(self, "{self.op.shown}")')
        lines.append(f'check_inplace(self, "{self.op.shown}_", recording)')
        if self.node is not None:
            lines += ["if recording:", f"    n = node_{self.op.key}({self.op.names}, True)"]
        lines += [*self.computation(), *self.history()]
        node = "None" if self.node is None else "n"
        return [*lines, *self.event.end(f"finished(seen, self, {node})"), "return self"]

    def without_kernel(self) -> list[str]:
        """Lines that leave where a result of its own is needed: under vmap, in forward mode."""
        lines, batching = [], rule_of(self.op)
        if isinstance(batching, Random):
            lines = ["if vmap_level():", f"    return {batching.in_place}"]
        layered = "F_LAYERED" if self.op.resolves else "F_BATCHED"
        dual = f"flags & ({layered} | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD)"
        return [*lines, f"if {dual}:", f"    return {self.replacement()}"]

    def computation(self) -> list[str]:
        kernel = self.kernel
        if has_shape(self.r):
            return [*kernel.check_memory("self", "_"), kernel.expression("self", inplace=True)]
        if self.op.kind == "elementwise" or kernel.writes_out:
            return [kernel.expression("self")]
        return [f'put_value(self, {kernel.expression()}, "{self.op.shown}_")']

    def history(self) -> list[str]:
        """Lines that make the node the history of `self`, or say that there is none."""
        if self.node is not None:
            save = self.node.save_results(lambda output: "self")
            saving = ["if recording:", *indent(save)] if save else []
            return ["end_inplace(self, n)", *saving]
        truth = self.op.kind == "elementwise" and self.r.kernel.dtypes == "bool"
        make = "constant_history" if truth else "unknown_history"
        constant = f'    {make}(self, "{self.r.derivatives.node}")'
        return ["end_inplace(self, None)", "if recording:", constant]


class FreshForm(Form):
    """``c_<key>_fresh``: for functions that make tensors, it fills one that nobody else has."""

    def lines(self) -> list[str]:
        key, names = self.op.key, self.op.names
        return [
            "",
            f"cdef Tensor c_{key}_fresh({self.op.params}, str op, str draws):",
            "    if vmap_level():",
            f'        return random_under_vmap(op, "{key}", ({names},), draws)',
            *indent(fresh_function(self.r, self.op.imports)),
        ]


class OutForm(Form):
    """``c_<key>_out``: the form that writes its result to ``out``."""

    def lines(self) -> list[str]:
        head = f"cdef Tensor c_{self.op.key}_out({self.op.params}, Tensor out):"
        check = f'check_out(out, {self.op.flags()}, "{self.op.shown}")'
        body = self.by_others() if self.op.kind == "composite" else self.by_kernel()
        return self.function(head, self.event.begin(), [check, *self.wide(), *body])

    def write(self, value: str) -> str:
        """The call that copies a value."""
        write = WRITE.get(self.r.call.out, "write_out")
        return f'{write}(out, {value}, "{self.op.shown}")'

    def wide(self) -> list[str]:
        """Lines that compute in the dtype of ``out``, as torch does where it is a wider one."""
        if not self.r.call.wide_out:
            return []
        if not any(a.type == "dtype?" for a in self.r.args):
            return ["self = in_wider_dtype(self, out)"]
        # An operator that has a dtype and takes integers computes in the dtype of `out`.
        wide = "dtype = out.dt" if "i" in self.r.call.dtypes else "self = in_wider_dtype(self, out)"
        return ["if dtype >= 0:", f'    need_exact_out(out, dtype, "{self.op.shown}")', wide]

    def by_others(self) -> list[str]:
        composite, lines = self.composite, []
        value = f"c_{self.op.key}({self.op.names})"
        if self.r.kernel.into:
            value = "value"
            lines = [
                f"cdef Tensor value = {composite.function()}({self.op.names}, out)",
                "if value is out:",
                "    return out",
            ]
        elif not composite.by_function:
            text = composite.last_step("out")
            if text is not None and self.r.call.out != "exact":
                return [f"return {text}"]
            if text is not None:
                tensors = ", ".join(a.name for a in self.r.tensor_args)
                dtype = f"common_dtype(tuple([t for t in ({tensors},) if t is not None]))"
                lines = [f"if out.dt == {dtype}:", f"    return {text}"]
        return [*lines, self.write(value), "bump_version(out)", "return out"]

    def by_kernel(self) -> list[str]:
        lines = self.part(CheckDtype)
        if refusal := self.part(CheckDevice):
            lines += [self.flags(), *refusal]
        exact = self.kernel.result_dtype() if self.r.call.out == "exact" else None
        if self.r.call.out == "exact" and self.kernel.writes_out:
            exact = "self.dt"  # which such kernels have
        if exact is not None:
            lines += self.check_dtype_of_out(exact)
        lines += [*self.computation(exact is not None), "bump_version(out)"]
        return [*lines, *self.event.end("finished(seen, out, None)"), "return out"]

    def check_dtype_of_out(self, dtype: str) -> list[str]:
        """Lines that refuse another dtype; a real result may go into a complex tensor, too."""
        rule = getattr(self.r.kernel, "dtypes", "same")
        refuse = "need_exact_out" if rule == "complex" else "raise other_out"
        unless = "dt_is_complex(self.dt) or " if rule == "real" else ""
        return [
            f"if not ({unless}out.dt == {dtype}):",
            f'    {refuse}(out, {dtype}, "{self.op.shown}")',
        ]

    def computation(self, exact: bool) -> list[str]:
        kernel, resolves = self.kernel, self.op.resolves
        if has_shape(self.r):
            memory = kernel.check_memory("out")
            return [self.flags(), *memory, kernel.expression("out", resolving=resolves)]
        any_dtype = self.op.kind == "elementwise" and self.r.call.out not in WRITE
        if kernel.writes_out or exact or any_dtype:
            return [kernel.expression("out", resolving=resolves)]
        return [self.write(kernel.expression(resolving=resolves))]


class OutsForm(Form):
    """``c_<key>_outs``: the form with one tensor in ``out=`` for each of several results."""

    def lines(self) -> list[str]:
        head = f"cdef tuple c_{self.op.key}_outs({self.op.params}, tuple out):"
        body = [
            *self.part(CheckDtype),
            self.flags(),
            *self.part(CheckDevice),
            self.kernel.expression("out", resolving=self.op.resolves),
            *(f"bump_version(<Tensor>out[{i}])" for i in range(len(self.r.returns))),
            "return out",
        ]
        return self.function(head, self.event.begin(), body)
