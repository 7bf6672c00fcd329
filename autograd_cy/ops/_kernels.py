"""The kernels of records: what computes an operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class only_if:
    """A name that counts only under a condition, an expression over the other arguments."""

    name: str
    condition: str


def with_conditions(entries: Iterable[str | only_if]) -> tuple[tuple[str, str], ...]:
    """Return names with their conditions; "" is none."""
    return tuple((e, "") if isinstance(e, str) else (e.name, e.condition) for e in entries)


@dataclass(frozen=True)
class elementwise:
    """An elementwise kernel of ext/codegen/kernel_specs.py; arguments are its tensor operands.

    `dtypes` is how result and computing dtype are chosen: "same" (promoted), "bool" (result),
    "float" (integers become the default float), "real" (result of complex operands), "complex";
    several words go together: of ("float", "real") integers give floats, complex operands real
    results. `skip_first`: the first operand is a condition and keeps its dtype.
    """

    name: str
    dtypes: str | tuple[str, ...] = "same"
    skip_first: bool = False
    args: tuple[str, ...] | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The words of `dtypes`."""
        return (self.dtypes,) if isinstance(self.dtypes, str) else self.dtypes


@dataclass(frozen=True)
class step_loop:
    """The loop of an optimizer's step, from which step_kernels.py makes the CPU's kernel.

    `name` is that of ``<name>_step``, the loop over elements, and of ``<name>_begin``, what is
    computed once for a parameter, in ext/kernels/optimizer_loops.pyx. Both get the numbers of the
    step by name, as members of a struct: the arguments ``float`` and ``bool`` of the record, `lr`,
    the `numbers` and what `derived` adds.

    `arrays` are lists of state in the memory format of the parameters, in the order of the loop,
    ``only_if("max_exp_avg_sqs", "amsgrad")`` where they are only used then; `numbers` are lists of
    tensors of one number, which ``<name>_begin`` moves on. `derived` are numbers that it computes
    for the loop. `fixed` are arguments of the loop that the record hasn't. `cost` is that of an
    element, in additions.
    """

    name: str
    arrays: tuple[str | only_if, ...]
    numbers: tuple[str, ...]
    derived: tuple[str, ...] = ()
    fixed: dict[str, str] = field(default_factory=dict)
    cost: float = 4.0

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        """The arrays, each with the condition."""
        return with_conditions(self.arrays)


@dataclass(frozen=True)
class call:
    """A hand-written kernel ``module.function`` of autograd_cy._C on plain tensors.

    `shape` is the call of a shape rule, ``"rules_reduction.reduced_shape(self, dim, keepdim)"``: it
    checks the arguments and says of which dtype and shape the results are, for all devices. The
    kernel is that of the CPU, and gets the results to fill, in C order or as the rule says, before
    the arguments of the signature (or those named in `args`) in their C types. Other devices
    register kernels of the same signature. `over`: a result may be the argument of that name, which
    the kernel then changes in place (for in-place forms). `places`: it writes some places of that
    argument, which has any strides, and nothing else that it gets may share memory with it.

    `sized`: the function ``module.function`` that finds sizes in values, for results whose size the
    values decide. The rule then has the word ``sizes`` among its arguments: it is called with NULL
    there, checks what can be checked, and says NEEDS_SIZES if it can't do without. Then the
    function gets the arguments, a buffer for 64 sizes, and a list in which it may leave what the
    kernel can use; the rule is called again with the sizes, and the kernel gets the list (or None)
    as its last argument. Both are slots of a device, the second one by the key with ``.sizes``
    behind it.

    `shortcut`: a function of all devices that gets the arguments and ``out`` (`self`, in place, or
    None), and returns the result if there is a way that needs neither sizes nor the kernel; else
    None.

    Without a shape there is one function for all devices, which returns its results: it is made of
    copies, fills, views and elementwise operations (`anywhere`), or it reads values to know how
    large they are, and works on the CPU alone.

    `from_host`: arguments that may be on the CPU while the others are on meta, as torch allows
    where it finds the shape of the result in them alone. `on_host`: arguments that are on the CPU
    whatever the device of the others, which the operator's caller has seen to.

    `into`: it takes an ``out`` as last argument, a tensor that elementwise operators may write to
    (`self`, in place) or None.

    `follows`: outputs, and the tensors of which one has to be in channels last for them to be so,
    too, ``{"result": ("input", "weight")}``, or ``only_if("input", "mode != 3")``. The kernel fills
    them in C order, and they are turned afterwards; or, with `any_format`, the CPU's kernel gets
    memory in that format.

    `draws`: it draws random numbers. As last argument it gets the state of a generator, two int64
    on the device of the result, reads key and position there, and moves the position on. The
    generator is the record's argument of that name, or the default one of the device. Such a kernel
    fills C order only.

    `lazy`: it knows what to do with a tensor whose conjugation or negation is still to be done
    (F_LAZY); for all others that is done before.

    `conjugates`: operands whose conjugation may still be to be done where the kernel of the device
    reads it (lazy.pxd); for others it is done before.

    `loop`: the kernel of the CPU is made from this `step_loop`.
    """

    target: str
    args: tuple[str, ...] | None = None
    lazy: bool = False
    shape: str | None = None
    over: str | None = None
    anywhere: bool = False
    places: bool = False
    into: bool = False
    from_host: tuple[str, ...] = ()
    on_host: tuple[str, ...] = ()
    follows: dict[str, str | tuple[str, ...] | only_if] = field(default_factory=dict)
    any_format: bool = False
    draws: bool = False
    loop: step_loop | None = None
    sized: str | None = None
    shortcut: str | None = None
    conjugates: tuple[str, ...] = ()

    @property
    def format_sources(self) -> dict[str, tuple[tuple[str, ...], str]]:
        """The tensors whose memory format each output may take, and the condition."""
        sources = {}
        for output, tensors in self.follows.items():
            entries = tensors if isinstance(tensors, tuple) else (tensors,)
            names = tuple(name for name, _ in with_conditions(entries))
            sources[output] = names, with_conditions(entries)[0][1]
        return sources


@dataclass(frozen=True)
class view:
    """Like `call`, but the result shares memory with the first argument.

    `by_shape`: what it refuses goes by shapes and numbers, not by strides; vmap asks it about an
    example.
    """

    target: str
    args: tuple[str, ...] | None = None
    by_shape: bool = False


@dataclass(frozen=True)
class host:
    """A NumPy or SciPy expression over the arguments, for what isn't hot; interpreted records only.

    Tensors come as arrays that share their memory (half types as float32 copies). `target` is an
    expression (``"np.linalg.inv(A)"``), or ``module.function`` of autograd_cy/_interpreted, which
    gets arrays. `dtypes` says what the results are, one word each: "same" (promoted from the
    tensors), "first" (that of the first tensor), "float" (integers become the default float),
    "real" and "complex" (the counterparts of "float"), "int32", "int64", "bool".
    """

    target: str
    dtypes: str | tuple[str, ...] = "same"


@dataclass(frozen=True)
class composite:
    """Made of other operators: a formula, or ``module.function`` that calls them.

    No node is recorded; every derivative follows from the parts. Where the last step of a formula
    is an operator with an ``out=`` or in-place form, that form does the last step; otherwise the
    value is copied. `into`: the function takes an ``out`` as last argument, or None, and may return
    that with the result in it. ``out`` is the first argument itself for the in-place form; what is
    written then has its shape and dtype.
    """

    formula: str
    into: bool = False
