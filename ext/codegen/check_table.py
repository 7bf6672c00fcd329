"""The comparison of records with the list of kernels: dtypes, operands, results.

`table.load` calls `check`; what doesn't fit is a RecordError before anything is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ext.codegen.kernel_specs import NOT_YET, SPECS, KernelSpec

ROOT = Path(__file__).resolve().parents[2]
MOST_PARAMETERS = 16  # of a form of Python: the capacity of arrays in ext/core/forms.pyx
_BY_HAND = re.compile(r'kernel_number\("(\w+)"\)')


def check(families: dict[str, list], error: type[Exception]) -> None:
    """Raise `error` for the first record that its kernel contradicts, or a kernel without use."""
    specs = {spec.name: spec for spec in SPECS}
    used: set[str] = set()
    for records in families.values():
        for r in records:
            parameters = len(r.args) + len(r.call.options) + bool(r.call.alpha) + bool(r.call.out)
            if r.tier == "compiled" and parameters > MOST_PARAMETERS:
                raise error(f"{r.key}: {parameters} parameters, but a form has {MOST_PARAMETERS}")
            if type(r.kernel).__name__ == "elementwise":
                if r.kernel.name not in specs:
                    raise error(
                        f"{r.key}: there is no elementwise kernel {r.kernel.name!r} in kernel_specs.py"
                    )
                for text in problems(r, specs[r.kernel.name]):
                    raise error(f"{r.key}: {text}")
                used.add(r.kernel.name)
    used |= used_by_hand()
    for name in specs:
        if name not in used and name not in NOT_YET:
            raise error(
                f"kernel {name!r}: no record and no module uses it; NOT_YET in kernel_specs.py takes a reason"
            )
    for name in NOT_YET:
        if name in used or name not in specs:
            raise error(
                f"kernel {name!r} is used, or none: it doesn't belong into NOT_YET of kernel_specs.py"
            )


def used_by_hand() -> set[str]:
    """Kernels that modules ask for by name."""
    names: set[str] = set()
    for pattern in ("*.pyx", "*.pxi"):
        for path in (ROOT / "ext").rglob(pattern):
            names |= set(_BY_HAND.findall(path.read_text(encoding="utf-8")))
    return names


def problems(r: Any, spec: KernelSpec) -> list[str]:
    """List the differences between a record and its elementwise kernel."""
    problems = []
    operands = r.kernel.args or tuple(a.name for a in r.args if a.is_tensor)
    if len(operands) != spec.nin:
        problems.append(
            f"kernel {spec.name!r} takes {spec.nin} operands, not {', '.join(operands)}"
        )
    rules = set(r.kernel.rules)
    result = "bool" if "bool" in rules else "real" if "real" in rules else "same"
    if spec.out != result:
        problems.append(
            f"kernel {spec.name!r} gives {spec.out!r} results; the record says dtypes={r.kernel.dtypes!r}"
        )
    declared, kernel = computed(r, spec), dtype_classes(spec)
    if declared - kernel:
        problems.append(
            f"kernel {spec.name!r} has no loops for dtypes={''.join(sorted(declared - kernel))!r}, which the record declares"
        )
    return problems


def computed(r: Any, spec: KernelSpec) -> set[str]:
    """Classes of the dtypes in which the kernel has to compute."""
    classes = set(r.call.dtypes)
    if r.call.widen:
        letters, target = r.call.widen
        classes = (classes - set(letters)) | {{"float": "f", "int64": "i"}[target]}
    rules = set(r.kernel.rules)
    if rules & {"float", "complex"}:
        classes = {"f" if c in "bi" else c for c in classes}
    if "complex" in rules and "real" in spec.inputs:
        classes = {"c"}
    return classes


def dtype_classes(spec: KernelSpec) -> set[str]:
    """Classes of dtypes for which there are loops, or that are copied or cast before."""
    return set(spec.types) | (set("bi") if spec.through_bool or spec.ints else set())
