"""One pass over a loader by several threads: each sample comes once."""

import threading
import time

import pytest

import autograd_cy as ag
from autograd_cy.utils import data as D

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Slow(D.Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, i):
        time.sleep(1e-3 * (i % 3))
        return ag.full((3,), i)


class Stream(D.IterableDataset):
    def __iter__(self):
        for i in range(60):
            time.sleep(1e-4)
            worker = D.get_worker_info()
            if worker is None or i % 2 == worker.id:
                yield ag.full((3,), i)


def taken(passed, threads=4):
    """Return the batches of all threads, and their exceptions."""
    found, errors = [], []

    def take():
        try:
            for batch in passed:
                found.extend(batch[:, 0].tolist())
        except BaseException as error:
            errors.append(error)

    takers = [threading.Thread(target=take, daemon=True) for _ in range(threads)]
    for thread in takers:
        thread.start()
    for thread in takers:
        thread.join(30)
    assert not any(thread.is_alive() for thread in takers)
    return sorted(found), errors


LOADERS = {
    "here": (Slow, {}),
    "here, a stream": (Stream, {}),
    "workers": (Slow, {"num_workers": 2}),
    "workers, a stream": (Stream, {"num_workers": 2}),
    "workers, whichever is first": (Slow, {"num_workers": 2, "in_order": False}),
    "workers that stay": (Slow, {"num_workers": 2, "persistent_workers": True}),
}


@pytest.mark.parametrize("name", LOADERS)
def test_each_sample_comes_once(name):
    kind, options = LOADERS[name]
    if options.get("num_workers"):
        options = {"multiprocessing_context": "fork", "timeout": 20, **options}
    loader = D.DataLoader(kind(), batch_size=2, **options)
    for _ in range(2):
        found, errors = taken(iter(loader))
        assert not errors
        assert found == list(range(60))


class Failing(Slow):
    def __getitem__(self, i):
        if i == 7:
            raise KeyError(i)
        return super().__getitem__(i)


def test_a_sample_that_fails_ends_one_thread_alone():
    options = {"num_workers": 2, "multiprocessing_context": "fork", "timeout": 20}
    passed = iter(D.DataLoader(Failing(), batch_size=2, **options))
    found, errors = taken(passed)
    assert [type(error) for error in errors] == [KeyError]
    assert found == [i for i in range(60) if i not in (6, 7)]


def test_a_handler_of_signals_may_ask_for_a_batch_meanwhile():
    passed = iter(D.DataLoader(Slow(), batch_size=2))
    with passed._lock:
        assert next(passed).shape == (2, 3)
