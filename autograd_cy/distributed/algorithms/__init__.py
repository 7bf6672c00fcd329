"""Algorithms on top of collectives: hooks of DistributedDataParallel, joining uneven inputs."""
