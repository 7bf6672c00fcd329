"""Classes are found where pickles made before they moved look for them."""

import importlib
import pickle

import pytest

import autograd_cy as ag

# Module and classes as they were, and what they are now.
BEFORE = {
    "autograd_cy.nn.activation": (
        "GELU", "LogSoftmax", "ReLU", "Sigmoid", "Softmax", "Tanh", "Threshold",
    ),
    "autograd_cy.nn.gate": (
        "GLU", "LogSigmoid", "Mish", "SiLU", "Softmax2d", "Softmin", "Softplus", "Softsign",
        "Tanhshrink",
    ),
    "autograd_cy.nn.rectifier": (
        "CELU", "ELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "PReLU",
        "ReLU6", "RReLU", "SELU", "Softshrink",
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", BEFORE)
def test_classes_have_their_old_paths(path):
    module = importlib.import_module(path)
    for name in BEFORE[path]:
        assert getattr(module, name) is getattr(ag.nn, name)
        found = pickle.loads(f"c{path}\n{name}\n.".encode())
        assert found is getattr(ag.nn, name)


def test_a_pickled_layer_is_loaded():
    layer = ag.nn.Sequential(ag.nn.ELU(0.5), ag.nn.Softmin(0))
    data = pickle.dumps(layer, protocol=0)
    for new, old in (
        ("nn.activation.piecewise", "nn.rectifier"),
        ("nn.activation.softmax", "nn.gate"),
    ):
        assert f"autograd_cy.{new}".encode() in data
        data = data.replace(f"autograd_cy.{new}".encode(), f"autograd_cy.{old}".encode())
    again = pickle.loads(data)
    x = ag.randn(3)
    assert again(x).tolist() == layer(x).tolist()
