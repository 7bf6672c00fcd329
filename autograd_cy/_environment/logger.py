"""The logger `autograd_cy`: lines for the people who watch a program, such as what is downloaded.

PyTorch prints such lines on stderr. Here, too, unless the program has configured logging: then its
handlers get them. The library sets no handler and no level, and imports `logging` with the first
line. In a job of several processes, lines begin with the rank.
"""

from __future__ import annotations

import sys

from .launcher import detect

__all__ = ["ERROR", "INFO", "NAME", "WARNING", "tell"]

NAME = "autograd_cy"
# Those of logging.
INFO, WARNING, ERROR = 20, 30, 40


def tell(text: str, level: int = INFO) -> None:
    """
    Log a line; without handlers, write it to stderr as it is.

    Parameters
    ----------
    text : str
    level : int, default INFO
        Handlers decide by it. Without handlers, a line below the logger's own level isn't written.
    """
    import logging

    launch = detect()
    if launch is not None and launch.size > 1:
        text = f"rank {launch.rank}: {text}"
    logger = logging.getLogger(NAME)
    if logger.hasHandlers():
        logger.log(level, text, stacklevel=2)
    elif level >= logger.level and level > logger.manager.disable and not logger.disabled:
        print(text, file=sys.stderr)
