"""Public functions and methods that no record makes, with tensors on meta.

Each is called with many arguments, in a process of its own: what works on the CPU gives results of
the same shapes and dtypes on meta, or an error that says something. What depends on values, which
is known by two tensors that give two answers, must be an error. A crash names the call.
"""

import sys
import warnings
from pathlib import Path

import pytest

import autograd_cy as ag

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("", "linalg", "special", "fft", "nn.functional", "nn.init", "Tensor")
# What is no function of tensors: state, files, processes, callbacks.
STATE = (
    "set_", "get_", "is_autocast", "manual_seed", "seed", "save", "load", "initial_seed", "fork",
    "use_", "add_safe", "reset", "empty_cache", "memory", "register_hook", "register_post",
    "share_memory", "module_load", "backward", "apply_", "map_",
)  # fmt: skip
# Results that are no answer about values, though two tensors give two.
BESIDE_VALUES = {
    "id", "data_ptr", "_storage_address", "__hash__", "storage", "untyped_storage", "rand_like",
    "randn_like", "randint_like", "__repr__", "__str__", "__format__", "__dir__", "_backward_hooks",
}  # fmt: skip


def names():
    """(module, name) of every public function and method that is made by hand."""
    sys.path.insert(0, str(ROOT))
    from ext.codegen import table

    made = set()
    for records in table.load().values():
        for r in records:
            made |= {r.name, r.name + "_", *r.call.aliases, *(a + "_" for a in r.call.aliases)}
    for module in MODULES:
        place = ag
        for word in filter(None, module.split(".")):
            place = getattr(place, word)
        for name in sorted(dir(place)):
            if name in made or (name.startswith("_") and module != "Tensor"):
                continue
            if name.startswith(STATE) or (name.startswith("__") and name not in OPERATORS):
                continue
            found = getattr(place, name, None)
            if callable(found) and not isinstance(found, type):
                yield module, name, found


OPERATORS = {
    "__len__", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__contains__",
    "__iter__", "__reversed__", "__getitem__", "__array__", "__dlpack__", "__deepcopy__",
    "__reduce_ex__", "__bytes__", "__repr__", "__format__", "__setitem__", "__round__",
}  # fmt: skip


def templates(m):
    """Arguments made of a matrix `m`: its relatives are of its device."""
    whole = ag.zeros(2, dtype=ag.int64, device=m.device)
    v, mask = m[0], m > 0.5
    one = v[0]
    return [
        (m,), (v,), (one,), (m, m), (v, v), (m, v), (m, one), (m, 0), (m, 1), (m, 0, 1),
        (m, 0, 1, 2), (m, 0.5), (m, (0, 1)), (m, (4, 3)), (m, [1, 3]), (m, "sum"),
        (m, ag.float64), (m, None), (m, whole), (m, 0, whole), (m, 0, whole, m[:2]),
        (m, 0, whole, 2.0), (m, mask), (m, mask, one), (m, mask, m), ([m, m],), ((m, v),),
        ([m, m], 1), (mask,), (m, {}), (m, slice(0, 2)), (m, 2, m), (m, m, m), (m[:, :3],),
        (m[:, :3], m[:, :3]), (m.t(),), (m, "meta"), (m, "cpu"), (m, ""), (m, whole, one),
        (m, (whole,), one), (whole,), (whole, 3), (m, 4), (m[:, :3], 2), (m, m.t()),
    ]  # fmt: skip


def call(found, args):
    try:
        return "ok", found(*args)
    except Exception as error:
        return "error", error


def shape_of(x, depth=0):
    """Return the properties of a result that don't depend on values."""
    if isinstance(x, ag.Tensor):
        return "tensor", tuple(x.shape), str(x.dtype)
    if isinstance(x, (tuple, list)) and depth < 3:
        return type(x).__name__, tuple(shape_of(y, depth + 1) for y in x)
    return (type(x).__name__,)


def values_of(x, depth=0):
    """The Python values of a result; tensors have none of their own."""
    if isinstance(x, (tuple, list)) and depth < 3:
        return tuple(values_of(y, depth + 1) for y in x)
    return x if isinstance(x, (int, float, complex, str, bytes, type(None))) else None


def devices_of(x, depth=0):
    if isinstance(x, ag.Tensor):
        return {x.device.type}
    if isinstance(x, (tuple, list)) and depth < 3:
        return set().union(*(devices_of(y, depth + 1) for y in x))
    return set()


def check(module, name, found, number):
    """None, or what is wrong with one call."""
    of_zeros = templates(ag.zeros(3, 4))[number]
    if module == "Tensor" and not isinstance(of_zeros[0], ag.Tensor):
        return None
    random = ag.rand(3, 4, generator=ag.Generator().manual_seed(number))
    first, second = (call(found, given) for given in (of_zeros, templates(random)[number]))
    if first[0] == second[0] == "error":
        # Refused on the CPU; on meta it may be refused or not, but comes back.
        call(found, templates(ag.zeros(3, 4, device="meta"))[number])
        return None
    given = templates(ag.zeros(3, 4, device="meta"))[number]
    on_meta = call(found, given)
    if on_meta[0] == "error":
        said = isinstance(on_meta[1], (SystemError, AssertionError)) or not str(on_meta[1])
        return f"an error that says nothing: {on_meta[1]!r}" if said else None
    if name in BESIDE_VALUES or "error" in (first[0], second[0]):
        return None
    if shape_of(first[1]) != shape_of(second[1]):
        return f"the shape depends on values, but on meta it is {shape_of(on_meta[1])}"
    if values_of(first[1]) != values_of(second[1]):
        return f"depends on values, but on meta it is {on_meta[1]!r}"
    words = () if module == "nn.functional" else given[1:]  # there a word is a flag that is set
    if any(x == "cpu" for x in words if isinstance(x, str)) and devices_of(on_meta[1]):
        return f"there are no values to move, but it gave {on_meta[1]!r}"
    if shape_of(first[1]) != shape_of(on_meta[1]):
        return f"{shape_of(on_meta[1])}, on the CPU {shape_of(first[1])}"
    elsewhere = devices_of(on_meta[1]) - {"meta"}
    return f"a result on {elsewhere}" if elsewhere else None


def run():
    import faulthandler

    faulthandler.enable()
    warnings.simplefilter("ignore")
    count = len(templates(ag.zeros(3, 4)))
    for module, name, found in names():
        for number in range(count):
            print(f"{module}.{name} with arguments {number}", file=sys.stderr, flush=True)
            wrong = check(module, name, found, number)
            if wrong:
                print(f"{module}.{name}, arguments {number}: {wrong}", flush=True)
    print("done")


@pytest.mark.slow
def test_functions_by_hand_read_no_memory_of_meta():
    import programs  # not there for the program itself

    ran = programs.run("-m", "tests.devices.test_meta_by_hand", timeout=300, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr[-3000:]
    lines = ran.stdout.splitlines()
    assert lines[-1] == "done" and not lines[:-1], "\n".join(lines[:60])


def test_there_are_such_functions():
    assert len(list(names())) > 150


if __name__ == "__main__":
    run()
