"""Wrong uses: one error each, which names the way out and is the same on every rank."""

import pytest
from ranks import passes

# Use -> the type of the error, and parts of its text.
ERRORS = {
    "double": ("RuntimeError", "float64 on cpu, and was", "then wrap it"),
    "double_after_a_step": ("RuntimeError", "float64 on cpu, and was", "then wrap it"),
    "half_precision": ("RuntimeError", "bfloat16 on cpu, and was", "then wrap it"),
    "device_meta": ("RuntimeError", "weight, bias are on device meta", "to_empty()"),
    "no_parameters": ("RuntimeError", "is not needed when a module doesn't have any parameters"),
    "frozen": ("RuntimeError", "is not needed when a module doesn't have any parameters"),
    "lazy": ("RuntimeError", "weight, bias have no values yet", "run a forward pass"),
    "added": ("RuntimeError", "extra.weight, extra.bias record now", "then wrap it"),
    "replaced": ("RuntimeError", "weight record now", "then wrap it"),
    "frozen_later": ("RuntimeError", "bias had no gradient", "find_unused_parameters=True"),
    "second_backward": ("RuntimeError", "second backward after one forward pass", "no_sync()"),
    "sparse_gradient": ("NotImplementedError", "sparse=True needs sparse gradients", "leave it"),
    "other_group": ("TypeError", "group must be a ProcessGroup, not str"),
    "destroyed_group": ("ValueError", "group 1 has been destroyed", "new_group"),
    "model_of_destroyed_group": ("ValueError", "has been destroyed", "new_group"),
    "begun_twice": ("ValueError", "initialize the default process group twice"),
    "after_the_end": ("ValueError", "has not been initialized", "call init_process_group"),
}


@pytest.mark.parametrize("ranks", [1, 2])
def test_each_wrong_use_is_one_error_on_every_rank(ranks):
    text = passes("bad_use", ranks=ranks)
    size_of_one = ("RuntimeError", "2 ranks are asked for", "mpirun -n 2")
    size_of_many = ("ValueError", "world_size=3", "leave rank and world_size out")
    expected = ERRORS | {"another_size": size_of_one if ranks == 1 else size_of_many}
    for use, (kind, *parts) in expected.items():
        lines = [line for line in text.splitlines() if line.startswith(f"{use}: ")]
        assert len(lines) == ranks and len(set(lines)) == 1, (use, lines)
        assert lines[0].startswith(f"{use}: {kind}: "), lines[0]
        for part in parts:
            assert part in lines[0], lines[0]
    assert "nothing was raised" not in text
