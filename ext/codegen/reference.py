"""Write the reference of operators: `python ext/codegen/reference.py [folder]`.

One page per family of the table, one section per operator, and an index; by default into
docs/reference. Everything comes from the records, so the package need not be built.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from ext.codegen import cuda_host, formula, table  # noqa: E402
from ext.codegen.plan import letters_of  # noqa: E402
from ext.codegen.python_forms import python_name, with_public_names  # noqa: E402

DTYPES = {
    "b": "bool",
    "i": "uint8, int8, int16, int32, int64",
    "u": "uint16, uint32, uint64",
    "h": "float16, bfloat16",
    "f": "float32, float64",
    "c": "complex64, complex128",
}
PROMOTION = {
    "same": "the promoted dtype of the operands",
    "bool": "bool",
    "float": "the promoted dtype; integers and bool become the default float",
    "real": "the promoted dtype; of complex operands the dtype of their parts",
    "complex": "the complex dtype of the operands",
}
WORDS = {
    "elementwise": "element by element, from the gradient's formula",
    "linear": "the operator applied to the tangents",
    "each": "linear in each argument",
    "dims": "the batch dimension goes first, dimensions are shifted",
}
# How CUDA devices compute an operator.
WAYS = {
    "kernel": "by kernels of the device",
    "parts": "by the operators that it is made of",
    "host": "by the host, with copies there and back",
}
OWN = cuda_host.own_keys(ROOT / "ext" / "cuda", table.load())
BATCHING = {"elementwise": "batch dimensions are aligned"}
KINDS = {"vjp": "Gradient", "jvp": "Forward mode", "vmap": "vmap"}


def main(folder: Path) -> None:
    """Write all pages into `folder`."""
    families = table.load()
    folder.mkdir(parents=True, exist_ok=True)
    for family, records in families.items():
        (folder / f"{family}.md").write_text(page(family, records), encoding="utf-8")
    (folder / "README.md").write_text(index(families), encoding="utf-8")


def index(families: dict) -> str:
    """One row per public operator."""
    lines = [
        "# Operators",
        "",
        "Dtypes: " + "; ".join(f"`{k}` {v}" for k, v in DTYPES.items()) + ".",
        "",
        "CUDA: " + "; ".join(f"{k}: {v}" for k, v in WAYS.items()) + ".",
        "",
        "| operator | what | dtypes | gradient | CUDA |",
        "| --- | --- | --- | --- | --- |",
    ]
    for family, records in families.items():
        for r in public(records):
            link = f"[`{title(r)}`]({family}.md#{anchor(r)})"
            gradient = "yes" if is_differentiable(r) else "no"
            row = (link, first_line(r), letters_of(r), gradient, cuda_host.way(r, OWN))
            lines.append(f"| {' | '.join(cell(x) for x in row)} |")
    lines += ["", "In the formulas of gradients and rules, `self` is the argument `input`."]
    return "\n".join(lines) + "\n"


def page(family: str, records: list) -> str:
    """The page of one family; operators that only formulas use come last, in a table."""
    lines = [f"# Operators: {family}", ""]
    for r in public(records):
        lines += section(r)
    inner = [r for r in records if r.name.startswith("_")]
    if inner:
        lines += ["## Used by formulas", "", "| operator | what |", "| --- | --- |"]
        lines += [f"| `{cell(signature(r))}` | {cell(first_line(r))} |" for r in inner]
    return "\n".join(lines).rstrip() + "\n"


def public(records: list) -> list:
    return [r for r in records if not r.name.startswith("_")]


def section(r) -> list[str]:
    """Signature, text, and a table of what is known of one operator."""
    lines = [f"## {title(r)}", "", "```", f"{signature(r)}{returns(r)}", "```", ""]
    lines += [with_public_names(r.presentation.doc), ""]
    rows = [*forms(r), *dtype_rows(r), *rules(r), *special_rows(r)]
    rows.append(("CUDA", WAYS[cuda_host.way(r, OWN)]))
    lines += ["| parameter | |", "| --- | --- |"]
    names = [(python_name(a, i), a) for i, a in enumerate(r.args)]
    names += [(a.name, a) for a, _ in r.call.options]
    texts = [
        (name, with_public_names(r.presentation.params.get(a.name, a.type))) for name, a in names
    ]
    lines += [f"| `{name}` | {cell(text)} |" for name, text in texts]
    lines += [
        "",
        *(f"Raises {error}: {with_public_names(when)}" for error, when in r.presentation.raises),
    ]
    lines += [""] * bool(r.presentation.raises)
    lines += ["| | |", "| --- | --- |", *(f"| {cell(k)} | {cell(v)} |" for k, v in rows), ""]
    if r.presentation.example:
        lines += [
            "```python",
            ">>> import autograd_cy as ag",
            *r.presentation.example.splitlines(),
            "```",
            "",
        ]
    return lines


def title(r) -> str:
    return r.name + (f".{r.overload}" if r.overload else "")


def anchor(r) -> str:
    """The name of the section in a link."""
    return title(r).replace(".", "").lower()


def first_line(r) -> str:
    return with_public_names(r.presentation.doc.split("\n")[0])


def cell(text: str) -> str:
    """Text of a table's cell: one line, no bars outside of code."""
    return " ".join(text.split()).replace("|", "\\|")


def signature(r) -> str:
    """The operator as it is called from Python."""
    parts, star = [], False
    for i, a in enumerate(r.args):
        if a.keyword and not star:
            parts.append("*")
            star = True
        text = python_name(a, i) + (f": {a.type}" if a.type != "Tensor" else "")
        if a.default is not None:
            text += f" = {a.default}" if ":" in text else f"={a.default}"
        parts.append(text)
    extra = ["alpha=1"] * bool(r.call.alpha)
    extra += [f"{a.name}: {a.type} = {a.default}" for a, _ in r.call.options]
    extra += ["out=None"] * bool(r.call.out or r.outs)
    if extra and not star:
        parts.append("*")
    return f"{r.name}({', '.join(parts + extra)})"


def returns(r) -> str:
    if not r.returns:
        return " -> None"
    if r.returns == ("*",):
        return " -> tuple of tensors"
    return f" -> ({', '.join(r.returns)})" if len(r.returns) > 1 else ""


def forms(r) -> list[tuple[str, str]]:
    """List the ways to call it."""
    inside = f"{r.namespace}.{r.name}" if r.namespace else r.name
    ways = [f"`ag.{inside}`"] if r.call.function else []
    ways += [f"`ag.{namespace}.{r.name}`" for namespace in r.call.also]
    if not r.namespace:
        ways += [f"`Tensor.{r.name}`"] if r.call.method else []
        ways += [f"`{'Tensor' if r.call.method else 'ag'}.{r.name}_`"] if r.call.inplace else []
    ways += [f"also `{alias}`" for alias in r.call.aliases]
    ways += [f"operator `{r.call.dunder}`"] if r.call.dunder else []
    return [("Forms", ", ".join(ways))]


def dtype_rows(r) -> list[tuple[str, str]]:
    """List the dtypes that it takes and gives."""
    rows = [("Dtypes", "; ".join(DTYPES[c] for c in letters_of(r)))]
    if kind(r.kernel) == "elementwise":
        rows.append(("Result", "; ".join(PROMOTION[word] for word in r.kernel.rules)))
    elif kind(r.kernel) == "view":
        rows.append(("Result", "a view: it shares memory with the first argument"))
    return rows


def rules(r) -> list[tuple[str, str]]:
    """Gradient, what the node saves, forward mode, vmap."""
    if kind(r.kernel) == "composite":
        return [("Made of", f"`{r.kernel.formula}`; derivatives and vmap follow from the parts")]
    rows = [(KINDS["vjp"], rule_text(r.derivatives.vjp))]
    if isinstance(r.derivatives.vjp, dict):
        rows += [("Node", f"`{r.derivatives.node}`"), ("Saves", saved(r))]
    if is_differentiable(r):
        rows.append(
            (KINDS["jvp"], WORDS.get(str(r.derivatives.jvp)) or rule_text(r.derivatives.jvp))
        )
    rule = (
        BATCHING.get(str(r.batching.vmap))
        or WORDS.get(str(r.batching.vmap))
        or rule_text(r.batching.vmap)
    )
    rows.append((KINDS["vmap"], rule))
    return rows


def special_rows(r) -> list[tuple[str, str]]:
    """List the special values at which its results are not torch's."""
    return [
        ("Unlike torch", f"{', '.join(e.orders)} where `{e.where}`: {e.reason}")
        for e in r.tests.special
    ]


def is_differentiable(r) -> bool:
    return kind(r.derivatives.vjp) != "nondiff"


def kind(rule) -> str:
    return type(rule).__name__


def rule_text(rule) -> str:
    """A rule in words: formulas as code, reasons as they are."""
    if isinstance(rule, dict):
        parts = (
            f"{k if isinstance(k, str) else ', '.join(k)}: {rule_text(v)}" for k, v in rule.items()
        )
        return "; ".join(parts)
    if kind(rule) == "nondiff":
        return f"none: {rule.reason}"
    if kind(rule) == "loop":
        return f"one call per example: {rule.reason}"
    if kind(rule) in ("refuse", "randomly"):
        return rule.text
    return f"`{' '.join(str(rule).split())}`"


def saved(r) -> str:
    """Name the values that the gradient with respect to each argument keeps alive."""
    outputs = {o for o in r.returns if o != "*"}
    values = outputs | {a.name for a in r.args} | {*r.derivatives.attrs}
    tensors = outputs | {a.name for a in r.args if a.is_tensor}
    parts = []
    for arguments, text in r.derivatives.joint.items():
        names = formula.uses(formula.parse(text)).values & values
        alive = sorted(names & tensors)
        if alive:
            parts.append(f"{', '.join(f'`{name}`' for name in alive)} for `{', '.join(arguments)}`")
    return "; ".join(parts) or "no tensor"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes the reference of operators.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "reference")
    main(parser.parse_args().folder)
