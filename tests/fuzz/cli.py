"""The command line: which parts, for how long, and the table at the end."""

import argparse
import os
import queue
import sys
import threading
import time

from . import parts
from .drive import Driver, usable_targets
from .report import Report

BATCH = 25


def arguments(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all parts together")
    parser.add_argument("--cases", type=int, help="of each part, instead of seconds")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--only", help=f"some of {','.join(parts.NAMES)}")
    parser.add_argument("--case", type=int, help="this number alone, of the one part in --only")
    parser.add_argument("--jobs", type=int, default=1, help="workers at once")
    parser.add_argument("--against", choices=["torch"], help="a second opinion, where installed")
    parser.add_argument("--limit", type=float, default=60, help="seconds that a case may take")
    parser.add_argument(
        "--fail-on",
        default="wrong,crash,hang",
        help="kinds of findings that make the exit status 1; fresh seeds in CI: crash,hang",
    )
    parser.add_argument("--findings", help="a folder for programs that show the findings")
    asked = parser.parse_args(argv)
    asked.only = asked.only.split(",") if asked.only else list(parts.NAMES)
    for name in asked.only:
        if name not in parts.NAMES:
            parser.error(f"there is no part {name!r}; choose of {', '.join(parts.NAMES)}")
    if asked.seed is None:
        asked.seed = int.from_bytes(os.urandom(4), "little")
    return asked


def batches(name, asked, end):
    """Ranges of case numbers of a part until its time is over."""
    if asked.case is not None:
        yield [asked.case]
        return
    start = 0
    while (start < asked.cases) if asked.cases else (time.monotonic() < end):
        stop = min(start + BATCH, asked.cases) if asked.cases else start + BATCH
        yield range(start, stop)
        start = stop


def run_part(name, asked, targets, report):
    """All batches of one part, by `jobs` threads that have workers of their own."""
    end = time.monotonic() + asked.seconds / len(asked.only)
    todo, lock = batches(name, asked, end), threading.Lock()
    failures = queue.SimpleQueue()

    def job():
        driver = Driver(asked.seed, targets, asked.limit, asked.against)
        try:
            while True:
                with lock:
                    numbers = next(todo, None)
                if numbers is None:
                    return
                cpu = targets[numbers[0] // BATCH % len(targets)]
                for status, finding in driver.batch(name, numbers, cpu):
                    with lock:
                        report.add(name, status, finding)
        except BaseException as error:
            failures.put(error)
        finally:
            driver.close()

    threads = [threading.Thread(target=job) for _ in range(asked.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not failures.empty():
        raise failures.get()


def main(argv=None):
    asked = arguments(argv)
    targets = usable_targets()
    print(f"seed {asked.seed}, instruction sets {', '.join(targets)}", flush=True)
    report = Report(asked, sys.stdout)
    for name in asked.only:
        run_part(name, asked, targets, report)
    report.finish()
    return report.exit_code
