"""A fuzzer: random calls, programs, files and threads against independent references.

``python -m tests.fuzz --seconds 120`` from the root of the checkout. cli.py has the switches,
drive.py the processes, worker.py what runs in them, parts/ the kinds of cases, known.py the
differences that have a reason.
"""
