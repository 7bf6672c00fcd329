"""The script that makes a channel of conda packages removes no folder but its own."""

import importlib.util

import pytest
from site_recipes import PACKAGING

SPEC = importlib.util.spec_from_file_location(
    "build_locally", PACKAGING / "conda" / "build_locally.py"
)
build_locally = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(build_locally)


def test_a_folder_that_is_no_channel_is_left_as_it_is(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(SystemExit, match="is no channel of this script"):
            build_locally.make_empty(place)
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_channel_of_an_earlier_run_is_removed(tmp_path):
    channel = tmp_path / "channel"
    build_locally.make_empty(channel)
    channel.mkdir()
    build_locally.make_empty(channel)
    assert channel.is_dir()  # empty
    (channel / build_locally.MARK).write_text("")
    (channel / "work").mkdir()
    build_locally.make_empty(channel)
    assert not channel.exists()
