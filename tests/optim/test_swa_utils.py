"""Averages of weights and the schedule that leads to them."""

import importlib
import itertools

import numpy as np
import pytest

import autograd_cy as ag

swa = ag.optim.swa_utils


def models(package):
    nn = package.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).double()
    rng = np.random.default_rng(3)
    for p in net.parameters():
        p.data.copy_(package.tensor(rng.normal(size=tuple(p.shape))))
    return net


AVERAGES = {
    "mean": lambda u: {},
    "mean by one": lambda u: {"avg_fn": u.get_swa_avg_fn()},
    "moving": lambda u: {"avg_fn": u.get_ema_avg_fn(0.7)},
    "moving lists": lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.7)},
    "mean of buffers": lambda u: {"use_buffers": True},
    "moving buffers": lambda u: {"use_buffers": True, "multi_avg_fn": u.get_ema_multi_avg_fn()},
}


@pytest.mark.parametrize("kind", AVERAGES)
def test_averages_are_those_of_torch(kind):
    torch = pytest.importorskip("torch")
    states = []
    for package in (ag, torch):
        utils = importlib.import_module(f"{package.__name__}.optim.swa_utils")
        net, rng = models(package), np.random.default_rng(8)
        averaged = utils.AveragedModel(net, **AVERAGES[kind](utils))
        optimizer = package.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            x = package.tensor(rng.normal(size=(6, 3)))
            net(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            averaged.update_parameters(net)
        utils.update_bn([(x, None), (x + 1, None)], averaged)
        with package.no_grad():
            out = averaged.eval()(x)
        states.append({**averaged.state_dict(), "out": out})
    ours, theirs = states
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-12, atol=1e-14, err_msg=name)


def test_an_averaged_model_saves_and_loads(tmp_path):
    averaged = swa.AveragedModel(models(ag))
    averaged.update_parameters(models(ag))
    ag.save(averaged.state_dict(), tmp_path / "averaged.pt")
    other = swa.AveragedModel(models(ag).apply(lambda part: part))
    other.load_state_dict(ag.load(tmp_path / "averaged.pt"))
    assert other.n_averaged == 1
    assert other.n_averaged.dtype == ag.int64


def test_the_model_itself_is_left_alone():
    net = models(ag)
    averaged = swa.AveragedModel(net)
    averaged.update_parameters(net)
    net[0].weight.data.zero_()
    assert averaged.module[0].weight.abs().sum() > 0
    assert all(p.grad_fn is None for p in averaged.parameters())


def test_statistics_are_computed_anew_and_the_rest_is_as_before():
    net = ag.nn.Sequential(ag.nn.BatchNorm1d(2, momentum=0.3), ag.nn.Dropout())
    net.train()
    net[1].eval()
    batches = [ag.randn(5, 2) for _ in range(3)]
    swa.update_bn(batches, net)
    mean = ag.stack([batch.mean(0) for batch in batches]).mean(0)
    np.testing.assert_allclose(net[0].running_mean, mean, rtol=1e-5)
    assert net[0].momentum == 0.3 and net[0].training and not net[1].training

    def failing():
        yield batches[0]
        raise OSError

    with pytest.raises(OSError):
        swa.update_bn(failing(), net)
    assert net[0].momentum == 0.3 and not net[1].training
    swa.update_bn(failing(), ag.nn.Linear(2, 2))  # nothing to compute: data aren't read


def test_schedules_are_those_of_torch():
    torch = pytest.importorskip("torch")
    for epochs, way, constant in itertools.product(
        (0, 1, 2, 5), ("cos", "linear"), (0.05, (0.05, 0.5))
    ):
        traces = []
        for package in (ag, torch):
            utils = importlib.import_module(f"{package.__name__}.optim.swa_utils")
            groups = [
                {"params": [package.zeros(1, requires_grad=True)], "lr": lr} for lr in (1.0, 2.0)
            ]
            optimizer = package.optim.SGD(groups, lr=1.0)
            before = package.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
            last = utils.SWALR(optimizer, constant, epochs, way)
            trace = []
            for i in range(12):
                trace += [group["lr"] for group in optimizer.param_groups]
                optimizer.step()
                (before if i < 4 else last).step()
            traces.append(trace)
        np.testing.assert_allclose(*traces, rtol=1e-12, err_msg=f"{epochs} {way} {constant}")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"swa_lr": (1, 2, 3)}, "same length"),
        ({"swa_lr": 1, "anneal_strategy": "square"}, "one of 'cos' or 'linear'"),
        ({"swa_lr": 1, "anneal_epochs": -1}, "anneal_epochs"),
        ({"swa_lr": 1, "anneal_epochs": 1.5}, "anneal_epochs"),
    ],
)
def test_what_a_schedule_refuses(given, match):
    optimizer = ag.optim.SGD([ag.zeros(1, requires_grad=True)], lr=1.0)
    with pytest.raises(ValueError, match=match):
        swa.SWALR(optimizer, **given)


def test_other_refusals():
    with pytest.raises(AssertionError, match="Only one of"):
        swa.AveragedModel(
            ag.nn.Linear(1, 1), avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn()
        )
    for function in (swa.get_ema_avg_fn, swa.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="Invalid decay value 2"):
            function(2)


def test_averages_of_many_tensors_are_those_of_one():
    kinds = (ag.float32, ag.float16, ag.complex64, ag.int64)
    for decay in (0.25, 0.999):
        one, many = (
            getattr(ag.optim.swa_utils, f"get_ema_{kind}avg_fn")(decay) for kind in ("", "multi_")
        )
        kept = [ag.tensor([1, 8, -4]).to(dtype) for dtype in kinds]
        new = [ag.tensor([9, 0, 12]).to(dtype) for dtype in kinds]
        expected = [t.clone() for t in kept]
        for t, a, b in zip(expected, kept, new):
            t.copy_(one(a, b, ag.tensor(1)))
        many(kept, new, ag.tensor(1))
        for found, t in zip(kept, expected):
            ag.testing.assert_close(found, t)
        assert kept[3].tolist() == ([7, 2, 8] if decay == 0.25 else [1, 7, -3])
