"""Run the doctor in each rank."""

from autograd_cy.__main__ import main

main(["doctor"])
