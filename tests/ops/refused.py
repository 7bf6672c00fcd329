"""The errors of calls next to the samples: `python -m tests.ops.refused` writes them."""

import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from calls import RECORDS, public_function  # noqa: E402
from calls import method_name as method  # noqa: E402
from varied import calls  # noqa: E402

import autograd_cy as ag  # noqa: E402

FILE = HERE / "refusals.txt"
NUMBER = re.compile(r"-?(?<![a-zA-Z_0-9])\d+([.x]\d+)*(e[-+]\d+)?")


def chosen():
    """The records that are asked: those that users can call."""
    return [r for r in RECORDS if r.public and r.tests.samples]


def function_of(record):
    """The function of a record, or its method where there is no other."""
    by_method = record.call.method and not record.call.function
    return getattr(ag.Tensor, method(record)) if by_method else public_function(record)


def shown(error):
    """An error as one line, its numbers and lists of numbers as #."""
    text = NUMBER.sub("#", str(error).partition("\n")[0])
    for empty in ("()", "[]"):
        text = text.replace(empty, empty[0] + "#" + empty[1]) if " " + empty in text else text
    return f"{type(error).__name__}: " + re.sub(r"#((, ?|x| x )#)+", "#", text)


def outcomes(record):
    """(label, args, kwargs, result or error) of each call."""
    function = function_of(record)
    for label, args, kwargs in calls(record):
        try:
            found = function(*args, **kwargs)
        except Exception as error:
            found = error
        yield label, args, kwargs, found


def main():
    warnings.simplefilter("ignore")
    lines = []
    for record in chosen():
        errors = {shown(x) for *_, x in outcomes(record) if isinstance(x, Exception)}
        lines += [f"{record.key}: {text}" for text in sorted(errors)]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
