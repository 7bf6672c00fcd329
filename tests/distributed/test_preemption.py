"""Signals become flags, jobs are requeued, and what can't be is refused."""

import os
import signal
import threading

import pytest

import autograd_cy as torch
from autograd_cy.utils.data import DataLoader
from autograd_cy.utils.preemption import PreemptionHandler, watched_signals


@pytest.fixture(autouse=True)
def _no_job(monkeypatch, tmp_path):
    for name in ("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")


def test_a_signal_is_a_flag_from_the_next_step_on():
    with PreemptionHandler() as handler:
        assert not handler.should_stop() and not handler.requested
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handler.requested and handler.should_stop() and handler.should_stop()


def test_handlers_of_before_come_back():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *arguments: seen.append(1))
    try:
        with PreemptionHandler((signal.SIGUSR1, signal.SIGUSR2)) as handler:
            assert handler.signals == (signal.SIGUSR1, signal.SIGUSR2)
            os.kill(os.getpid(), signal.SIGUSR2)
            assert handler.should_stop() and not seen
        os.kill(os.getpid(), signal.SIGUSR1)
        assert seen and signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_handler_of_before_comes_back_in_any_order():
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
    for order in ((0, 1), (1, 0), (0, 0, 1)):
        handlers = [PreemptionHandler([signal.SIGUSR1] * 2) for _ in range(2)]
        assert handlers[0].signals == (signal.SIGUSR1,)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handlers[0].requested and handlers[1].requested
        for place in order:
            assert watched_signals() == {signal.SIGUSR1}  # workers don't see it
            handlers[place].close()
        assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL and not watched_signals()


def test_a_later_handler_of_the_program_stays():
    def other(*_):
        pass

    first = PreemptionHandler()
    signal.signal(signal.SIGUSR1, other)
    first.close()
    assert signal.getsignal(signal.SIGUSR1) is other
    first = PreemptionHandler()
    signal.signal(signal.SIGUSR1, other)
    with PreemptionHandler() as second:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert second.requested
        first.close()
    assert signal.getsignal(signal.SIGUSR1) is other
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)


def test_a_program_may_bring_the_function_of_a_closed_handler_back():
    with PreemptionHandler():
        before = signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    with PreemptionHandler() as handler:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handler.requested
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL


def test_a_request_to_end_ends_the_job_unless_it_is_asked_for():
    with PreemptionHandler():
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    with PreemptionHandler([signal.SIGTERM]) as handler:
        os.kill(os.getpid(), signal.SIGTERM)
        assert handler.should_stop()


def test_only_some_calls_compare_the_ranks():
    with PreemptionHandler(every=3) as handler:
        handler.should_stop()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert [handler.should_stop() for _ in range(3)] == [False, True, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signals": [signal.SIGKILL]}, "SIGKILL can't be handled"),
        ({"signals": [0]}, "there is no signal 0"),
        ({"signals": ["USR1"]}, "there is no signal 'USR1'"),
        ({"every": 0}, "every must be at least 1"),
        ({"every": True}, "every must be at least 1"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    before = signal.getsignal(signal.SIGUSR1)
    with pytest.raises(ValueError, match=message):
        PreemptionHandler(**options)
    assert signal.getsignal(signal.SIGUSR1) == before


def test_another_thread_is_refused():
    errors = []

    def run():
        try:
            PreemptionHandler()
        except ValueError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "make it there" in errors[0]


def test_several_processes_without_a_group_are_refused(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with PreemptionHandler() as handler:
        with pytest.raises(ValueError, match=r"2 processes.*call init_process_group\(\) first"):
            handler.should_stop()


def scontrol(folder, text):
    command = folder / "scontrol"
    command.write_text(f"#!/bin/sh\necho $* >> {folder}/calls\n{text}\n")
    command.chmod(0o755)


def test_a_job_is_requeued_by_its_number(monkeypatch, tmp_path):
    scontrol(tmp_path, "exit 0")
    with PreemptionHandler() as handler:
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        handler.requeue()
        monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "5")
        handler.requeue()
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
        handler.requeue()
    assert (tmp_path / "calls").read_text() == "requeue 7\nrequeue 7\nrequeue 5_0\n"


def test_a_job_that_cannot_be_requeued_is_an_error(monkeypatch, tmp_path):
    with PreemptionHandler() as handler:
        with pytest.raises(RuntimeError, match=r"this isn't a job of SLURM .*: start the program"):
            handler.requeue()
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(RuntimeError, match="there is no scontrol on this node"):
            handler.requeue()
        scontrol(tmp_path, "echo Requested operation is presently disabled >&2; exit 1")
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
        with pytest.raises(RuntimeError, match=r"is presently disabled; submit .* --requeue"):
            handler.requeue()


class Signalled(torch.utils.data.Dataset):
    """A data set whose processes send the signal to themselves."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        os.kill(os.getpid(), signal.SIGUSR1)
        return index


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_loaders_do_not_see_the_signal(method):
    """SLURM sends it to all processes of a step."""
    if method == "forkserver":  # one that was there before the handler
        list(DataLoader([1], num_workers=1, multiprocessing_context=method))
    with PreemptionHandler() as handler:
        loader = DataLoader(Signalled(), num_workers=1, multiprocessing_context=method)
        assert torch.cat(list(loader)).tolist() == [0, 1, 2, 3]
        assert not handler.requested
        assert signal.SIGUSR1 not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
