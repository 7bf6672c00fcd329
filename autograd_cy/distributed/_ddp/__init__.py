"""How DistributedDataParallel sums gradients: in buckets, while backward goes on."""
