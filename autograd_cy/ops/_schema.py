"""The vocabulary of the operator table.

One record describes one operator; the generator (ext/codegen) derives everything else from it:
typed node, dispatch, method, in-place and ``out=`` forms, double backward, forward mode, vmap, stub,
reference page, tests. Records only use the names defined here, so the table can be read without
building the package, and importing the package never reads the table.

The signature
-------------
``"name(arg, arg: type = default, *, arg: type = default) -> returns"``; an overload is written
``"name.overload(...)"``. Types of arguments:

==============  ===================================================================================
(none)         a tensor
``operand``    a tensor or a number (numbers promote as torch's wrapped numbers do)
``Tensor?``    a tensor or None
``Tensor[]``   a sequence of tensors
``Scalar``     a number, passed on as a 0-d wrapped tensor; never differentiable
``int``        ``int?``, ``float``, ``float?``, ``bool``, ``str``, ``str?``: plain values; a truth value is no int
``bool?``      a bool, or None for False
``dim``        an int that counts dimensions of the first tensor (shifted under vmap)
``dim?``       the same or None
``dims``       one or several of them; ``dims?`` also None
``sizes``      one int or several; as last argument of a method also given as separate arguments
``ints``       several ints, always in a sequence
``padding``    as ``sizes``, or a word
``dtype?``     a dtype or None
``format?``    a memory format or None
``device?``    a device, its name or number, or None
``indices``    several index tensors and None, of advanced indexing
``start``      an int or a 0-d tensor of one
``correction``  a float, or None for 1
``order``      the order of a norm: a number, a name or None
``choice(a, b)``  one of these words
``ints(2)``    so many ints in a sequence, or one for all; the C value has so many
``int | Tensor``  what one of these types takes, of ``int``, ``float``, ``str``, ``ints`` and ``Tensor``; such a tensor
               has no derivative
``object``     anything; only for operators that nothing but formulas calls
==============  ===================================================================================

Each type has one converter (see _types.py), which turns a Python value into
the C value or refuses it with a TypeError that names operator, argument, position and what was given.

Returns: nothing written means one tensor ``result``; ``-> (values, indices)`` names several;
``-> Tensor[]`` is a tuple of tensors; ``-> ()`` is None, of an operator that only changes its arguments.

The formulas
------------
`vjp` maps a differentiable argument to the gradient with respect to it, written as on paper in
tensor operations: ``"grad * other.conj()"``. A formula may use

* ``grad``: gradient of the only differentiable output, or ``grad_<output>`` where there are several,
  or ``grads`` (a tuple) for ``-> Tensor[]``; ``given_<output>`` is None where ``grad_<output>`` would
  be made of zeros;
* the arguments by name, ``result`` or the named outputs, and the names in `attrs`;
* every operator of the table, as function or method, and the Python operators ``+ - * / ** @``;
* ``x.shape``, ``x.ndim``, ``x.numel()``, ``x.dtype`` of tensors: these save no tensor; integer
  arithmetic, ``len``, indexing of integer tuples, comparisons and ``a if c else b``.

What a formula uses is saved, and only if the gradient that uses it is needed. Three things are
handled once, outside the formulas: broadcasting is undone by the engine (a gradient is summed to the
shape of its input), a complex gradient of a real input keeps its real part, and a gradient that
never arrived is either skipped (no output has one) or taken as zeros. Complex gradients follow
torch's convention: the conjugate of the holomorphic derivative multiplies `grad`.

The same formula serves backward and, because it is made of recorded operators, every higher order.
An in-place form of an operator whose formula needs the old value of ``self`` saves a copy of it.
In place, an operator with bool results leaves zeros and ones that have zero gradients.

`jvp` is one of

* ``"elementwise"``: from the vjp formulas, with the tangent in place of ``grad`` (conjugated twice);
* ``"linear"``: the operator applied to the tangents (all tensor arguments together);
* ``"each"``: linear in each argument; the sum over arguments, with one replaced by its tangent;
* a dict from argument (or, with several outputs, output and then argument) to a formula that may use
  ``<arg>_t``, the primal arguments and the outputs.

`vmap` is one of

* ``"elementwise"``: move batch dimensions to the front, align the others;
* ``"dims"``: move the batch dimension of the first tensor to the front and shift ``dim`` arguments;
* a formula, or a dict from the batched arguments (``"self"``, ``"self,index"``) to formulas, written
  for physical tensors whose batch dimension is the first; ``B`` is the batch size, ``dim`` arguments
  are normalised for the logical tensor; unbatched arguments come as they are;
* ``"composite"``: the operator is made of others, whose rules apply;
* ``by_hand("module.function")``: a function with the operator's arguments;
* ``loop("reason")``: one call per example; ``randomly("...", draws="elements")``, ``refuse("...")``.

A key of `vjp` may name several arguments, ``("input", "weight")``: one formula gives the tuple of their
gradients, and may use ``needed``, a tuple that says which of them are wanted.

A record of ``tier="interpreted"`` becomes Python instead of Cython: it costs no build time and a few
microseconds a call. Its kernel may also be a `host` expression.

A public function lives at the top level, or in the module of its `namespace`, ``"nn.functional"``; formulas
then call it by all of it, ``nn_functional_name``. `also` names other namespaces whose modules have a
function of the top level, too. `mutates` names arguments that the kernel changes in place, beside its
results: tensors, or lists of them, ``"grads if grad_scale is not None"`` where it does so only then; for
autograd that is an in-place operation without a derivative.

A file of records that says ``LOADED = "at first use"`` is left out by ``import autograd_cy``: it is loaded when one of its
names is first used, or by another family that calls it. Only such families may call its operators.

`options` are keyword arguments that only the Python forms know: ``{"decimals: int = 0": "_round_decimals"}``
makes ``round(x, decimals=2)`` a call of ``_round_decimals(x, 2)``, and costs other calls one comparison.

In profiles an operator is ``aten::<name>``, a private one ``autograd_cy::<name>``; `event` is another name,
where torch has the operation under that one. `flops` counts its floating-point operations, an expression over
the sizes of tensors and the values of other arguments: ``"2 * self[0] * self[1] * mat2[1]"``; ``elements(self, other)``
is the number of elements after broadcasting, ``windows(input, weight, stride, padding, dilation)`` counts a convolution.
Sizes are counted from the front, as C does: ``size[len(size) - 1]``.

`autocast` is the dtype of the call within ``torch.autocast``: ``"lower"``, that of the region; ``"float32"``; ``"widest"``,
float32 if the tensors have several; ``"input"``, float32 for halves, with a result like the first argument; ``"padding"``,
float32 where ``mode=`` repeats elements. Without it the call isn't changed. All records of a name say the same.

What a node keeps for its formulas is seen as `_saved_<name>`. `shows` gives it the names that torch has:
``{"inverse": "result"}`` renames, ``{"alpha": "1"}`` is a constant, ``{"self_sym_sizes": "self.shape"}`` is known by the
edge, as are ``self.ndim`` and ``self.numel()``; ``self.stride()`` of a matrix and ``self.size(0)`` are kept as
numbers; other expressions are Python over the values of plain arguments that are
kept. `keeps` names arguments that are kept for nothing else; numbers cost nothing.

A gradient that is made of no input leaves the graph, even with create_graph=True, as torch's of ``2 * x`` does. `stays`
names those that torch keeps there, and the inputs that they lead to: ``{"bias": ("input", "weight")}``. Their next
derivatives are zeros.

`idle` says when the in-place form of a composite does nothing, so that no version is counted and a leaf may be
given: an expression over the plain arguments and ``self.count``.

Tensors of other dtypes than `dtypes` are refused by a NotImplementedError. `refusal` has the words of a RuntimeError
for where torch has such: ``"std and var only support floating point and complex dtypes"``.

A derivative that doesn't exist is said with its reason: ``vjp=nondiff("...")``.

What a parameter means is said by `params`, ``{"reduce": "how values that meet are combined"}``, if its name
doesn't say it (_texts.py knows the usual ones); `raises` names errors, ``{"IndexError": "an index is out of
range"}``; `example` is a session, ``">>> ag.neg(ag.tensor([1]))\\ntensor([-1])"``, that runs. All are for public records,
and are tested. The text of an in-place form is made of these: with `inplace` the calls of `example` must do in place, too.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from autograd_cy.ops._texts import text_of
from autograd_cy.ops._types import arg_type

# --- kernels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class elementwise:
    """An elementwise kernel of ext/codegen/kernel_specs.py; arguments are its tensor operands.

    `dtypes` is how result and computing dtype are chosen: "same" (promoted), "bool" (result),
    "float" (integers become the default float), "real" (result of complex operands), "complex";
    several words go together: of "float real" integers give floats, complex operands real results.
    `skip_first`: the first operand is a condition and keeps its dtype.
    """

    name: str
    dtypes: str = "same"
    skip_first: bool = False
    args: tuple[str, ...] | None = None


@dataclass(frozen=True)
class step_loop:
    """The loop of an optimizer's step, from which step_kernels.py makes the CPU's kernel.

    `name` is that of ``<name>_step``, the loop over elements, and of ``<name>_begin``, what is computed once for a
    parameter, in ext/kernels/optimizer_loops.pyx. Both get the numbers of the step by name, as members of a struct:
    the arguments ``float`` and ``bool`` of the record, `lr`, the `numbers` and what `derived` adds.

    `arrays` are lists of state that lie as the parameters, in the order of the loop, ``"max_exp_avg_sqs if amsgrad"``
    where they are only used then; `numbers` are lists of tensors of one number, which ``<name>_begin`` moves on.
    `derived` are numbers that it computes for the loop. `fixed` are arguments of the loop that the record hasn't.
    `cost` is that of an element, in additions.
    """

    name: str
    arrays: tuple[str, ...]
    numbers: tuple[str, ...]
    derived: tuple[str, ...] = ()
    fixed: dict[str, str] = field(default_factory=dict)
    cost: float = 4.0


@dataclass(frozen=True)
class call:
    """A hand-written kernel ``module.function`` of autograd_cy._C on plain tensors.

    `shape` is the call of a shape rule, ``"rules_reduction.reduced(self, dim, keepdim)"``: it checks
    the arguments and says of which dtype and shape the results are, for all devices. The kernel is
    that of the CPU, and gets the results to fill, in C order or as the rule says, before the
    arguments of the signature (or those named in `args`) in their C types. Other devices register
    kernels of the same signature. `over`: a result may be the argument of that name, which the
    kernel then changes in place (for in-place forms). `places`: it writes some places of that
    argument, which has any strides, and nothing else that it gets may share memory with it.

    `sized`: the function ``module.function`` that finds sizes in values, for results whose size the
    values decide. The rule then has the word ``sizes`` among its arguments: it is called with NULL there,
    checks what can be checked, and says NEEDS_SIZES if it can't do without. Then the function gets
    the arguments, room for 64 sizes, and a list in which it may leave what the kernel can use; the rule is
    called again with the sizes, and the kernel gets the list (or None) as its last argument. Both are slots
    of a device, the second one by the key with ``.sizes`` behind it.

    `shortcut`: a function of all devices that gets the arguments and ``out`` (`self`, in place, or None), and
    returns the result if there is a way that needs neither sizes nor the kernel; else None.

    Without a shape there is one function for all devices, which returns its results: it is made of
    copies, fills, views and elementwise operations (`anywhere`), or it reads values to know how
    large they are, and works on the CPU alone.

    `from_host`: arguments that may be on the CPU while the others are on meta, as torch allows where
    it finds the shape of the result in them alone. `on_host`: arguments that are on the CPU whatever
    the device of the others, which the operator's caller has seen to.

    `into`: it takes an ``out`` as last argument, a tensor that elementwise operators may write to
    (`self`, in place) or None.

    `follows`: outputs, and the tensors of which one has to lie channels last for them to do so, too,
    ``{"result": "input, weight"}``; where, may be said behind ``if``. The kernel fills them in C order,
    and they are turned afterwards; or, with `laid`, the CPU's kernel gets memory that lies so.

    `draws`: it draws random numbers. As last argument it gets the state of a generator, two int64 on the
    device of the result, reads key and position there, and moves the position on. The generator is the
    record's argument of that name, or the default one of the device. Such a kernel fills C order only.

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
    follows: dict[str, str] = field(default_factory=dict)
    laid: bool = False
    draws: bool = False
    loop: step_loop | None = None
    sized: str | None = None
    shortcut: str | None = None
    conjugates: tuple[str, ...] = ()


@dataclass(frozen=True)
class view:
    """Like `call`, but the result shares memory with the first argument.

    `by_shape`: what it refuses goes by shapes and numbers, not by strides; vmap asks it about an example.
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
    tensors), "first" (that of the first tensor), "float" (integers become the default float), "real"
    and "complex" (the counterparts of "float"), "int64", "bool".
    """

    target: str
    dtypes: str | tuple[str, ...] = "same"


@dataclass(frozen=True)
class composite:
    """Made of other operators: a formula, or ``module.function`` that calls them.

    No node is recorded; every derivative follows from the parts. Where the last step of a formula is
    an operator with an ``out=`` or in-place form, that form does the last step; otherwise the value
    is copied. `into`: the function takes an ``out`` as last argument, or None, and may return that
    with the result in it. ``out`` is the first argument itself for the in-place form; what is
    written then has its shape and dtype.
    """

    formula: str
    into: bool = False


@dataclass(frozen=True)
class nondiff:
    """States that there is no derivative, and why.

    `refuse_tangents`: in forward mode an argument with a tangent is an error, because the result is
    a number of the same kind and zero would be taken for its derivative.
    """

    reason: str
    refuse_tangents: bool = False


@dataclass(frozen=True)
class by_test:
    """A reference by hand: the test that compares the values, as ``tests/ops/file.py::test``."""

    test: str


@dataclass(frozen=True)
class loop:
    """A vmap rule: one call per example; says why nothing better exists."""

    reason: str


@dataclass(frozen=True)
class by_hand:
    """A vmap rule: a function ``module.function`` of autograd_cy._C with the operator's arguments."""

    target: str


@dataclass(frozen=True)
class refuse:
    """A vmap rule: an error with this text."""

    text: str


@dataclass(frozen=True)
class randomly:
    """A vmap rule of a random operator: `randomness` of vmap decides; the text is for the docs.

    `draws` is what the numbers depend on: "elements", one for each of the first argument; "shape",
    fewer, but by its shape alone; "chances", which its elements are; "around", those of the other
    arguments, the first says the shape; "values" of any argument. Examples can't share the last three.

    A record of one tensor with an in-place form has another one, ``T.<key>_fresh(..., op, draws)``, for functions that
    make tensors: it fills a new tensor of an example's shape, whose version stays 0; `op` is the name in
    errors, and `draws` may be "sizes", one call for all examples.
    """

    text: str
    draws: str = "values"


# --- special values ---------------------------------------------------------------------------

ORDERS = ("value", "gradient", "second")


@dataclass(frozen=True)
class differs:
    """Special values at which an elementwise operator has another answer than torch, and why.

    `what` names the answers, of "value", "gradient" and "second" (derivative). `where` is a NumPy
    expression over the arguments that is true at these points and may use ``np``, ``finite(x)`` (all
    parts are), ``infinite(x)`` and ``nan(x)`` (some part is), ``is_complex``, and ``largest`` and
    ``smallest``, the ends of the dtype's normal numbers. What is not listed must agree.
    """

    what: str
    where: str
    reason: str


# --- samples ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class real:
    """Random real numbers in [low, high]; `avoid` are points to stay away from (kinks, poles)."""

    low: float = -2.0
    high: float = 2.0
    avoid: tuple[float, ...] = ()
    gap: float = 0.1


@dataclass(frozen=True)
class box:
    """Random complex numbers with both parts in [low, high]."""

    low: float = -1.5
    high: float = 1.5


@dataclass(frozen=True)
class integers:
    """Random integers in [low, high)."""

    low: int = 0
    high: int = 3


@dataclass(frozen=True)
class booleans:
    """Random truth values."""


@dataclass(frozen=True)
class arg:
    """A tensor argument of a sample: its shape and where its values come from.

    `values` None means the domain of the record; indices and masks are not differentiable.
    """

    shape: tuple[int, ...]
    values: object = None
    differentiable: bool = True


@dataclass(frozen=True)
class sample:
    """One call that the generated tests make: positional and keyword arguments."""

    args: tuple = ()
    kwargs: dict = field(default_factory=dict)


def shapes(*lists, **kwargs):
    """Samples of tensor arguments only: one per tuple of shapes."""
    return [sample(tuple(arg(s) for s in one), kwargs) for one in lists]


def one(shape, *args, **kwargs):
    """A sample of one tensor and other arguments."""
    return sample((arg(shape), *args), kwargs)


def fixed(shape, values):
    """A tensor argument that is not differentiated: indices, masks."""
    return arg(shape, values, False)


UNARY = shapes(((3, 4),), ((),), ((0, 3),), ((5,),))
BINARY = shapes(((3, 4), (3, 4)), ((3, 1), (4,)), ((), (3,)), ((2, 3), ()), ((0, 3), (1, 3)))


@dataclass(frozen=True)
class error:
    """A call that must be refused: the sample, the error, and a part of its text."""

    call: sample
    error: type
    text: str


# --- what many records say -------------------------------------------------------------------

TRUTH = "the result is a truth value"
INDEX = "the result is an index"
EACH = "_reshape_each(self, (-1,))"  # examples of a batch as rows


# --- records ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arg:
    name: str
    type: str
    default: str | None     # Python text, or None for a required argument
    keyword: bool           # after the star

    @property
    def is_tensor(self) -> bool:
        return arg_type(self.type).tensor


@dataclass(frozen=True)
class Record:
    """One operator. See the module docstring for the meaning of the fields."""

    name: str
    overload: str
    args: tuple[Arg, ...]
    returns: tuple[str, ...]      # names of outputs; ("*",) for a tuple of tensors, () for None
    kernel: object
    vjp: object
    jvp: object
    vmap: object
    doc: str
    dtypes: str                   # class letters of the claimed dtypes: b i h f c
    reference: object             # NumPy/SciPy expression over the arguments, or by_test(...), for the tests
    samples: tuple
    domain: object                # values of sample arguments that say nothing else
    complex_domain: object
    inplace: bool
    method: bool
    function: bool
    out: bool | str               # "exact": of the dtype of the result only; "truth": bool or uint8
    dunder: str | None
    node: str                     # name of the node class
    variants: dict                # other names of the node -> when it has them, a formula
    attrs: dict                   # name -> expression computed when recording
    shows: dict                   # names of `_saved_*` attributes that torch has -> what they are made of
    keeps: tuple[str, ...]        # arguments that the node keeps only to show them
    when: str | None              # overload choice: expression over args and kwargs
    nondiff_outputs: tuple[str, ...]
    multi_view: bool              # several views of one base: in-place on them is refused
    alpha: bool | str             # takes alpha=, a factor of the last tensor; a record that does both at once ("-": negated), where a bool is for bools
    shown_as: str | None           # name that error messages show in place of a private one
    tolerance: float              # of the tests in float32, relative
    checks: str | None            # the Python form calls check_<this> (rules_common.pyx) first
    example: str | None
    aliases: tuple[str, ...]      # other public names; of what is in a namespace, those of top level and method
    options: tuple                # (keyword argument of the Python forms, record called if it is given)
    widen: tuple[str, str] | None # class letters whose tensors are converted, and to what ("int64", "float")
    plain_numbers: tuple[str, ...]  # operands that, as numbers, have no edge and are shown as numbers
    named: bool                   # several outputs come as a namedtuple
    wide_out: bool                # out= of float32 or float64 computes half types in its own dtype
    tier: str                     # "compiled", or "interpreted": Python and no C of its own
    namespace: str                # the module of the public function, as "linalg"; "" is the top level
    also: tuple[str, ...]         # other namespaces whose modules have the function, too
    mutates: tuple[str, ...]      # arguments that the kernel changes in place (running statistics)
    errors: tuple[error, ...]     # calls that the generated tests expect to be refused
    alone: str | None             # record called (with True) where only the first argument is given
    special: tuple                # `differs`: special values with another answer than torch's
    event: str | None             # name of its events, where that isn't the function's
    flops: str | None             # floating-point operations of a call, by the sizes of its arguments
    params: dict                  # argument -> what it means, of public records for all of them
    raises: tuple                 # (name of the error, when it is raised)
    stays: dict = field(default_factory=dict)  # gradients that stay in the graph of these inputs
    idle: str | None = None       # when the in-place form of a composite changes nothing
    refusal: str | None = None    # what a RuntimeError says of other dtypes; None: NotImplementedError
    asked_as: dict = field(default_factory=dict)  # special method of `dunder` -> name of the method that __torch_function__ is shown
    two_numbers: bool = False     # of two Python numbers it makes a tensor; others refuse them
    autocast: str | None = None   # its dtype in mixed precision, one of AUTOCAST
    file: str = ""
    later: bool = False           # its family is loaded at first use: LOADED, or interpreted

    @property
    def public(self) -> bool:
        """Whether programs can call it."""
        return not self.name.startswith("_") and (self.function or self.method)

    @property
    def fresh(self) -> bool:
        """Tell whether it has the form for functions that make random tensors (see `randomly`)."""
        return self.inplace and isinstance(self.vmap, randomly) and len(self.tensor_args) == 1

    @functools.cached_property
    def key(self) -> str:
        """Name of the C function and of the entry in the table of operators."""
        return self.symbol + ("_" + self.overload if self.overload else "")

    @functools.cached_property
    def symbol(self) -> str:
        """The operator's name in formulas."""
        return "_".join([*self.namespace.split("."), self.name] if self.namespace else [self.name])

    @property
    def shown(self) -> str:
        """The name in error messages."""
        return self.shown_as or (f"{self.namespace}.{self.name}" if self.namespace else self.name)

    @property
    def said(self) -> str:
        """The operator in errors about its arguments."""
        return self.shown_as or (self.name if self.namespace == "nn.functional" else self.symbol)

    @property
    def event_name(self) -> str:
        """The name of its events in profiles: torch's, or with our prefix what torch hasn't."""
        if self.event is not None:
            return self.event if "::" in self.event else f"aten::{self.event}"
        if self.name.startswith("_") and self.shown_as is None:
            return f"autograd_cy::{self.symbol.strip('_')}"
        return "aten::" + self.shown.removeprefix("nn.functional.").replace(".", "_")

    @property
    def joint(self) -> dict[tuple[str, ...], str]:
        """Gradient formulas by the arguments that each is for."""
        if not isinstance(self.vjp, dict):
            return {}
        return {k if isinstance(k, tuple) else (k,): v for k, v in self.vjp.items()}

    @property
    def outs(self) -> bool:
        """Whether ``out=`` takes a tuple: values and where they were, or the least and the largest."""
        return self.named and len(self.returns) == 2 and not self.out

    @property
    def differentiable(self) -> tuple[str, ...]:
        return tuple(name for keys in self.joint for name in keys)

    @property
    def tensor_args(self) -> tuple[Arg, ...]:
        return tuple(a for a in self.args if a.is_tensor)

    def arg(self, name: str) -> Arg:
        return next(a for a in self.args if a.name == name)


#: What `autocast=` may say.
AUTOCAST = ("lower", "float32", "widest", "input", "padding")
TABLE: list[Record] = []
_HEAD = re.compile(r"^(\w+)(?:\.(\w+))?\((.*)\)$", re.S)


class RecordError(ValueError):
    """A record that can't be built; the text says what is missing."""


def _checked_special(label, special):
    """The `special` field, of which every entry names known answers and has a reason."""
    entries = (special,) if isinstance(special, differs) else tuple(special)
    for entry in entries:
        if not isinstance(entry, differs) or not set(entry.what.split()) <= set(ORDERS) or not entry.what:
            raise RecordError(f"{label}: special= takes differs(...) of {', '.join(ORDERS)}")
        if not entry.reason:
            raise RecordError(f"{label}: special= without a reason")
        try:
            compile(entry.where, label, "eval")
        except SyntaxError as error:
            raise RecordError(f"{label}: special= can't be read: {entry.where!r}") from error
    return entries


def parse_signature(text: str):
    """``"name.overload(args) -> returns"`` as (name, overload, args, returns)."""
    head, _, returns = text.partition("->")
    m = _HEAD.match(head.strip())
    if not m:
        raise RecordError(f"cannot read the signature {text!r}")
    name, overload, inside = m.groups()
    args, keyword = [], False
    for part in filter(None, (p.strip() for p in _split(inside))):
        if part == "*":
            keyword = True
            continue
        left, _, default = part.partition("=")
        arg_name, _, kind = left.partition(":")
        kind = kind.strip() or "Tensor"
        try:
            arg_type(kind)
        except KeyError:
            raise RecordError(f"{name}: unknown argument type {kind!r}") from None
        args.append(Arg(arg_name.strip(), kind, default.strip() or None, keyword))
    outs: tuple[str, ...] = ("result",)
    if returns:
        returns = returns.strip()
        if returns == "Tensor[]":
            outs = ("*",)
        elif returns.startswith("("):
            outs = tuple(p.strip() for p in returns.strip("()").split(",") if p.strip())
    return name, overload or "", tuple(args), outs


def _split(text: str):
    """Split at commas outside brackets."""
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += c in "(["
        depth -= c in ")]"
        if c == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]


def op(
    signature: str,
    *,
    kernel,
    vjp=None,
    jvp=None,
    vmap=None,
    doc: str = "",
    dtypes: str = "bihfc",
    reference: str | by_test | None = None,
    samples=None,
    domain=None,
    complex_domain=None,
    inplace: bool = False,
    method: bool = True,
    function: bool = True,
    out: bool | str | None = None,
    dunder: str | None = None,
    node: str | None = None,
    variants: dict[str, str] | None = None,
    attrs: dict | None = None,
    shows: dict[str, str] | None = None,
    keeps: tuple[str, ...] = (),
    when: str | None = None,
    nondiff_outputs: tuple[str, ...] = (),
    multi_view: bool = False,
    alpha: bool | str = False,
    shown_as: str | None = None,
    tolerance: float = 2e-5,
    checks: str | None = None,
    example: str | None = None,
    aliases: tuple[str, ...] = (),
    options: dict[str, str] | None = None,
    widen: tuple[str, str] | None = None,
    plain_numbers: tuple[str, ...] = (),
    named: bool = True,
    wide_out: bool = False,
    tier: str = "compiled",
    namespace: str = "",
    also: tuple[str, ...] = (),
    mutates: tuple[str, ...] = (),
    errors: tuple[error, ...] = (),
    alone: str | None = None,
    special: object = (),
    event: str | None = None,
    flops: str | None = None,
    params: dict[str, str] | None = None,
    raises: dict[str, str] | None = None,
    idle: str | None = None,
    refusal: str | None = None,
    asked_as: dict[str, str] | None = None,
    two_numbers: bool = False,
    stays: dict[str, tuple[str, ...]] | None = None,
    autocast: str | None = None,
) -> Record:
    """Add a record to the table; raises RecordError if a rule is missing."""
    name, overload, args, returns = parse_signature(signature)
    label = name + ("." + overload if overload else "")
    if isinstance(kernel, composite):
        vjp = vjp if vjp is not None else "composite"
        jvp = jvp if jvp is not None else "composite"
        vmap = vmap if vmap is not None else "composite"
    for rule, value in (("vjp", vjp), ("jvp", jvp), ("vmap", vmap)):
        if value is None and not (rule == "jvp" and isinstance(vjp, nondiff)):
            raise RecordError(f"{label}: no {rule}; give a formula or say why there is none")
    if not doc:
        raise RecordError(f"{label}: no doc")
    if isinstance(reference, str):
        try:
            compile(reference, label, "eval")
        except SyntaxError as wrong:
            raise RecordError(f"{label}: reference= is an expression or by_test(...), not {reference!r}") from wrong
    if autocast is not None and autocast not in AUTOCAST:
        raise RecordError(f"{label}: autocast= is one of {', '.join(AUTOCAST)}, not {autocast!r}")
    if tier not in ("compiled", "interpreted"):
        raise RecordError(f"{label}: a tier is compiled or interpreted, not {tier!r}")
    if isinstance(kernel, host) and tier != "interpreted":
        raise RecordError(f"{label}: a host kernel is for tier=\"interpreted\"")
    for changed in mutates:
        one, _, when = changed.partition(" if ")
        if one not in [a.name for a in args if a.type in ("Tensor", "Tensor?", "Tensor[]")]:
            raise RecordError(f"{label}: mutates names {one!r}, which is no tensor among the arguments")
        if tier == "interpreted" and (when or "Tensor[]" in [a.type for a in args if a.name == one]):
            raise RecordError(f"{label}: lists that are changed, and what is changed at times only, need tier=\"compiled\"")
    if not returns and not (mutates and isinstance(kernel, call) and kernel.shape):
        raise RecordError(f"{label}: an operator without results changes arguments (mutates=), and has a shape rule that checks them")
    if mutates and inplace:
        raise RecordError(f"{label}: mutates and inplace don't go together")
    if asked_as and not dunder:
        raise RecordError(f"{label}: asked_as= is about the Python operator that dunder= names")
    if dunder and namespace:
        raise RecordError(f"{label}: a Python operator is of the top level, not of {namespace!r}")
    if samples is None and not name.startswith("_") and not isinstance(reference, by_test):
        raise RecordError(f"{label}: no samples")
    if isinstance(vjp, dict):
        for key in (k for keys in vjp for k in (keys if isinstance(keys, tuple) else (keys,))):
            if key not in [a.name for a in args]:
                raise RecordError(f"{label}: vjp names {key!r}, which is no argument")
    for key, inputs in (stays or {}).items():
        for one in (key, *inputs):
            if not isinstance(vjp, dict) or one not in [k for keys in vjp for k in (keys if isinstance(keys, tuple) else (keys,))]:
                raise RecordError(f"{label}: stays names {one!r}, which has no gradient")
    if node is None:
        within = [] if namespace == "nn.functional" else namespace.split(".")
        words = [*within, *name.strip("_").split("_")]
        camel = "".join(p[:1].upper() + p[1:] for p in words)
        node = camel + "Backward0"
    record = Record(
        name, overload, args, returns, kernel, vjp,
        jvp if jvp is not None else vjp, vmap, doc, dtypes, reference, tuple(samples or ()), domain,
        complex_domain, inplace, method and not name.startswith("_") and (not namespace or bool(aliases)), function,
        (isinstance(kernel, (elementwise, call, host)) and returns != ("*",) and (
            returns == ("result",) or tier == "interpreted")) if out is None else out,
        dunder, node, dict(variants or {}), dict(attrs or {}), dict(shows or {}), tuple(keeps), when, nondiff_outputs, multi_view, alpha, shown_as, tolerance,
        checks, example, tuple(aliases),
        tuple((parse_signature(f"option(*, {text})")[2][0], key) for text, key in (options or {}).items()), widen,
        tuple(plain_numbers), named, wide_out, tier, namespace, tuple(also), tuple(mutates), tuple(errors), alone, _checked_special(label, special),
        event, flops, dict(params or {}), tuple((raises or {}).items()), dict(stays or {}), idle, refusal, dict(asked_as or {}), two_numbers, autocast,
    )
    known = [a.name for a in args] + ["alpha"] * bool(alpha) + ["out"] + [a.name for a, _ in record.options]
    if flops and re.search(r"[\[:]\s*-", flops):
        raise RecordError(f"{label}: flops= counts sizes from the front, size[len(size) - 1]: {flops}")
    for param in record.params:
        if param not in known:
            raise RecordError(f"{label}: params= names {param!r}, which is no argument")
    for a in [*args, *(a for a, _ in record.options)]:
        if record.public and a.name not in record.params:
            text = text_of(a.name, a.type)
            if text is None:
                raise RecordError(f"{label}: no text for {a.name!r}; say in params= what it means")
            record.params[a.name] = text
    if reference is None and not name.startswith("_"):
        raise RecordError(f"{label}: no reference; give an expression, or by_test(...) with the test that compares values")
    if record.public and not example and not any(r.symbol == record.symbol for r in TABLE):
        raise RecordError(f"{label}: no example; give a session of a line or two that shows a result")
    if any(r.key == record.key for r in TABLE):
        raise RecordError(f"{label}: defined twice")
    if any(r.symbol == record.symbol and r.autocast != autocast for r in TABLE):
        raise RecordError(f"{label}: autocast={autocast!r}, but another record of this name differs")
    TABLE.append(record)
    return record


def unary(name, vjp, doc, reference=None, domain=real(-2, 2), complex_domain=box(), dtypes="bihfc", **more):
    """A function of one number, element by element, with a kernel of its name."""
    return op(f"{name}(self)", kernel=elementwise(name, dtypes="float"), inplace=True, vjp={"self": vjp}, jvp="elementwise",
              vmap="elementwise", samples=UNARY, domain=domain, complex_domain=complex_domain, dtypes=dtypes,
              reference=reference or f"np.{name}(self)", doc=doc, **more)
