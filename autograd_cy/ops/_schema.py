"""The vocabulary of the operator table.

One record describes one operator; the generator (ext/codegen) derives everything else from it:
typed node, dispatch, method, in-place and ``out=`` forms, double backward, forward mode, vmap,
stub, reference page, tests. Records only use the names defined here, so the table can be read
without building the package, and importing the package never reads the table.

`op` takes the fields of a record as keywords. The record has them in five parts (_record.py, where
each field is explained): call, derivatives, batching, presentation and tests.

The signature
-------------
``"name(arg, arg: type = default, *, arg: type = default) -> returns"``; an overload is written
``"name.overload(...)"``. Types of arguments:

==================  ===============================================================================
(none)              a tensor
``operand``         a tensor or a number (numbers promote as torch's wrapped numbers do)
``Tensor?``         a tensor or None
``Tensor[]``        a sequence of tensors
``Scalar``          a number, passed on as a 0-d wrapped tensor; never differentiable
``int``             ``int?``, ``float``, ``float?``, ``bool``, ``str``, ``str?``: plain values; a
                    truth value is no int
``bool?``           a bool, or None for False
``dim``             an int that counts dimensions of the first tensor (shifted under vmap)
``dim?``            such an int or None
``dims``            one or several of them; ``dims?`` also None
``sizes``           one int or several; separate arguments, too, if it is a method's last argument
``ints``            several ints, always in a sequence
``padding``         as ``sizes``, or a word
``dtype?``          a dtype or None
``format?``         a memory format or None
``device?``         a device, its name or number, or None
``indices``         several index tensors and None, of advanced indexing
``start``           an int or a 0-d tensor of one
``correction``      a float, or None for 1
``order``           the order of a norm: a number, a name or None
``choice(a, b)``    one of these words
``ints(2)``         so many ints in a sequence, or one for all; the C value has so many
``int | Tensor``    a value of one of these types, of ``int``, ``float``, ``str``, ``ints`` and
                    ``Tensor``; such a tensor has no derivative
``object``          anything; only for operators that nothing but formulas calls
==================  ===============================================================================

Each type has one converter (see _types.py), which turns a Python value into the C value or refuses
it with a TypeError that names operator, argument, position and the type of the value.

Returns: without ``->`` there is one tensor ``result``; ``-> (values, indices)`` names several;
``-> Tensor[]`` is a tuple of tensors; ``-> ()`` is None, of an operator that only changes its
arguments.

The formulas
------------
`vjp` maps a differentiable argument to the gradient with respect to it, written as on paper in
tensor operations: ``"grad * other.conj()"``. A formula may use

* ``grad``: gradient of the only differentiable output, or ``grad_<output>`` if there are several,
  or ``grads`` (a tuple) for ``-> Tensor[]``; ``given_<output>`` is None where ``grad_<output>``
  would be made of zeros;
* the arguments by name, ``result`` or the named outputs, and the names in `attrs`;
* every operator of the table, as function or method, and the Python operators ``+ - * / ** @``;
* ``x.shape``, ``x.ndim``, ``x.numel()``, ``x.dtype`` of tensors: these save no tensor; integer
  arithmetic, ``len``, indexing of integer tuples, comparisons and ``a if c else b``.

The values that a formula uses are saved, and only if the gradient that uses them is needed. Three
things are handled once, outside the formulas: broadcasting is undone by the engine (a gradient is
summed to the shape of its input), a complex gradient of a real input keeps its real part, and a
gradient that never arrived is either skipped (no output has one) or taken as zeros. Complex
gradients follow torch's convention: the conjugate of the holomorphic derivative multiplies `grad`.

The same formula serves backward and, because it is made of recorded operators, every higher order.
An in-place form of an operator whose formula needs the old value of ``self`` saves a copy of it.
In place, an operator with bool results leaves zeros and ones that have zero gradients.

`jvp` is one of

* ``"elementwise"``: from the vjp formulas, with the tangent for ``grad`` (conjugated twice);
* ``"linear"``: the operator applied to the tangents (all tensor arguments together);
* ``"each"``: linear in each argument; the sum over arguments, with one replaced by its tangent;
* a dict from argument (or, with several outputs, output and then argument) to a formula that may
  use ``<arg>_t``, the primal arguments and the outputs.

`vmap` is one of

* ``"elementwise"``: move batch dimensions to the front, align the others;
* ``"dims"``: move the batch dimension of the first tensor to the front and shift ``dim`` arguments;
* a formula, or a dict from the batched arguments (``"self"``, ``("self", "index")``) to formulas,
  written for physical tensors whose batch dimension is the first; ``B`` is the batch size, ``dim``
  arguments are normalised for the logical tensor; unbatched arguments come as they are;
* ``"composite"``: the operator is made of others, whose rules apply;
* ``by_hand("module.function")``: a function with the operator's arguments;
* ``loop("reason")``: one call per example; ``randomly("...", draws="elements")`` of random numbers;
  ``refuse("...")``: an error.

A key of `vjp` may name several arguments, ``("input", "weight")``: one formula gives the tuple of
their gradients, and may use ``needed``, a tuple that says which of them are wanted.

The tiers and namespaces
------------------------
A record of ``tier="interpreted"`` becomes Python instead of Cython: it costs no build time and a
few microseconds a call. Its kernel may also be a `host` expression.

A public function lives at the top level, or in the module of its `namespace`, ``"nn.functional"``;
formulas then call it by all of it, ``nn_functional_name``. `also` names other namespaces whose
modules have a function of the top level, too. `mutates` names arguments that the kernel changes in
place, beside its results: tensors, or lists of them, ``only_if("grads", "grad_scale is not None")``
if it changes them under a condition; for autograd that is an in-place operation without a
derivative.

A file of records that says ``LOADED = "at first use"`` is left out by ``import autograd_cy``: it is
loaded when one of its names is first used, or by another family that calls it. Only such families
may call its operators.

`functional` is the signature of a function in nn.functional that adds options to the operator,
``"relu(input, inplace)"``; `inplace` chooses the in-place form, `reduction` becomes the number or
the name that the operator takes. ``"elu(input, alpha, inplace) elu_"`` has ``elu_``, too. Without
options, ``"tanh(input)"``, it calls the method. The text is that of the layer
(autograd_cy/ops/layers/).

`options` are keyword arguments that only the Python forms know:
``{"decimals: int = 0": "_round_decimals"}`` makes ``round(x, decimals=2)`` a call of
``_round_decimals(x, 2)``, and costs other calls one comparison.

Names, texts and errors
-----------------------
In profiles an operator is ``aten::<name>``, a private one ``autograd_cy::<name>``; `event` is
another name, where torch has the operation under that one. `flops` counts its floating-point
operations, an expression over the sizes of tensors and the values of other arguments:
``"2 * self[0] * self[1] * mat2[1]"``; ``elements(self, other)`` is the number of elements after
broadcasting, ``windows(input, weight, stride, padding, dilation)`` counts a convolution. Sizes are
counted from the front, as C does: ``size[len(size) - 1]``.

`autocast` is the dtype of the call within ``torch.autocast``: ``"lower"``, that of the region;
``"float32"``; ``"widest"``, float32 if the tensors have several; ``"input"``, float32 for halves,
with a result like the first argument; ``"padding"``, float32 where ``mode=`` repeats elements.
Without it the call isn't changed. All records of a name say the same.

The values that a node saves for its formulas are seen as `_saved_<name>`. `shows` gives them the
names that torch has: ``{"inverse": "result"}`` renames, ``{"alpha": "1"}`` is a constant,
``{"self_sym_sizes": "self.shape"}`` is known by the edge, as are ``self.ndim`` and
``self.numel()``; ``self.stride()`` of a matrix and ``self.size(0)`` are kept as numbers; other
expressions are Python over the values of plain arguments that are saved. `keeps` names arguments
that are saved for nothing else; numbers cost nothing.

A gradient that is made of no input leaves the graph, even with create_graph=True, as torch's of
``2 * x`` does. `stays` names those that torch keeps there, and the inputs that they lead to:
``{"bias": ("input", "weight")}``. Their next derivatives are zeros.

`idle` says when the in-place form of a composite does nothing, so that no version is counted and a
leaf may be given: an expression over the plain arguments and ``self.count``.

Tensors of other dtypes than `dtypes` are refused by a NotImplementedError. `refusal` is the text of
a RuntimeError where torch has such:
``"std and var only support floating point and complex dtypes"``.
``{"c": "does not support {}"}`` is one for complex numbers only; ``{}`` is the name of the dtype.

A derivative that doesn't exist is said with its reason: ``vjp=nondiff("...")``.

The meaning of a parameter is said by `params`, ``{"reduce": "how values that meet are combined"}``,
if its name doesn't say it (_texts.py knows the usual ones); `raises` names errors,
``{"IndexError": "an index is out of range"}``; `example` is a session that runs,
``">>> ag.neg(ag.tensor([1]))\\ntensor([-1])"``. All are for public records, and are tested. The
text of an in-place form is made of these: with `inplace` the calls of `example` must do in place.
"""

from __future__ import annotations

from typing import Any

from autograd_cy.ops._checks import check_fields, check_in_table, complete
from autograd_cy.ops._kernels import call, composite, elementwise, host, only_if, step_loop, view
from autograd_cy.ops._record import (
    PARTS,
    Arg,
    Record,
    RecordError,
    parse_signature,
    take_fields,
)
from autograd_cy.ops._rules import by_hand, loop, nondiff, randomly, refuse
from autograd_cy.ops._samples import (
    BINARY,
    ORDERS,
    UNARY,
    arg,
    booleans,
    box,
    by_test,
    differs,
    error,
    fixed,
    integers,
    one,
    real,
    sample,
    shapes,
)

__all__ = [
    "BINARY",
    "EACH",
    "INDEX",
    "ORDERS",
    "TABLE",
    "TRUTH",
    "UNARY",
    "Arg",
    "Record",
    "RecordError",
    "arg",
    "booleans",
    "box",
    "by_hand",
    "by_test",
    "call",
    "composite",
    "differs",
    "elementwise",
    "error",
    "fixed",
    "host",
    "integers",
    "loop",
    "nondiff",
    "one",
    "only_if",
    "op",
    "parse_signature",
    "randomly",
    "real",
    "refuse",
    "sample",
    "shapes",
    "step_loop",
    "unary",
    "view",
]

# What many records say.
TRUTH = "the result is a truth value"
INDEX = "the result is an index"
EACH = "_reshape_each(self, (-1,))"  # examples of a batch as rows

TABLE: list[Record] = []


def op(
    signature: str,
    *,
    kernel: object,
    tier: str = "compiled",
    namespace: str = "",
    **values: Any,
) -> Record:
    """
    Add a record to the table.

    Parameters
    ----------
    signature : str
        The name, the arguments and the outputs.
    kernel : elementwise, call, view, composite or host
        The function that computes the operator.
    tier : str
        "compiled" or "interpreted".
    namespace : str
        The module of the public function.
    **values
        Fields of the parts of the record: `Call`, `Derivatives`, `Batching`, `Presentation` and
        `Tests` in _record.py. None stands for the default.

    Raises
    ------
    RecordError
        If a rule is missing, or if the fields contradict each other.
    """
    name, overload, args, returns = parse_signature(signature)
    values = {key: value for key, value in values.items() if value is not None}
    parts: dict[str, Any] = {key: part(**take_fields(values, part)) for key, part in PARTS.items()}
    if values:
        raise RecordError(f"{name}: a record has no field {min(values)!r}")
    record = Record(
        name=name,
        overload=overload,
        args=args,
        returns=returns,
        namespace=namespace,
        tier=tier,
        kernel=kernel,
        **parts,
    )
    check_fields(record)
    record = complete(record)
    check_in_table(record, TABLE)
    TABLE.append(record)
    return record


def unary(
    name,
    vjp,
    doc,
    reference=None,
    domain=None,
    complex_domain=None,
    dtypes="bihfc",
    **more,
):
    """Add a function of one number, element by element, with a kernel of its name."""
    return op(
        f"{name}(self)",
        kernel=elementwise(name, dtypes="float"),
        inplace=True,
        vjp={"self": vjp},
        jvp="elementwise",
        vmap="elementwise",
        samples=UNARY,
        domain=real(-2, 2) if domain is None else domain,
        complex_domain=box() if complex_domain is None else complex_domain,
        dtypes=dtypes,
        reference=reference or f"np.{name}(self)",
        doc=doc,
        **more,
    )
