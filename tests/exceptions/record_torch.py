"""Write the exceptions that PyTorch raises: `python -m tests.exceptions.record_torch`.

PyTorch ends the process in some wrong calls, so each record runs in a forked child that reports
call by call. The key words of messages are those of the first call of each class.
"""

import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import messages  # noqa: E402
import torch  # noqa: E402
from wrong_calls import (  # noqa: E402
    ACCEPTED,
    CRASHED,
    FILE,
    NAME_OF_LIST,
    NO_SUCH_CALL,
    accepted,
    lines,
    outcome,
    public_records,
    written,
)

LIMIT = 20  # seconds for one call


def in_child(calls):
    """The letter of each call, in forked children."""
    found = []
    while len(found) < len(calls):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 2)
            for call in calls[len(found) :]:
                signal.alarm(LIMIT)
                os.write(writing, outcome(torch, *call).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            found += pipe.read()
        _, status = os.waitpid(child, 0)
        if status and len(found) < len(calls):
            found.append(CRASHED)
    return found


def recorded(record):
    """{key of a line: (name of its list, letters)} of a record."""
    takes, wanted = {}, []
    for line in lines(record):
        asked = line.form, line.number
        if asked not in takes:
            takes[asked] = accepted(torch, record, *asked)
        if takes[asked]:
            wanted.append(line)
    letters = iter(in_child([(line, value) for line in wanted for value in line.values]))
    return {
        line.key: (NAME_OF_LIST[line.values], "".join(next(letters) for _ in line.values))
        for line in wanted
    }


def recorded_words(record, letters):
    """(call, value, key words) of the first call of each class that a record refuses.

    Methods have their own, because they count arguments without the tensor.
    """
    found = {}

    def seen(line, value, args, kwargs, before, error):
        words = messages.key_words(str(error))
        if words is not None and "\t" not in words[1]:
            found.setdefault((line.form == "method", words[0]), (line.key, value, words[1]))

    for line in lines(record):
        if line.form in messages.FORMS and line.key in letters:
            for value, letter in zip(line.values, letters[line.key][1], strict=True):
                if letter not in (ACCEPTED, NO_SUCH_CALL, CRASHED):
                    outcome(torch, line, value, seen)
    return list(found.values())


def main():
    torch.set_num_threads(1)
    torch.ones(2, device="meta").add(torch.ones(())).exp()  # loads what each child would load
    found, words = {}, []
    for record in public_records():
        print(record.key, flush=True)
        letters = recorded(record)
        found |= letters
        words += recorded_words(record, letters)
    version = torch.__version__.partition("+")[0]
    FILE.write_text(written(version, found))
    messages.FILE.write_text(messages.written(version, words))
    print(f"{sum(len(x) for _, x in found.values())} calls, {len(words)} messages")


if __name__ == "__main__":
    main()
