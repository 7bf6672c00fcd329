"""Points without coordinates: no distance between any two."""

import numpy as np

import autograd_cy as ag


def test_points_without_coordinates_have_no_distance():
    for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
        for rows, columns in ((2, 3), (30, 3), (0, 3), (2, 0)):
            a = ag.ones(rows, 0, requires_grad=True)
            found = ag.cdist(a, ag.ones(columns, 0), p)
            assert found.tolist() == np.zeros((rows, columns)).tolist()
            found.sum().backward()
            assert a.grad.shape == (rows, 0)
