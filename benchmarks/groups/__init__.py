"""The cases, one file per group. Each has ``CASES``; ``benchmarks.case`` says what a case is."""
