"""Graphs as DOT text, as pictures and as tables."""

import re
import shutil
import stat
import sys

import pytest

import autograd_cy as torch
from autograd_cy import viz

BOX = re.compile(r'^  (\w+) \[label="((?:[^"\\]|\\.)*)", fillcolor="(\w+)"\];$')
ARROW = re.compile(r'^  (\w+) -> (\w+)(?: \[label="(\d+)"\])?;$')


def parse(text):
    """Boxes {id: (lines of the label, color)} and arrows [(from, to, label)] of DOT text."""
    boxes, arrows = {}, []
    lines = text.splitlines()
    assert lines[0] == "digraph autograd {" and lines[-1] == "}"
    for line in lines[3:-1]:
        if match := BOX.match(line):
            boxes[match[1]] = (match[2].split("\\n"), match[3])
        else:
            match = ARROW.match(line)
            assert match, line
            arrows.append(match.groups())
    assert all(a in boxes and b in boxes for a, b, _ in arrows)
    return boxes, arrows


def titles(text):
    boxes, arrows = parse(text)
    return {(boxes[a][0][0], boxes[b][0][0]) for a, b, _ in arrows}


def test_arrows_go_from_leaves_to_outputs():
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).exp()
    assert titles(viz.to_dot(y, params={"w": w, "y": y})) == {
        ("w", "MulBackward0"),
        ("MulBackward0", "ExpBackward0"),
        ("ExpBackward0", "y"),
    }


def test_boxes_have_shapes_dtypes_and_saved_bytes():
    a = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    boxes, _ = parse(viz.to_dot(a.exp()))
    assert [(lines, color) for lines, color in boxes.values()] == [
        (["ExpBackward0", "(2, 3) float64", "saved result: (2, 3) float64, 48 B"], viz.NODE),
        (["leaf", "(2, 3) float64", "AccumulateGrad"], viz.LEAF),
        (["output 0", "(2, 3) float64"], viz.OUTPUT),
    ]
    assert "saved" not in viz.to_dot(a.exp(), saved=False)


def test_large_sizes_have_units():
    a = torch.ones(512, 1024, requires_grad=True)
    assert "2.0 MiB" in viz.to_dot(a.exp()) and "4.0 KiB" in viz.to_dot(a[:2, :512].exp())


def test_names_come_from_a_module_pairs_or_a_dictionary():
    model = torch.nn.Linear(2, 3)
    y = model(torch.ones(1, 2))
    for params in (model, dict(model.named_parameters()), model.named_parameters()):
        names = {lines[0] for lines, color in parse(viz.to_dot(y, params=params))[0].values()}
        assert {"weight", "bias"} <= names
    with pytest.raises(TypeError, match="params must be a module"):
        viz.to_dot(y, params=model.parameters())


def test_tensors_in_between_may_be_named():
    x = torch.ones(2, requires_grad=True)
    hidden = x * 2
    boxes, _ = parse(viz.to_dot(hidden.sum(), params={"hidden": hidden}, saved=False))
    assert ["MulBackward0", "hidden (2,) float32"] in [lines for lines, _ in boxes.values()]


def test_edges_of_several_outputs_are_numbered():
    x = torch.ones(2, 3, requires_grad=True)
    first, second = x.unbind(0)
    _, arrows = parse(viz.to_dot([first * second, second]))
    assert sorted(label for _, _, label in arrows if label) == ["0", "1", "1"]


def test_a_leaf_may_be_an_output():
    x = torch.ones(2, requires_grad=True)
    boxes, arrows = parse(viz.to_dot([x, x * 2], params={"x": x}))
    assert [boxes[a][0][0] for a, b, _ in arrows if b == "o0"] == ["x"]
    assert list(parse(viz.to_dot(x))[0]) == ["o0"]


def test_nodes_and_nested_outputs_are_accepted():
    y = torch.ones(2, requires_grad=True) * 2
    assert titles(viz.to_dot(y.grad_fn)) == {("leaf", "MulBackward0")}
    assert titles(viz.to_dot({"a": [y], "b": (y.sum(),)})) == {
        ("leaf", "MulBackward0"),
        ("MulBackward0", "output 0"),
        ("MulBackward0", "SumBackward0"),
        ("SumBackward0", "output 1"),
    }


def test_freed_and_modified_tensors_are_said_to_be_so():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    loss = y.sum()
    y.mul_(2)
    assert "modified in place" in viz.to_dot(loss)
    z = x.exp().sum()
    z.backward()
    assert "saved result: freed" in viz.to_dot(z)
    assert "freed" not in viz.to_dot(z, saved=False)


def test_plain_values_are_shown_shortened():
    x = torch.ones(2, 3, requires_grad=True)
    assert "saved dim = 1" in viz.to_dot(x.unbind(1)[0])
    long = x.view(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6)
    values = [line for lines, _ in parse(viz.to_dot(long))[0].values() for line in lines]
    assert all(len(line) < 100 for line in values)


def test_source_lines_of_anomaly_mode_are_shown():
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.metadata["traceback_"] = [
        '  File "/home/user/train.py", line 7, in main\n    y = "a\\b" * x\n',
        f'  File "{torch.__file__}", line 3, in wrapper\n    return f()\n',
    ]
    boxes, _ = parse(viz.to_dot(y))
    assert boxes["n0"][0][-1] == r"train.py:7 y = \"a\\b\" * x"
    assert "train.py" not in viz.to_dot(y, source=False)


def test_lines_that_anomaly_mode_recorded_are_shown():
    with torch.autograd.set_detect_anomaly(True):
        y = torch.ones(2, requires_grad=True) * 2  # this line
    boxes, _ = parse(viz.to_dot(y))
    assert boxes["n0"][0][-1].startswith("test_viz.py:") and "this line" in boxes["n0"][0][-1]


def test_functions_of_the_user_are_shown_with_what_they_saved():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            if factor > 1:
                ctx.save_for_backward(x, None)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    x = torch.ones(2, requires_grad=True)
    boxes, arrows = parse(viz.to_dot(Twice.apply(x, 2)))
    assert boxes["n0"][0] == ["TwiceBackward", "(2,) float32", "saved [0]: (2,) float32, 8 B"]
    assert ("n1", "n0", None) in arrows
    assert parse(viz.to_dot(Twice.apply(x, 1)))[0]["n0"][0] == ["TwiceBackward", "(2,) float32"]
    assert rows(viz.summary(Twice.apply(x, 2)))[1] == ["TwiceBackward", "1", "1", "8"]


def test_packed_tensors_are_unpacked_to_be_shown():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        y = x.exp()
    assert "saved result: (2,) float32" in viz.to_dot(y)

    def fail(packed):
        raise RuntimeError("gone")

    with torch.autograd.graph.saved_tensors_hooks(lambda t: None, fail):
        y = x.exp()
    assert "saved result: RuntimeError: gone" in viz.to_dot(y)


def test_an_edge_stands_for_its_tensor():
    y = torch.ones(2, requires_grad=True) * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert titles(viz.to_dot(edge)) == {("leaf", "MulBackward0")}


def test_special_characters_are_escaped():
    x = torch.ones(1, requires_grad=True)
    name = 'q"uote\\ <b> &lt; {|} \n ü'
    boxes, _ = parse(viz.to_dot(x * 1, params={name: x}))
    assert boxes["n1"][0][0] == r"q\"uote\\ <b> &amp;lt; {|}   ü"


def test_a_deep_graph_is_drawn_without_recursion():
    y = torch.ones(1, requires_grad=True)
    for _ in range(20_000):
        y = -y
    _, arrows = parse(viz.to_dot(y, saved=False, source=False))
    assert len(arrows) == 20_001


def test_outputs_without_a_graph_are_refused():
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        viz.to_dot([torch.ones(1, requires_grad=True), torch.ones(2)])
    with pytest.raises(TypeError, match="expected Tensors or Nodes as outputs, not int"):
        viz.to_dot(3)
    with pytest.raises(RuntimeError, match="no outputs"):
        viz.summary([])
    with pytest.raises(ValueError, match="direction must be"):
        viz.to_dot(torch.ones(1, requires_grad=True), direction="down")


def test_drawing_leaves_the_graph_as_it_was():
    x = torch.ones(2, requires_grad=True)
    loss = x.exp().sum()
    viz.to_dot(loss)
    viz.summary(loss)
    loss.backward()
    assert torch.allclose(x.grad, torch.ones(2).exp())


# --- pictures -------------------------------------------------------------------------------------


def test_dot_files_need_no_graphviz(tmp_path):
    x = torch.ones(2, requires_grad=True)
    path = viz.render(x * 2, tmp_path / "graph.dot", direction="LR")
    assert path.read_text() == viz.to_dot(x * 2, direction="LR") + "\n"
    assert viz.render(x * 2, tmp_path / "plain", format="gv").exists()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="format 'xyz' is none of svg"):
        viz.render(torch.ones(1, requires_grad=True) * 1, tmp_path / "graph.xyz")


def test_without_graphviz_the_error_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"autograd_cy\[graphviz\]"):
        viz.render(torch.ones(1, requires_grad=True) * 1, tmp_path / "graph.svg")
    assert not (tmp_path / "graph.svg").exists()


def test_the_program_dot_is_given_the_text(tmp_path, monkeypatch):
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\necho "$1"\n/bin/cat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    y = torch.ones(1, requires_grad=True) * 1
    text = viz.render(y, tmp_path / "graph.svg").read_text()
    assert text == "-Tsvg\n" + viz.to_dot(y)
    program.write_text("#!/bin/sh\necho bad input >&2\nexit 3\n")
    with pytest.raises(RuntimeError, match="dot failed: bad input"):
        viz.render(y, tmp_path / "graph.png")
    assert not (tmp_path / "graph.png").exists()


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_graphviz_draws(tmp_path, kind, start):
    x = torch.ones(2, requires_grad=True)
    path = viz.render(x.exp() * x, tmp_path / f"graph.{kind}", params={'"x\\ & <y>': x})
    assert path.read_bytes().startswith(start)


# --- summary --------------------------------------------------------------------------------------


def rows(text):
    return [re.split(r"  +", line.strip()) for line in text.splitlines()]


def test_summary_counts_nodes_and_bytes():
    x = torch.ones(10, dtype=torch.float64, requires_grad=True)
    table = rows(viz.summary((x.exp() * x).sum()))
    assert table == [
        ["operator", "nodes", "saved tensors", "saved bytes"],
        ["MulBackward0", "1", "2", "160"],
        ["ExpBackward0", "1", "1", "80"],
        ["SumBackward0", "1", "0", "0"],
        ["AccumulateGrad", "1", "0", "0"],
        ["total", "4", "3", "160"],
        ["of which leaves", "80"],
    ]


def test_summary_counts_a_block_once():
    x = torch.ones(1000, requires_grad=True)
    y = sum(x[i : i + 500] * x[i : i + 500] for i in range(3))
    table = {row[0]: row[1:] for row in rows(viz.summary(y))}
    assert table["MulBackward0"] == ["3", "6", "4,000"]
    assert table["total"][-1] == table["of which leaves"][-1] == "4,000"


def test_summary_after_backward_has_nothing_saved():
    x = torch.ones(10, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    table = {row[0]: row[1:] for row in rows(viz.summary(y))}
    assert table["ExpBackward0"] == ["1", "0", "0"]
