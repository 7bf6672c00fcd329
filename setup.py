"""Build of autograd_cy.  What is known statically is in pyproject.toml, the logic in ext/build/."""

import sys
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from ext.build.builder import commands, placeholders  # noqa: E402

setup(ext_modules=placeholders(), cmdclass=commands())
