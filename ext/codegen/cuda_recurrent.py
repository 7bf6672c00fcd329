"""The source of the steps of recurrent cells on CUDA devices (recurrent.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

DTYPES = {"f32": "float", "f64": "double"}

# Name: arguments.
KERNELS = {
    "lstm_forward": "ag_cell_args",
    "gru_forward": "ag_cell_args",
    "plain_forward": "ag_cell_args",
    "lstm_backward": "ag_cell_back_args",
    "gru_backward": "ag_cell_back_args",
    "plain_backward": "ag_cell_back_args",
    "state_rows": "ag_state_rows_args",
}


def sources() -> dict[str, CudaSource]:
    """The source of the image."""
    text = '#include "recurrent.cuh"\n\n'
    for dtype, element in DTYPES.items():
        for name, arguments in KERNELS.items():
            text += f"AG_KERNEL({name}_{dtype}, {arguments}) {{ ag_{name}<{element}>(a); }}\n"
    return {"recurrent": CudaSource(text)}
