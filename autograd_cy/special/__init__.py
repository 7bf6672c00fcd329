"""
Special functions by the names they have in ``torch.special``.

Each is a function of the top level, under the same or another name, or a record puts it here by
``namespace="special"``.

Examples
--------
>>> import autograd_cy as ag
>>> ag.special.expit(ag.tensor([0.0]))
tensor([0.5000])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._interpreted import complete as _complete
from autograd_cy._lazy import attach as _attach
from autograd_cy.special._softmax import log_softmax, softmax

__all__ = ["log_softmax", "softmax"]

# Functions that are those of the top level, and those that have another name there.
_TOP = (
    "digamma",
    "erf",
    "erfc",
    "exp2",
    "expm1",
    "log1p",
    "logit",
    "logsumexp",
    "polygamma",
    "round",
    "xlogy",
)
_RENAMED = {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}

_complete("special", globals(), _TOP, _RENAMED)


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
