"""The error of a layer that is made without its arguments says the layer's name."""

import re

import pytest

import autograd_cy as ag

nn = ag.nn
# Classes of one to three dimensions whose constructor PyTorch shows by the name of their base.
SHARED = {
    "RNNBase",
    "_AdaptiveAvgPoolNd",
    "_AdaptiveMaxPoolNd",
    "_BatchNorm",
    "_InstanceNorm",
    "_LPPoolNd",
    "_MaxPoolNd",
}
CLASSES = [
    cls
    for name, cls in sorted(vars(nn).items())
    if isinstance(cls, type) and issubclass(cls, nn.Module) and not name.startswith("_")
]


def refusal(cls):
    try:
        cls()
    except TypeError as error:
        return str(error)
    return None  # it needs none


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_layer_without_arguments_names_itself(cls):
    text = refusal(cls)
    if text is None:
        assert isinstance(cls(), nn.Module)
        return
    found = re.match(r"(\w+)\.__init__\(\) missing \d+ required", text)
    assert found, text
    assert found[1] in {cls.__name__, *SHARED}, text


def test_constructors_stay_those_of_the_class_where_a_program_extends_it():
    class Own(nn.Conv2d):
        def __init__(self, channels):
            super().__init__(channels, channels, 1)

    assert Own(3).weight.shape == (3, 3, 1, 1)
    assert nn.Conv2d.__init__ is not nn.Conv1d.__init__
    assert nn.Conv2d.__init__.__qualname__ == "Conv2d.__init__"
