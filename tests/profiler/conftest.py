"""A recording ends with its test."""

import pytest
from recordings import started


@pytest.fixture(autouse=True)
def nothing_runs_on():
    yield
    while started:
        started.pop().drop()
