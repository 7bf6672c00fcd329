"""The process around the library: threads, machine, settings, contexts, what `autograd-cy` says of
them, what to use for names that the package hasn't, and texts for readers."""
