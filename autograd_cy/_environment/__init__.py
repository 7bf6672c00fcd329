"""The process around the library: threads, machine, settings, contexts, what `autograd-cy` says of
them, and texts for readers."""
