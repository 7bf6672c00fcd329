"""A wheel beside others that bring an OpenMP runtime, in one process."""

import itertools

import pytest
from beside import OTHERS, check, install, run_beside
from building import distributions

ORDERS = [",".join(order) for order in itertools.permutations(["autograd_cy", *OTHERS])]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    (wheel,) = distributions(tmp_path_factory).glob("*.whl")
    return install(wheel, tmp_path_factory.mktemp("site"))


@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="needs scikit-learn or PyTorch")
@pytest.mark.parametrize("order", ORDERS)
def test_a_wheel_computes_beside_other_runtimes_in_any_order(site, tmp_path, order):
    check(run_beside(site, tmp_path, order))
