"""The modules that a new record or kernel rebuilds, by the rules of dependency: nothing is
compiled."""

import dataclasses
import itertools
import re
from functools import cache
from pathlib import Path

import pytest

from ext.build.extensions import BUILD_DIR, GENERATED_DIR, MODULES, PACKAGE_DIR, ROOT
from ext.codegen import generate, table
from ext.codegen.kernel_specs import SPECS, KernelSpec

pytestmark = pytest.mark.slow

INCLUDE = re.compile(r'^include "([^"]+)"', re.M)
CIMPORT = re.compile(r"^ *(?:from|cimport) autograd_cy\._C\.(\w+)(?: +cimport| *$)", re.M)
RECORD, KERNEL = 0.15, 0.40  # the largest share of the generated C that one of them may rebuild


@cache
def families():
    return table.load()


@cache
def written():
    return generate.sources(families())


def units():
    """{module: its source} of all modules of a build."""
    found = {m.name: m.path for m in MODULES}
    names = [name for name in written() if name.endswith(".pyx")]
    return found | {Path(name).stem: GENERATED_DIR / name for name in names}


def text_of(path):
    if path.name in written():
        return written()[path.name]
    return path.read_text() if path.exists() else ""


@cache
def reads(path):
    """Names of the files that Cython reads for a source: itself, includes, declarations."""
    text = text_of(path)
    found = {path.name}
    for name in INCLUDE.findall(text):
        place = path.parent / name
        found |= reads(place if place.exists() else GENERATED_DIR / name)
    for name in {*CIMPORT.findall(text), path.stem}:
        declared = PACKAGE_DIR / f"{name}.pxd"
        if declared != path and text_of(declared):
            found |= reads(declared)
    return frozenset(found)


@cache
def weights():
    """Bytes of the C of each unit in the last build; if there is none, about what it will be."""
    made = {path.stem: path.stat().st_size for path in BUILD_DIR.glob("release/*/*.c")}
    if made.keys() >= units().keys():
        return {name: made[name] for name in units()}
    return {name: 200_000 + 25 * len(text_of(path)) for name, path in units().items()}


def rebuilt(after):
    """(modules that are translated again, their share of the generated C)."""
    changed = {name for name in {*written(), *after} if written().get(name) != after.get(name)}
    names = {name for name, path in units().items() if reads(path) & changed}
    return names, sum(weights()[name] for name in names) / sum(weights().values())


def plain_record(family):
    """A record of the family from which another one is made."""
    for r in generate.compiled(families())[family]:
        if (
            not (r.overload or r.call.when or r.call.dunder or r.call.aliases)
            and type(r.kernel).__name__ != "composite"
        ):
            return r
    return None


FAMILIES = sorted(family for family in generate.compiled(families()) if plain_record(family))


def with_records(chosen):
    found = dict(families())
    for family in chosen:
        name = f"_quite_new_{family}"
        new = plain_record(family).replace(name=name, shown_as="new")
        found[family] = [*found[family], new]
    return found


def parts():
    """
    Some of the families, four times: of nearly any two families, one part has the first alone.

    Each family is in one or two of the parts, and those of its neighbour are others.
    """
    chosen = [c for size in (1, 2) for c in itertools.combinations(range(4), size)]
    places = dict(zip(FAMILIES, itertools.cycle(chosen)))
    return [[family for family in FAMILIES if part in places[family]] for part in range(4)]


@pytest.mark.parametrize("part", parts(), ids=lambda part: f"{part[0]}..{len(part)}")
def test_records_rebuild_their_own_families(part):
    """A record rebuilds its own family, and no other one."""
    names, _ = rebuilt(generate.sources(with_records(part)))
    kernels = {"optimize", "cuda_steps"} if "optimizers" in part else set()  # made of the records
    tables = {"optable", "cuda_host"}  # of all slots
    assert names == {*(f"ops_{family}" for family in part)} | tables | kernels


def test_a_record_rebuilds_little():
    size = weights()
    for family in FAMILIES:
        own = size[f"ops_{family}"] + size["optable"] + size["cuda_host"]
        share = own / sum(size.values())
        assert share <= RECORD, f"{family}: {share:.1%}"


def test_an_elementwise_kernel_rebuilds_the_loops_and_one_family():
    family = next(f for f, rs in families().items() for r in rs if r.key == "exp")
    exp = next(r for r in families()[family] if r.key == "exp")
    kernel = dataclasses.replace(exp.kernel, name="quite_new")
    new = exp.replace(name="quite_new", kernel=kernel, inplace=True)
    specs = [KernelSpec("quite_new", 1, "hfc", cost=4), *SPECS]  # in front: all numbers move
    names, share = rebuilt(
        generate.sources({**families(), family: [*families()[family], new]}, specs)
    )
    assert names == {f"ops_{family}", "optable", "kern", "cuda_elementwise"}
    assert share <= KERNEL, f"{share:.1%}"


def test_the_rule_of_dependency_is_that_of_cython():
    """`reads` finds the files that Cython lists for a module."""
    listed = sorted(BUILD_DIR.glob("release/*/*.c.dep"))
    if not listed:
        pytest.skip("nothing is built here")
    for path in listed:
        name = path.name.removesuffix(".c.dep")
        if name not in units():
            continue
        words = path.read_text().replace("\\\n", " ").partition(":")[2].split()
        ours = {
            Path(word).name for word in words if "autograd_cy/_C/" in word or "generated" in word
        }
        assert ours <= reads(units()[name]), name


def test_every_call_of_an_operator_by_hand_is_declared():
    pxis = {name: text for name, text in written().items() if name.startswith("operators_of_")}
    assert "operators_of_engine.pxi" in pxis
    for name, text in pxis.items():
        module = name.removeprefix("operators_of_").removesuffix(".pxi")
        source = next((ROOT / "ext").rglob(f"{module}.pyx"))
        assert "cdef Operators T" in text, f"{module} includes {name} and calls no operator"
        assert f'include "{name}"' in source.read_text()
