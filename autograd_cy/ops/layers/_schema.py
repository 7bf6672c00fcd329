"""The vocabulary of the table of layers.

A row is a call of `layer`::

    layer("ELU(alpha: float = 1.0, inplace)", "elu", "The exponential linear unit.",
          ">>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))\\ntensor([-0.6321,  1.0000])",
          texts={"alpha": "The limit on the left, negated."})

That is the class ``ELU``, whose constructor stores both options and whose ``forward`` returns
``functional.elu(input, self.alpha, self.inplace)``. Its docstring is made of the first sentence,
the parameters (`USUAL` knows those of many layers) and the example; ``repr`` shows the options.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograd_cy.ops._record import _split

SIZES = "int or sequence of int"
RANKS = {1: "one dimension", 2: "two dimensions", 3: "three dimensions"}
# What options of many layers are: annotation and default, type in docstrings (where the annotation
# doesn't say it), meaning. A row names such an option without its annotation: "ReLU(inplace)".
USUAL: dict[str, tuple[str, str, str]] = {
    "input": ("Tensor", "", "Any shape."),
    "target": ("Tensor", "", ""),
    "out": ("Tensor | None = None", "Tensor", "The tensor that the result is written to."),
    "training": ("bool = True", "", "Whether anything is done at all."),
    "inplace": ("bool = False", "", "Whether the input itself is changed."),
    "dim": ("int | None = None", "int", "The dimension."),
    "weight": ("Tensor | None = None", "", "A factor for each class."),
    "size_average": ("bool | None = None", "", "Older spelling of ``reduction``."),
    "reduce": ("bool | None = None", "", "Older spelling of ``reduction``."),
    "_stacklevel": ("int = 3", "", ""),
    "reduction": (
        'str = "mean"',
        '{"mean", "sum", "none"}',
        "What becomes of the values of all elements.",
    ),
    "ignore_index": ("int = -100", "", "A target class that counts for nothing."),
    "output_size": ("Any", SIZES, "The number of windows; None for as many as there are elements."),
    "kernel_size": ("Sizes", SIZES, "The size of a window."),
    "stride": (
        "Sizes | None = None",
        SIZES,
        "The step from one window to the next; by default the size of a window.",
    ),
    "padding": ("Sizes = 0", SIZES, "How far windows begin before the first element."),
    "dilation": ("Sizes = 1", SIZES, "The distance of the elements of a window."),
    "ceil_mode": ("bool = False", "", "Have a last window that isn't full."),
    "return_indices": (
        "bool = False",
        "",
        "Whether to return where in their plane the elements were, too.",
    ),
    "count_include_pad": ("bool = True", "", "Count the padding, too."),
    "divisor_override": (
        "int | None = None",
        "",
        "What to divide by, in place of the number of elements.",
    ),
}


@dataclass(frozen=True)
class Option:
    """A parameter of a constructor, as text: in the signature, and in the docstring."""

    name: str
    kind: str
    default: str | None
    keyword: bool
    word: str
    text: str


@dataclass(frozen=True)
class LayerRow:
    """A row of the table: one class. See `layer` for the meaning of the fields."""

    name: str
    options: tuple[Option, ...] | None
    function: str | None
    doc: str
    example: str
    base: str = "Module"
    texts: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    function_doc: str = ""
    function_texts: dict[str, str] = field(default_factory=dict)
    function_raises: dict[str, str] = field(default_factory=dict)
    function_start: str = ""
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)
    raises: dict[str, str] = field(default_factory=dict)
    constants: str | None = None
    members: dict[str, str] = field(default_factory=dict)
    to_base: str | None = None
    store: dict[str, str] = field(default_factory=dict)
    buffers: tuple[str, ...] = ()
    check_options: str = ""
    inputs: str = "input: Tensor"
    arguments: str | None = None
    all_arguments: str | None = None
    check_input: str = ""
    result: str = "Tensor"
    gives: str = "the activation of the input"
    takes: str = ""
    shown: str | None = None
    file: str = ""


ROWS: list[LayerRow] = []


def layer(signature: str, function: str | None = None, doc: str = "", example: str = "", **more):
    r"""Add a row to the table.

    Parameters
    ----------
    signature : str
        The class and the parameters of its constructor. A name alone has the constructor of `base`.
    function : str or None
        The function of ``nn.functional`` that ``forward`` calls; None for a class that others
        extend.
    doc, example : str
        First sentence (and what follows it), and a session without its import.
    base : str
        The class that it extends; a row of any file, or ``Module``.
    texts, kinds : dict
        The meaning and the type of parameters in the docstring, ``{"lower upper": "The limits."}``.
    function_doc : str
        The first sentence of the function that ext/codegen/functional.py writes, if that isn't
        "Return" with `doc` behind it.
    function_texts, function_raises : dict
        The meaning of its parameters, where `texts` hasn't it, or another one, and its errors.
    function_start : str
        Statements at the beginning of that function. Where they set ``code`` or ``reduction`` the
        operator gets that, and the reduction is checked there.
    attributes : dict
        The attributes of the docstring, each with its type and meaning.
    raises : dict
        The errors of the docstring, and when they are raised.
    constants : str
        The names in ``__constants__``, which programs extend; by default those of all options. ""
        for none.
    members : dict
        Further attributes of the class, or their annotations:
        ``{"_dims": "1", "weight:": "Tensor"}``.
    to_base : str
        Arguments for the constructor of `base`; by default the options that both have.
    store : dict
        Attributes that don't have the option's name or value, as expressions; "" stores nothing.
    buffers : tuple of str
        Options that become buffers.
    check_options, check_input : str
        Statements at the beginning of the constructor and of ``forward``.
    inputs, result, gives : str
        Parameters of ``forward``, its result's type, and what it returns in words.
    takes : str
        Sections of the docstring of ``forward``.
    arguments : str
        What the function gets after the inputs; by default the options in their order, those of
        losses by keyword.
    all_arguments : str
        All that the function gets.
    shown : str
        What ``extra_repr`` shows: names of options, or the text of an f-string. By default all
        options of a class that extends Module; "" for nothing.
    """
    name, _, inside = signature.partition("(")
    options = parse_options(inside.removesuffix(")")) if inside else None
    row = LayerRow(name, options, function, doc, example, **more)
    ROWS.append(row)
    return row


def parse_options(text: str, types: Mapping[str, str] | None = None) -> tuple[Option, ...]:
    """
    Return the parameters in ``"inplace, *, alpha: float = 1.0"``.

    `types` are annotations and defaults of more names than `USUAL` has.
    """
    known = {name: kind for name, (kind, _, _) in USUAL.items()} | dict(types or {})
    parts = [p.strip() for p in _split(text)]
    parts = [f"{p}: {known[p]}" if p in known else p for p in parts]
    function = ast.parse(f"def f({', '.join(parts)}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    parsed = function.args
    nothing = [None] * (len(parsed.args) - len(parsed.defaults))
    values = [*nothing, *parsed.defaults, *parsed.kw_defaults]
    return tuple(
        Option(
            a.arg,
            ast.unparse(a.annotation) if a.annotation else "Any",
            _as_written(value),
            a in parsed.kwonlyargs,
            *USUAL.get(a.arg, ("", "", ""))[1:],
        )
        for a, value in zip([*parsed.args, *parsed.kwonlyargs], values)
    )


def _as_written(value: ast.expr | None) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return f'"{value.value}"'
    return None if value is None else ast.unparse(value)
