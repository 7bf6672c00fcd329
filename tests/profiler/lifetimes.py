"""Sessions that leave much to be given back; as a program, with checks of what they recorded."""

import gc
import threading

from mallinfo import heap

import autograd_cy as ag
from autograd_cy._C import recorder
from autograd_cy._C.recorder import Recording, record_function

BLOCK = 1 << 16  # bytes of a block of events
PER_BLOCK = 1023
X = ag.ones(3)


def session(wanted=15):
    made = Recording(wanted, 1 << 40)
    made.start()
    return made


def elsewhere(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def threads():
    """Each has events, changes of memory, labels that stay open until after the session."""
    kept = []

    def work():
        kept.append(record_function("open").__enter__())
        ag.ones(2)

    made = session()
    for _ in range(4):
        elsewhere(work)
    made.stop()


def open_labels():
    """Around blocks of events, and two in one block."""
    for between in (PER_BLOCK + 10, 0):
        made = session(0)
        labels = [record_function("a").__enter__() for _ in range(2)]
        for _ in range(between):
            X.neg()
        made.stop()
        X.neg()
        while labels:
            labels.pop().__exit__(None, None, None)


def overlaps():
    """A chain of sessions, of which each needs what was recorded since it began."""
    before = session(2)
    for _ in range(6):
        following = session(2)
        for _ in range(PER_BLOCK):
            X.neg()
        before.drop()
        before = following
    before.stop()


def new_names():
    made = session(1 + 4 + 8)
    for k in range(40):
        with record_function(f"{new_names.count} {k}"):
            X.neg()
        record_function("a").__exit__(kind=None, error=None, traceback=None)
        token = recorder._enter_module(f"{new_names.count} {k}")
        recorder._leave_module(token)
    new_names.count += 1
    made.stop()


new_names.count = 0


def changes():
    made = session(2)
    for _ in range(300):
        ag.empty(2)
    made.stop()
    session(2).drop()


def arguments():
    made = session(1)
    for k in range(200):
        ag.empty(k, 1)
    made.stop()


ACTIONS = [threads, open_labels, overlaps, new_names, changes, arguments]


def few_blocks_are_kept():
    """After many events: no more than for the next 65472 ones."""
    made = session(0)
    for _ in range(4 * PER_BLOCK):  # there is memory for so many from the start
        X.neg()
    made.drop()
    least = heap()
    for _ in range(2):
        made = session(0)
        for _ in range(80 * PER_BLOCK):
            X.neg()
        made.drop()
        assert heap() - least <= 61 * BLOCK, (heap() - least) / BLOCK


def codes():
    """Return code objects of functions that are gone when their frames are read."""
    for part in range(3):
        made = session(4)
        for k in range(30):
            run = {"X": X}
            exec(compile(f"def f():\n  X.neg()\nf()  # {k}", f"{part} {k}", "exec"), run)
            run.clear()
        gc.collect()
        found = made.stop()
        files = [found[7][i][0][0] for i in found[0]["stack"]]
        assert files == [f"{part} {k}" for k in range(30)], files


def long_texts():
    """The first arguments that there are need more room than there is."""
    seen = recorder._seen("test::any", lambda *args: None)
    texts = ["a" * n for n in (900, 0, 1, 7, 8, 9, 16, 2000)]
    made = session(1)
    for text in texts:
        seen(text, 5)
    for count in (100, 200, 400, 800, 1600):
        seen([ag.ones(1, 2, 1, 2, 1)] * count)
    found = made.stop()
    rows = [found[6][i] for i in found[0]["shape"] if i >= 0]
    assert [row[1] for row in rows if len(row[1]) == 2] == [[text, 5] for text in texts]
    lists = [row[0][0] for row in rows if row[2] == ["TensorList"]]
    assert lists == [[[1, 2, 1, 2, 1]] * n for n in (100, 200, 400, 800, 1600)]


def deep_labels():
    made = session(0)
    labels = [record_function(str(k)).__enter__() for k in range(300)]
    while labels:
        labels.pop().__exit__(None, None, None)
    found = made.stop()
    assert found[0]["parent"].tolist() == list(range(-1, 299))


def many_threads():
    made = session(0)
    X.sin()
    for _ in range(12):
        elsewhere(X.neg)
    assert len(made.stop()[1]) == 13


def open_in_ended_threads():
    """And left when the memory of those threads would have another content."""
    labels = [record_function(str(k)) for k in range(4)]
    made = session(0)
    for label in labels:
        elsewhere(label.__enter__)
    made.stop()
    session(0).stop()
    made = session(0)
    for label in labels:
        label.__exit__(None, None, None)
        X.neg()
    assert made.stop()[0]["parent"].tolist() == [-1] * 4


def a_frame_alone():
    lines = "made = session(4)\nX.neg()\nfound = made.stop()"
    known = dict(globals())
    exec(compile(lines, "alone", "exec"), known)
    assert known["found"][7][0][0][:2] == ("alone", 2)


PROGRAMS = [few_blocks_are_kept, long_texts, codes, deep_labels, many_threads, a_frame_alone,
            open_in_ended_threads, threads, open_labels, overlaps, changes]  # fmt: skip


if __name__ == "__main__":
    for program in PROGRAMS:
        program()
        print(program.__name__, flush=True)
