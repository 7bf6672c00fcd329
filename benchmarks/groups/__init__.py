"""The cases, one file per group. Each file has ``CASES``; see ``benchmarks.case`` for what a case is."""
