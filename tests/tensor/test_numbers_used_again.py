"""The tensor behind a Python number is used again once nobody holds it; values stay apart."""

import threading

import pytest

import autograd_cy as torch


@pytest.mark.parametrize("kind", [float, int])
def test_two_numbers_in_one_call_keep_their_values(kind):
    x = torch.tensor([0.0, 5.0, 10.0], dtype=torch.float64)
    assert torch.clamp(x, kind(2), kind(7)).tolist() == [2.0, 5.0, 7.0]
    assert torch.where(x > 3, kind(1), kind(4)).tolist() == [4, 1, 1]


@pytest.mark.parametrize("kind", [float, int])
def test_results_of_numbers_alone_are_tensors_of_their_own(kind):
    results = [torch.add(kind(k), kind(10)) for k in range(5)]
    products = [torch.mul(kind(k), kind(1)) for k in range(5)]
    assert [r.item() for r in results] == [10, 11, 12, 13, 14]
    assert [p.item() for p in products] == [0, 1, 2, 3, 4]
    results[0].add_(100)
    assert (2 * torch.ones(1)).item() == 2.0
    assert [r.item() for r in results] == [110, 11, 12, 13, 14]


def test_graphs_keep_the_numbers_they_were_recorded_with():
    x = torch.ones(1, requires_grad=True)
    products = [x * (k + 0.5) for k in range(10)] + [x * k for k in range(10)]
    for k, y in enumerate(products):
        (grad,) = torch.autograd.grad(y, x)
        assert grad.item() == (k + 0.5 if k < 10 else k - 10)


def test_a_saved_number_that_is_held_stays_as_it_is():
    x = torch.ones(1, requires_grad=True)
    y, z = x * 2.5, x * 3.5
    first, second = y.grad_fn._saved_other, z.grad_fn._saved_other
    assert (x * 4.5).item() == 4.5
    assert (float(first), float(second)) == (2.5, 3.5)


def test_numbers_of_inference_mode_do_not_leave_it():
    with torch.inference_mode():
        assert (torch.ones(1) * 2.5).item() == 2.5
    x = torch.ones(1, requires_grad=True)
    (x * 3.5).backward()
    assert x.grad.item() == 3.5


def test_double_backward_with_numbers():
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad((x * 1.5) ** 3 + 2.5 * x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert first.item() == pytest.approx(3 * 1.5**3 * 4 + 2.5)
    assert second.item() == pytest.approx(6 * 1.5**3 * 2)


def test_threads_do_not_see_each_others_numbers():
    wrong = []

    def work(number):
        x = torch.ones(20_000, dtype=torch.float64)
        for _ in range(200):
            y = x * number
            if y[0].item() != number or y[-1].item() != number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k + 0.5,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_factor_that_was_cut_off_is_no_float_any_more():
    m = torch.tensor([[1, 2], [3, 4]])
    assert torch.addmm(m, m, m, beta=1.7, alpha=0.9).tolist() == m.tolist()
    assert (torch.ones(1) * 2.0).item() == 2.0 and (torch.ones(1) * 0.5).item() == 0.5
    assert torch.addmm(m, m, m, beta=1.7, alpha=0.9).tolist() == m.tolist()
