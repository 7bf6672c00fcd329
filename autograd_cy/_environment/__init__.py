"""The process around the library: its threads and machine, and what `autograd-cy` says of them."""
