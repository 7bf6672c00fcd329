"""Warnings name the line of the program, through however many functions of the package."""

import re
import warnings
from pathlib import Path

import pytest

import autograd_cy as ag

F = ag.nn.functional
PACKAGE = Path(ag.__file__).parent
EXT = PACKAGE.parent / "ext"


def encoder_of_odd_masks():
    layer = ag.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = ag.nn.TransformerEncoder(layer, 1)
    mask, padding = ag.zeros(3, 3), ag.zeros(2, 3, dtype=ag.bool)
    encoder(ag.zeros(2, 3, 4), mask=mask, src_key_padding_mask=padding)


def scheduler_before_optimizer():
    optimizer = ag.optim.SGD([ag.zeros(1, requires_grad=True)], 0.1)
    ag.optim.lr_scheduler.StepLR(optimizer, 1).step()


CALLS = {
    "sizes of mse_loss": lambda: F.mse_loss(ag.zeros(2, 1), ag.zeros(2)),
    "sizes of l1_loss": lambda: F.l1_loss(ag.zeros(2, 1), ag.zeros(2)),
    "sizes of a module": lambda: ag.nn.MSELoss()(ag.zeros(2, 1), ag.zeros(2)),
    "older spelling": lambda: ag.nn.L1Loss(size_average=False),
    "kl_div": lambda: F.kl_div(ag.zeros(2), ag.zeros(2)),
    "dropout2d": lambda: F.dropout2d(ag.zeros(2, 2)),
    "softmax without dim": lambda: F.softmax(ag.zeros(2)),
    "module of softmax": lambda: ag.nn.Softmax()(ag.zeros(2)),
    "upsample": lambda: F.upsample(ag.zeros(1, 1, 2), 4),
    "gumbel_softmax": lambda: F.gumbel_softmax(ag.zeros(2), eps=1e-9),
    "affine_grid": lambda: F.affine_grid(ag.zeros(1, 2, 3), (1, 1, 2, 2)),
    "a tensor of a tensor": lambda: ag.tensor(ag.zeros(2)),
    "new_tensor": lambda: ag.zeros(1).new_tensor(ag.zeros(2)),
    "a list as a tuple": lambda: ag.zeros(2, 2)[[0, None]],
    "out of another size": lambda: ag.add(ag.zeros(3), 1, out=ag.zeros(2)),
    "degrees of freedom": lambda: ag.zeros(1).std(),
    "grad of what is no leaf": lambda: (ag.zeros(1, requires_grad=True) * 2).grad,
    "masks": encoder_of_odd_masks,
    "order of steps": scheduler_before_optimizer,
    "layers of one": lambda: ag.nn.LSTM(1, 1, dropout=0.5),
    "clipping": lambda: ag.nn.utils.clip_grad_norm(ag.zeros(1, requires_grad=True), 1.0),
    "initialisation": lambda: ag.nn.init.kaiming_uniform_(ag.zeros(0, 1)),
    "older initialisation": lambda: ag.nn.init.uniform(ag.zeros(1)),
    "autocast of the CPU": lambda: ag.cpu.amp.autocast(),
    "autocast of a GPU": lambda: ag.cuda.amp.autocast(enabled=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_that_called(name):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        CALLS[name]()
    assert found, "no warning"
    assert {Path(w.filename) for w in found} == {Path(__file__)}


def test_each_line_of_a_program_is_warned_of():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        F.mse_loss(ag.zeros(2, 1), ag.zeros(2))
        F.mse_loss(ag.zeros(2, 1), ag.zeros(2))
    assert len({w.lineno for w in found}) == 2


def test_the_package_warns_in_one_way():
    call = re.compile(r"\b_?warnings\.warn\(|\bstacklevel=|^from warnings import", re.M)
    sources = [*PACKAGE.rglob("*.py"), *EXT.rglob("*.py[x]"), *EXT.rglob("*.pxi")]
    sources.remove(PACKAGE / "_environment" / "logger.py")  # names the line that logs
    found = [p.relative_to(PACKAGE.parent) for p in sources if call.search(p.read_text())]
    assert [p.as_posix() for p in found] == ["autograd_cy/_C/_warned.py"]
