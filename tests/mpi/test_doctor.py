"""`autograd-cy doctor` within a job."""

import pytest
from ranks import run


@pytest.mark.parametrize("ranks", [1, 2])
def test_doctor_shows_the_ranks_once(ranks):
    text = run("doctor", ranks=ranks).text
    assert text.count("ranks on 1 host, by ") == (ranks > 1), text
    assert text.count("0 of 2") == text.count("1 of 2") == (ranks > 1), text
    assert "MPI_Init" not in text and "alone" not in text
