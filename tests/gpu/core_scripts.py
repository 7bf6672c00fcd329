"""Run scripts in processes of their own, for tests of starts, exits and forks."""

import os
import subprocess
import sys
import textwrap

from conftest import REAL
from emulator import places

BEGIN = """
import sys
import autograd_cy as torch
"""


def run(script, *, begin=BEGIN, without=(), timeout=120, **variables):
    """Status, standard output and standard error of a script.

    Parameters
    ----------
    without : iterable of str
        Variables that the process doesn't get.
    """
    env = dict(os.environ) if REAL else places.environment()
    env |= {name: str(value) for name, value in variables.items()}
    for name in without:
        env.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", begin + textwrap.dedent(script)],
        env=env,
        cwd=places.ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def told(script, **options):
    """Return the output of a script, which must end with status 0 and nothing on standard error."""
    status, out, err = run(script, **options)
    assert (status, err) == (0, ""), f"status {status}\n{out}\n{err}"
    return out
