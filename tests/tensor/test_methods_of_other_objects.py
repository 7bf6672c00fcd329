"""Methods taken from a compiled class and called with something that is no instance of it."""

import programs
import pytest

import autograd_cy as ag

PROGRAM = """
import sys
import autograd_cy as ag

calls = 0
for module in [m for n, m in sys.modules.items() if n.startswith("autograd_cy._C.")]:
    for cls in {x for x in vars(module).values() if isinstance(x, type)}:
        if not cls.__module__.startswith("autograd_cy"):
            continue
        for name, method in vars(cls).items():
            if type(method).__name__ != "cython_function_or_method":
                continue
            for rest in ((), (1,), (1, 2)):
                for first in (3, [], None, object(), "text", ag.float32):
                    if isinstance(first, cls):
                        continue
                    print(cls.__name__, name, first, rest, flush=True)
                    try:
                        method(first, *rest)
                    except Exception:
                        pass
                    calls += 1
assert calls > 1000, calls
print("done")
"""


def test_no_method_takes_another_object_for_its_own():
    ran = programs.run("-c", PROGRAM)
    last = ran.stdout.splitlines()[-1] if ran.stdout else ""
    assert ran.returncode == 0 and last == "done", f"{last}\n{ran.stderr[-2000:]}"


@pytest.mark.parametrize("method", ["numel", "dim", "stride", "item", "tolist", "__complex__"])
def test_the_error_names_method_and_classes(method):
    message = f"descriptor '{method}' for 'Tensor' objects doesn't apply to a 'list' object"
    with pytest.raises(TypeError, match=message):
        getattr(ag.Tensor, method)([])
    with pytest.raises(TypeError, match="needs an argument"):
        getattr(ag.Tensor, method)()


def test_instances_of_subclasses_are_taken():
    class Length(ag.Tensor):
        pass

    assert ag.Tensor.dim(ag.ones(2, 3).as_subclass(Length)) == 2
    assert [ag.Tensor.numel(x) for x in (ag.ones(3), ag.nn.Parameter(ag.ones(4)))] == [3, 4]
