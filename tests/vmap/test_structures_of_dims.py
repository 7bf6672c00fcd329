"""in_dims and out_dims have the structure of arguments and results."""

import pytest

import autograd_cy as ag
from autograd_cy import func


def test_structures_of_dims_fit_those_of_arguments():
    x = ag.ones(2, 3)
    refused = [
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=([0],))(x)),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=({"a": 0},))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=([0, 1],))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=((),))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=((),))(x)),
        ("in_dims", lambda: func.vmap(lambda t, u: t, in_dims=(0, ()))(x, x)),
        ("out_dims", lambda: func.vmap(lambda t: (t, t), out_dims=(0, 1, 2))(x)),
        ("out_dims", lambda: func.vmap(lambda t: t, out_dims=(0, 1))(x)),
    ]
    for name, call in refused:
        with pytest.raises(ValueError, match=f"{name} is not compatible with the structure"):
            call()
    assert func.vmap(lambda t: t[0], in_dims=([0, None],))([x, 5]).shape == (2, 3)
    assert func.vmap(lambda t: {"a": t}, out_dims={"a": 1})(x)["a"].shape == (3, 2)
    assert func.vmap(lambda t: (t, t), out_dims=(0, 1))(x)[1].shape == (3, 2)
