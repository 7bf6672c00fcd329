"""The process around the library: threads, machine, settings, contexts, and what `autograd-cy` says
of them."""
