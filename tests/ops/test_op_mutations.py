"""Wrong formulas are noticed: the checks of the table are checked.

Each formula is changed in every small way that mutations.py knows; each mutant must disagree with
differences for some sample of its record.
"""

import pytest
from mutations import mutants, noticed, sites

SITES = sites()
# (record, kind of formula, argument, text of the mutant) -> why no sample can show that it is wrong.
SURVIVORS = {}


def mutant_cases():
    for site in SITES:
        for kind, text in mutants(site):
            yield pytest.param(site, text, id=f"{site.id}-{kind}-{text}")


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.id)
def test_formula_itself_is_right(site):
    assert not noticed(site, site.text)


@pytest.mark.parametrize(("site", "text"), list(mutant_cases()))
def test_wrong_formula_is_noticed(site, text):
    survives = SURVIVORS.get((site.record.key, site.kind, site.output or site.key, text))
    if survives:
        assert not noticed(site, text), "remove it from SURVIVORS"
        return
    assert noticed(site, text), (
        f"no sample of {site.record.key} shows that {text!r} is not its {site.kind} ({site.key})"
    )
