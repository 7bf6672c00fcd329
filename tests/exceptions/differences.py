"""Where exceptions differ from PyTorch's by design: a row for each class of calls.

A row is (operators, forms, arguments, values, PyTorch's letters, ours, reason); the first four are
regular expressions for whole names. docs/coming-from-pytorch.md says the same to users.
"""

import re
from typing import NamedTuple


class Difference(NamedTuple):
    operators: str
    forms: str
    arguments: str
    values: str
    theirs: str
    ours: str
    reason: str


DIFFERENT = []


def different(line, value, theirs, ours):
    """The first row that a call belongs to, or None."""
    for row in DIFFERENT:
        if (
            theirs in row.theirs
            and ours in row.ours
            and re.fullmatch(row.values, value)
            and re.fullmatch(row.arguments, line.argument)
            and re.fullmatch(row.forms, line.form)
            and re.fullmatch(row.operators, line.record.key)
        ):
            return row
    return None
