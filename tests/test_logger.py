"""The logger `autograd_cy`: to stderr as torch prints, or to the handlers of the program."""

import logging
import warnings

import programs
import pytest

import autograd_cy as torch
from autograd_cy import hub
from autograd_cy._environment import logger as ours
from autograd_cy.profiler import _command


class Lines(logging.Handler):
    """Collects what it is given."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def texts(self):
        return [(r.name, r.levelname, r.getMessage()) for r in self.records]


@pytest.fixture
def logger():
    """The logger, which is as it was afterwards."""
    found = logging.getLogger("autograd_cy")
    before = found.level, found.propagate, found.disabled
    yield found
    found.handlers.clear()
    found.setLevel(before[0])
    found.propagate, found.disabled = before[1:]


@pytest.fixture
def lines(logger):
    handler = Lines()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    return handler


def test_without_handlers_lines_go_to_stderr_as_they_are(logger, capsys):
    ours.tell("100 % done")
    assert capsys.readouterr() == ("", "100 % done\n")


def test_the_level_of_the_logger_holds_without_handlers(logger, capsys):
    logger.setLevel(logging.WARNING)
    ours.tell("a line")
    ours.tell("a warning", ours.WARNING)
    assert capsys.readouterr().err == "a warning\n"
    logging.disable(logging.WARNING)
    try:
        ours.tell("a warning", ours.WARNING)
        ours.tell("an error", ours.ERROR)
    finally:
        logging.disable(logging.NOTSET)
    logger.disabled = True
    ours.tell("an error", ours.ERROR)
    assert capsys.readouterr().err == "an error\n"


def test_levels_are_those_of_logging():
    assert (ours.INFO, ours.WARNING, ours.ERROR) == (logging.INFO, logging.WARNING, logging.ERROR)


def test_a_handler_gets_lines_instead_of_stderr(lines, capsys):
    ours.tell("100 % done")
    assert lines.texts() == [("autograd_cy", "INFO", "100 % done")]
    assert lines.records[0].filename == "test_logger.py"
    assert capsys.readouterr().err == ""


def test_handlers_of_the_root_get_lines_by_the_usual_levels(logger, capsys):
    handler = Lines()
    logging.getLogger().addHandler(handler)
    try:
        ours.tell("a line")  # the root's level is WARNING
        ours.tell("a warning", ours.WARNING)
        logger.setLevel(logging.INFO)
        ours.tell("another line")
    finally:
        logging.getLogger().removeHandler(handler)
    assert [text for *_, text in handler.texts()] == ["a warning", "another line"]
    assert capsys.readouterr().err == ""


def test_a_null_handler_silences(logger, capsys):
    logger.addHandler(logging.NullHandler())
    ours.tell("an error", ours.ERROR)
    assert capsys.readouterr().err == ""


def test_downloads_are_logged(lines, tmp_path, capsys):
    torch.save({"w": torch.ones(2)}, tmp_path / "net.pth")
    address, kept = (tmp_path / "net.pth").as_uri(), tmp_path / "kept"
    hub.load_state_dict_from_url(address, model_dir=kept, progress=False)
    assert lines.texts() == [
        ("autograd_cy", "INFO", f'Downloading: "{address}" to {kept / "net.pth"}')
    ]
    assert capsys.readouterr().err == ""


def test_histories_of_failing_nodes_are_logged_where_warnings_are_errors(lines, capsys):
    x = torch.zeros(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode = torch.autograd.detect_anomaly()
    with mode:
        loss = (x * 0 / x).sum()
        with pytest.raises(RuntimeError, match="returned nan values"):
            loss.backward()  # warnings are errors in these tests
    ((_, level, text),) = lines.texts()
    assert level == "WARNING" and text.startswith("UserWarning: Error detected in DivBackward0.")
    assert capsys.readouterr().err == ""


def test_the_profile_of_a_process_is_logged(lines, tmp_path, capsys, monkeypatch):
    ends = []
    monkeypatch.setattr(_command.atexit, "register", ends.append)
    monkeypatch.setattr(_command, "_on_termination", lambda report: None)
    for folder in (tmp_path / "folder", tmp_path / "file" / "folder"):
        (tmp_path / "file").write_text("")
        _command.record_from_now(str(folder))
        torch.ones(2).neg()
        ends.pop()()
    (_, info, written), (_, error, refused) = lines.texts()
    (path,) = (tmp_path / "folder").iterdir()
    assert (info, written) == ("INFO", f"wrote {path}")
    assert error == "ERROR" and refused.startswith("AUTOGRAD_CY_PROFILE: can't write into ")
    assert "wrote" not in capsys.readouterr().err


def test_logging_is_imported_with_the_first_line():
    program = (
        "import sys, numpy\n"
        "sys.modules.pop('logging', None)\n"  # some of NumPy may have loaded it
        "import autograd_cy, autograd_cy.hub, autograd_cy.nn\n"
        "assert 'logging' not in sys.modules\n"
        "from autograd_cy._environment.logger import tell\n"
        "tell('a line')\n"
        "assert 'logging' in sys.modules\n"
    )
    done = programs.run("-c", program)
    assert (done.returncode, done.stderr) == (0, "a line\n")
