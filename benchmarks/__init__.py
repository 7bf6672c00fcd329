"""Benchmarks that compare a library with PyTorch eager, side by side in one run.

``python -m benchmarks`` is the entry point (``cli.py``). The cases live in ``groups/``, one file
per group; ``compare.py`` runs them in two worker processes (``worker.py``), ``report.py`` prints.
``programs/`` has what measures one thing of its own.
"""
