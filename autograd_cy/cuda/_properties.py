"""The properties of a GPU, with torch's names."""

from __future__ import annotations

import uuid as _uuid
from dataclasses import dataclass

# Fields that are attributes of the driver's -> its number of it (CUdevice_attribute).
ATTRIBUTES = {
    "major": 75,
    "minor": 76,
    "multi_processor_count": 16,
    "is_integrated": 18,
    "is_multi_gpu_board": 84,
    "warp_size": 10,
    "max_threads_per_block": 1,
    "max_threads_per_multi_processor": 39,
    "regs_per_multiprocessor": 82,
    "shared_memory_per_block": 8,
    "shared_memory_per_block_optin": 97,
    "shared_memory_per_multiprocessor": 81,
    "L2_cache_size": 38,
    "clock_rate": 13,
    "memory_clock_rate": 36,
    "memory_bus_width": 37,
    "pci_bus_id": 33,
    "pci_device_id": 34,
    "pci_domain_id": 50,
}
MB = 1 << 20


@dataclass(frozen=True, repr=False)
class Properties:
    """The name of a GPU, and its numbers: memory in bytes, clocks in kHz, widths in bits."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    uuid: _uuid.UUID
    is_integrated: int
    is_multi_gpu_board: int
    warp_size: int
    max_threads_per_block: int
    max_threads_per_multi_processor: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    clock_rate: int
    memory_clock_rate: int
    memory_bus_width: int
    pci_bus_id: int
    pci_device_id: int
    pci_domain_id: int

    @classmethod
    def of(cls, index: int) -> Properties:
        """Ask the driver for those of one GPU."""
        from autograd_cy._C import cuda_driver

        values = cuda_driver.properties(index)
        values["uuid"] = _uuid.UUID(bytes=values["uuid"])
        for field, number in ATTRIBUTES.items():
            if field not in values:
                values[field] = cuda_driver.attribute(index, number)
        return cls(**values)

    @property
    def gcnArchName(self) -> str:
        """The name of the GPU, as torch has it here for those that aren't AMD's."""
        return self.name

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // MB}MB, "
            f"multi_processor_count={self.multi_processor_count}, uuid={self.uuid}, "
            f"pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // MB}MB)"
        )
