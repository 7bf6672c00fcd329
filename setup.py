"""Build of autograd_cy.  What is known statically is in pyproject.toml, the logic in ext/build/."""

import sys
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

# pip compares these versions itself; an old setuptools alone would build a package without a name.
if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(
        "autograd_cy: Python 3.10 or later is needed, and this one is " + sys.version.split()[0]
    )

from ext.build import prerequisites  # noqa: E402

try:
    prerequisites.require_packages("setuptools")
except prerequisites.Missing as error:
    sys.exit(f"\n{error}\n")

from ext.build.builder import commands, placeholders  # noqa: E402

setup(ext_modules=placeholders(), cmdclass=commands())
