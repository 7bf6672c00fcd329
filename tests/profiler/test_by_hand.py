"""Reports of recordings made by hand say what stands in the files."""

import pytest
from endless import soon
from texts import FILES, recorded_texts, texts_of


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reports(path):
    with soon():
        found = texts_of(path)
    wanted = recorded_texts(path)
    wrong = {key: found[key] for key in found if found[key] != wanted.get(key)}
    assert found and not wrong and found.keys() == wanted.keys()
