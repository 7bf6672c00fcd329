"""
The names of torch that this package lacks, or has elsewhere.

A row is a module without the package's name, a name in it, and, by its kind:

- ABSENT: what to use instead. The name can't be imported, and the error says so.
- STAND_INS: what to do instead, and the name can be imported, but raises an error
  when it is used.
- MOVED: the module that has the name here.

A row of a name that a record or a module comes to define is without effect. `lookup` reads the
table when a program asks for a name that nothing else has.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ABSENT", "MODULES", "MOVED", "STAND_INS", "WITHOUT_DEVICE"]


def _same_for(way_out: Any, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), way_out)


# --- absent ---
_COMPILER = "run the function as it is"
_ONE_DEVICE = "tensors are on the CPU or on NVIDIA's GPUs"
_DENSE = "there are dense tensors only"
_WINDOW = "compute it from cos(arange(n) * (2 * pi / n))"
_LEAST_SQUARES = "use linalg.pinv(A) @ b"
_ORTHOGONAL = "use linalg.qr"
_ONE_SOLVER = "use linalg.solve"
_EIGEN = "of a symmetric matrix use linalg.eigh"
_RANK = "count the linalg.svdvals above a tolerance"
_EACH = "transform one dimension after the other, by fft.fft or fft.ifft"
_REAL = "use fft.rfft along the last dimension, then fft.fft along each of the others"
_BACK_TO_REAL = "use fft.ifft along all dimensions but the last, then fft.irfft along that"

_NO_SUCH_DTYPE = "convert to a dtype that is here, as by .float()"
_QUANTIZED = "there are no quantized tensors"
_ON_NUMBERS = "use the function of numpy on x.numpy()"

# Functions of the top level that are methods, too.
_METHODS_TOO = {
    "cholesky": "use linalg.cholesky",
    "cholesky_inverse": "use linalg.inv of the matrix itself",
    "cholesky_solve": "use linalg.solve with the matrix itself",
    "frexp": _ON_NUMBERS,
    "histogram": "use histc, or bincount",
    "isreal": "use x.imag == 0",
    "istft": "use fft.irfft, and nn.functional.fold",
    "logaddexp2": "use logaddexp(x * c, y * c) / c, where c is log(2)",
    "stft": "use unfold, and fft.rfft",
    "triangular_solve": _ONE_SOLVER,
}

# Those that have an in-place form, besides.
_IN_PLACE_TOO = {
    "ldexp": "use x * 2.0**n",
    "nextafter": _ON_NUMBERS,
    "renorm": "multiply by (maxnorm / linalg.vector_norm(x, p, dims, keepdim=True)).clamp(max=1)",
    "sinc": "use sin(pi * x) / (pi * x), which is 1 at 0",
}

#: Module -> name -> what to use instead.
ABSENT: dict[str, dict[str, str]] = {
    "": {
        **_METHODS_TOO,
        **_IN_PLACE_TOO,
        **_same_for(
            _QUANTIZED,
            "QInt8Storage QInt32Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage",
        ),
        "cond": "use if of Python",
        "empty_permuted": "use empty, and permute",
        **_same_for(_NO_SUCH_DTYPE, "float8_e4m3fn float8_e4m3fnuz float8_e5m2"),
        **_same_for(_NO_SUCH_DTYPE, "float8_e5m2fnuz float8_e8m0fnu"),
        "gradient": "divide differences of slices by the steps",
        "library": "define an autograd.Function",
        **_same_for(_ONE_SOLVER, "lu lu_solve lu_unpack"),
        "lstsq": _LEAST_SQUARES,
        "masked": "use where",
        "nested": "pad, or use nn.utils.rnn.pack_sequence",
        "nonzero_static": "use nonzero, and pad",
        **_same_for(_ORTHOGONAL, "orgqr ormqr"),
        **_same_for(_QUANTIZED, "qint32 qint8 quint8"),
        **_same_for(_QUANTIZED, "quantize_per_channel quantize_per_tensor"),
        "signal": _WINDOW,
        **_same_for(_DENSE, "sparse_bsr_tensor sparse_compressed_tensor"),
        "sparse_csc_tensor": _DENSE,
        "sparse_coo_tensor": _DENSE,
        "sparse_csr_tensor": _DENSE,
        "while_loop": "use while of Python",
        "unravel_index": "use // and % by the sizes",
        "vander": "use linalg.vander(x), and flip(-1) for powers that fall",
    },
    "Tensor": {
        **_METHODS_TOO,
        **_IN_PLACE_TOO,
        **{f"{name}_": way_out for name, way_out in _IN_PLACE_TOO.items()},
        "cauchy_": "use uniform_, and tan of pi * (x - 0.5)",
        "geometric_": "use uniform_, and ceil of log(x) / log(1 - p)",
        "log_normal_": "use normal_, and exp_",
        "lu": _ONE_SOLVER,
        "lu_solve": _ONE_SOLVER,
        **_same_for(_ONE_DEVICE, "xpu"),
        **_same_for(_QUANTIZED, "dequantize int_repr q_scale q_zero_point qscheme"),
        **_same_for(_DENSE, "coalesce dense_dim indices is_coalesced sparse_dim"),
        **_same_for(_DENSE, "sparse_mask to_dense to_sparse to_sparse_coo"),
        **_same_for(_DENSE, "to_sparse_csr values"),
    },
    "fft": {
        **_same_for(_EACH, "fft2 fftn ifft2 ifftn"),
        **_same_for(_REAL, "rfft2 rfftn"),
        **_same_for(_BACK_TO_REAL, "irfft2 irfftn"),
        "fftshift": "use roll by half of the size",
        "hfft": "use irfft of x.conj(), times n",
        "ihfft": "use rfft of x, divided by n, and conj",
        "ifftshift": "use roll by minus half of the size",
    },
    "jit": {
        "freeze": _COMPILER,
        "load": "make the module by its class, and load its weights",
        "save": "save the weights: autograd_cy.save(module.state_dict(), path)",
        **_same_for(_COMPILER, "optimize_for_inference fuser"),
    },
    "linalg": {
        "householder_product": _ORTHOGONAL,
        **_same_for(_ONE_SOLVER, "ldl_factor ldl_factor_ex ldl_solve lu_factor_ex"),
        "tensorinv": "use linalg.inv of a matrix made by reshape",
        "tensorsolve": "use linalg.solve of a matrix made by reshape",
        "cond": "divide the largest of linalg.svdvals by the least",
        "eig": _EIGEN,
        "eigvals": _EIGEN,
        "lstsq": _LEAST_SQUARES,
        "lu": _ONE_SOLVER,
        "lu_factor": _ONE_SOLVER,
        "lu_solve": _ONE_SOLVER,
        "matrix_rank": _RANK,
    },
    "nn": {
        "CrossMapLRN2d": "use nn.LocalResponseNorm",
        "FractionalMaxPool2d": "use nn.AdaptiveMaxPool2d, whose windows are not random",
        "FractionalMaxPool3d": "use nn.AdaptiveMaxPool3d, whose windows are not random",
        "LinearCrossEntropyLoss": "use nn.Linear, and nn.CrossEntropyLoss",
    },
    "nn.functional": {
        "conv_tbc": "use conv1d of x.permute(1, 2, 0)",
        "fractional_max_pool2d": "use adaptive_max_pool2d, whose windows are not random",
        "fractional_max_pool2d_with_indices": "use adaptive_max_pool2d with return_indices",
        "fractional_max_pool3d": "use adaptive_max_pool3d, whose windows are not random",
        "fractional_max_pool3d_with_indices": "use adaptive_max_pool3d with return_indices",
        "native_channel_shuffle": "use channel_shuffle",
    },
    "optim": {
        "SparseAdam": "gradients are dense; use optim.Adam",
    },
    "func": {
        "functionalize": "functions may write in place; leave it out",
        "replace_all_batch_norm_modules_": "use nn.GroupNorm, or track_running_stats=False",
    },
    "sparse": {
        "addmm": "use addmm of dense tensors",
        "as_sparse_gradcheck": "use autograd.gradcheck",
        "check_sparse_tensor_invariants": _DENSE,
        "log_softmax": "use log_softmax of a dense tensor",
        "sampled_addmm": "use addmm of dense tensors, and where",
        "softmax": "use softmax of a dense tensor",
        "spdiags": "fill zeros(shape).diagonal(offset)",
        "spsolve": "use linalg.solve of dense tensors",
        "sum": "use sum of a dense tensor",
        "to_sparse_semi_structured": _DENSE,
    },
    "special": {
        "bessel_j0": "use scipy.special.j0 on x.numpy()",
        "bessel_j1": "use scipy.special.j1 on x.numpy()",
        **{
            name: f"use scipy.special.{of} on x.numpy()"
            for name, of in {
                "airy_ai": "airy",
                "bessel_y0": "y0",
                "bessel_y1": "y1",
                "chebyshev_polynomial_t": "eval_chebyt",
                "chebyshev_polynomial_u": "eval_chebyu",
                "erfcx": "erfcx",
                "hermite_polynomial_h": "eval_hermite",
                "hermite_polynomial_he": "eval_hermitenorm",
                "laguerre_polynomial_l": "eval_laguerre",
                "legendre_polynomial_p": "eval_legendre",
                "log_ndtr": "log_ndtr",
                "modified_bessel_k0": "k0",
                "modified_bessel_k1": "k1",
                "scaled_modified_bessel_k0": "k0e",
                "scaled_modified_bessel_k1": "k1e",
                "spherical_bessel_j0": "spherical_jn",
                "zeta": "zeta",
            }.items()
        },
        "modified_bessel_i0": "use special.i0",
        "modified_bessel_i1": "use special.i1",
        "entr": "use -xlogy(x, x)",
        "ndtr": "use (1 + erf(x / 2**0.5)) / 2",
        "ndtri": "use scipy.special.ndtri on x.numpy()",
        "sinc": _IN_PLACE_TOO["sinc"],
        "xlog1py": "use x * log1p(y)",
    },
    "utils": {
        "benchmark": "use timeit, or autograd_cy.profiler",
        "cpp_extension": "write Cython that cimports autograd_cy._C",
    },
}

#: Modules that lack all names but those that they define -> what to do instead.
WITHOUT_DEVICE = {
    "accelerator": _ONE_DEVICE,
    "mps": f"{_ONE_DEVICE}; leave device='mps' out",
    "xpu": f"{_ONE_DEVICE}; leave .xpu() and device='xpu' out",
}

# --- stand-ins ---

_MEETS_BY_MPI = "processes meet by MPI, which needs no store and no address; leave it out"
_LAUNCHED_BY_MPI = "start several processes by mpirun -n N python SCRIPT, or srun"
_NO_MESH = "there are no meshes of devices; use new_group and DistributedDataParallel"
_ONE_PROCESS = "use the collectives of distributed, or DistributedDataParallel"
_WHOLE_MODEL = (
    "each rank has the whole model; use DistributedDataParallel, and ZeroRedundancyOptimizer for an"
    " optimizer whose state is in parts"
)
_NO_STAGES = "a model isn't divided into stages; use DistributedDataParallel"
_MPI_ENDS_JOBS = (
    "MPI starts ranks and ends a job that has lost one; save checkpoints and start again"
)
_NO_EXPORTER = "there is no exporter; save the weights by autograd_cy.save(module.state_dict())"
_NO_GRAPH = "there is no graph of the program; run it as it is"
_NO_COMPILER = f"there is no compiler; {_COMPILER}"
_NO_DEVICES = "work is not spread over GPUs; call the module itself"
_NO_CUDA_GRAPH = "CUDA graphs are not recorded yet; call the function itself"
_ATTENTION = "use nn.functional.scaled_dot_product_attention with attn_mask"


#: Classes that extend nn.Module, for which programs ask by issubclass.
MODULES = frozenset(
    "DeQuantStub FSDPModule FullyShardedDataParallel GraphModule OptimizedModule QuantStub"
    " QuantWrapper RemoteModule".split()
)

_QUANTIZATION = _same_for(
    "there are no quantized tensors; leave the model as it is",
    "DeQuantStub FakeQuantize FakeQuantizeBase HistogramObserver MinMaxObserver ObserverBase"
    " QConfig QuantStub QuantWrapper convert default_qconfig fuse_modules get_default_qat_qconfig"
    " get_default_qconfig prepare prepare_qat quantize quantize_dynamic",
)

#: Module without the package's name -> name of torch's there -> the way out.
STAND_INS: dict[str, dict[str, str]] = {
    "": {
        **_same_for("sizes are numbers of Python", "SymBool SymFloat SymInt"),
        **_same_for("use jit.ScriptModule", "ScriptModule"),
        # To compare dtypes with; calls refuse them.
        **_same_for(_NO_SUCH_DTYPE, "chalf complex32"),
        **_same_for(
            "use autograd_cy.load and autograd_cy.save", "PyTorchFileReader PyTorchFileWriter"
        ),
    },
    "ao": {},
    "ao.quantization": _QUANTIZATION,
    "cuda": {
        **_same_for(_NO_CUDA_GRAPH, "CUDAGraph graph graph_pool_handle make_graphed_callables"),
        **_same_for(
            "there is one cache of blocks; leave it out",
            "CUDAPluggableAllocator MemPool caching_allocator_disabled caching_allocator_enable"
            " change_current_allocator use_mem_pool",
        ),
        **_same_for(
            "call the driver by PyCUDA: pycuda.driver",
            "check_error cudaStatus cudart GreenContext",
        ),
        **_same_for(
            "products are the package's own; call the library itself",
            "current_blas_handle current_solver_handle",
        ),
        "memory_snapshot": "use memory_stats, or the profiler with profile_memory=True",
    },
    "cuda.gds": _same_for(
        "copy by way of the host", "GdsFile gds_deregister_buffer gds_register_buffer"
    ),
    "cuda.graphs": _same_for(
        _NO_CUDA_GRAPH, "CUDAGraph graph graph_pool_handle make_graphed_callables"
    ),
    "cuda.jiterator": {},
    "cuda.nccl": _same_for(
        "use cuda.comm", "all_gather all_reduce broadcast reduce reduce_scatter version"
    ),
    "cuda.sparse": _same_for(
        "there are dense tensors only",
        "BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor"
        " LongTensor ShortTensor",
    ),
    "cuda.tunable": _same_for("kernels are not tuned; leave it out", "enable tuning_enable"),
    "distributed": {
        **_same_for(
            _MEETS_BY_MPI,
            "FileStore HashStore PrefixStore Store TCPStore rendezvous register_rendezvous_handler",
        ),
        **_same_for(_NO_MESH, "DeviceMesh init_device_mesh"),
        **_same_for(
            "there is one kind of groups, ProcessGroup; leave the others out",
            "ProcessGroupGloo ProcessGroupMPI ProcessGroupNCCL Reducer get_backend_config",
        ),
        **_same_for(
            "call the function for each tensor",
            "all_gather_coalesced all_reduce_coalesced",
        ),
        **_same_for(
            "call new_group for each group, on all ranks",
            "new_subgroups new_subgroups_by_enumeration split_group",
        ),
    },
    "distributed._composable": _same_for(_WHOLE_MODEL, "fully_shard replicate"),
    "distributed._composable.fsdp": _same_for(
        _WHOLE_MODEL, "FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard"
    ),
    "distributed._tensor": _same_for(
        _ONE_PROCESS,
        "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module"
        " distribute_tensor init_device_mesh",
    ),
    "distributed.algorithms._checkpoint": {},
    "distributed.algorithms._checkpoint.checkpoint_wrapper": _same_for(
        "use utils.checkpoint.checkpoint within forward",
        "CheckpointImpl apply_activation_checkpointing checkpoint_wrapper offload_wrapper",
    ),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": _same_for(
        "use default_hooks.bf16_compress_hook, or a hook of your own",
        "PowerSGDState batched_powerSGD_hook powerSGD_hook",
    ),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": _same_for(
        "use no_sync() and average the parameters by all_reduce",
        "PostLocalSGDState post_localSGD_hook",
    ),
    "distributed.algorithms.model_averaging": {},
    "distributed.algorithms.model_averaging.averagers": _same_for(
        "average the parameters by all_reduce with ReduceOp.AVG",
        "ModelAverager PeriodicModelAverager",
    ),
    "distributed.autograd": _same_for(
        "call backward on each rank, with distributed.nn.functional for results of others",
        "backward context get_gradients",
    ),
    "distributed.checkpoint": {
        "async_save": "use distributed.checkpoint.save, which returns when all is on disk",
        "load_state_dict": "use distributed.checkpoint.load",
        "save_state_dict": "use distributed.checkpoint.save",
        **_same_for(
            "there is one way to spread tensors over ranks; leave planner out",
            "DefaultLoadPlanner DefaultSavePlanner LoadPlanner SavePlanner",
        ),
        **_same_for("use FileSystemReader and FileSystemWriter", "StorageReader StorageWriter"),
    },
    "distributed.device_mesh": _same_for(_NO_MESH, "DeviceMesh init_device_mesh"),
    "distributed.distributed_c10d": _same_for(_MEETS_BY_MPI, "Store"),
    "distributed.elastic.agent": {},
    "distributed.elastic.agent.server": _same_for(
        _MPI_ENDS_JOBS, "ElasticAgent WorkerGroup WorkerSpec WorkerState"
    ),
    "distributed.elastic.agent.server.api": _same_for(
        _MPI_ENDS_JOBS, "RunResult WorkerGroup WorkerSpec WorkerState"
    ),
    "distributed.elastic.multiprocessing": _same_for(
        _LAUNCHED_BY_MPI, "DefaultLogsSpecs LogsSpecs Std start_processes"
    ),
    "distributed.elastic.multiprocessing.errors": _same_for(
        _MPI_ENDS_JOBS, "ChildFailedError ErrorHandler ProcessFailure"
    ),
    "distributed.elastic.rendezvous": _same_for(
        _MEETS_BY_MPI, "RendezvousHandler RendezvousParameters"
    ),
    "distributed.elastic.utils": {},
    "distributed.elastic.utils.data": _same_for(
        "use utils.data.DistributedSampler", "ElasticDistributedSampler"
    ),
    "distributed.fsdp": _same_for(
        _WHOLE_MODEL,
        "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullOptimStateDictConfig"
        " FullStateDictConfig FullyShardedDataParallel MixedPrecision MixedPrecisionPolicy"
        " OffloadPolicy ShardingStrategy StateDictType fully_shard",
    ),
    "distributed.fsdp.wrap": _same_for(
        _WHOLE_MODEL,
        "ModuleWrapPolicy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy"
        " transformer_auto_wrap_policy wrap",
    ),
    "distributed.launcher": _same_for(_LAUNCHED_BY_MPI, "LaunchConfig elastic_launch launch_agent"),
    "distributed.launcher.api": _same_for(
        _LAUNCHED_BY_MPI, "LaunchConfig elastic_launch launch_agent"
    ),
    "distributed.nn": _same_for("use DistributedDataParallel", "RemoteModule"),
    "distributed.optim": _same_for(
        "use ZeroRedundancyOptimizer, or the optimizer itself",
        "DistributedOptimizer PostLocalSGDOptimizer",
    ),
    "distributed.pipeline": {},
    "distributed.pipeline.sync": _same_for(_NO_STAGES, "Pipe"),
    "distributed.pipelining": _same_for(
        _NO_STAGES,
        "Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B"
        " ScheduleLoopedBFS SplitPoint build_stage pipe_split pipeline",
    ),
    "distributed.rpc": _same_for(
        _ONE_PROCESS, "RRef WorkerInfo init_rpc remote rpc_async rpc_sync shutdown"
    ),
    "distributed.tensor": _same_for(
        _ONE_PROCESS,
        "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module"
        " distribute_tensor init_device_mesh",
    ),
    "distributed.tensor.parallel": _same_for(
        _WHOLE_MODEL,
        "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput RowwiseParallel"
        " SequenceParallel loss_parallel parallelize_module",
    ),
    "export": _same_for(_NO_GRAPH, "Constraint Dim ExportedProgram export load save"),
    "fx": _same_for(
        _NO_GRAPH,
        "CodeGen Graph GraphModule Interpreter Node Proxy Tracer Transformer map_arg"
        " replace_pattern symbolic_trace",
    ),
    "fx.graph": _same_for(_NO_GRAPH, "CodeGen Graph"),
    "fx.graph_module": _same_for(_NO_GRAPH, "GraphModule"),
    "fx.interpreter": _same_for(_NO_GRAPH, "Interpreter Transformer"),
    "fx.node": _same_for(_NO_GRAPH, "Node map_aggregate map_arg"),
    "fx.experimental": {},
    "fx.experimental.proxy_tensor": _same_for(_NO_GRAPH, "make_fx get_proxy_mode"),
    "fx.proxy": _same_for(_NO_GRAPH, "Proxy TracerBase"),
    "jit": _same_for(_NO_GRAPH, "TopLevelTracedModule TracedModule TracerWarning _get_trace_graph"),
    "nn.attention.flex_attention": _same_for(
        _ATTENTION,
        "AuxOutput AuxRequest BlockMask and_masks create_block_mask create_mask"
        " flex_attention noop_mask or_masks",
    ),
    "nn.parallel": _same_for(_NO_DEVICES, "gather parallel_apply replicate scatter"),
    "nn.parallel.scatter_gather": _same_for(_NO_DEVICES, "gather scatter scatter_kwargs"),
    "nn.parallel._functions": _same_for(_NO_DEVICES, "Broadcast Gather ReduceAddCoalesced Scatter"),
    "onnx": _same_for(
        _NO_EXPORTER,
        "ExportOptions JitScalarType ONNXProgram OperatorExportTypes TrainingMode"
        " dynamo_export export register_custom_op_symbolic select_model_mode_for_export"
        " unregister_custom_op_symbolic",
    ),
    "onnx.operators": _same_for(_NO_EXPORTER, "reshape_from_tensor_shape shape_as_tensor"),
    "onnx.symbolic_helper": _same_for(_NO_EXPORTER, "_get_tensor_rank _get_tensor_sizes"),
    "utils.flop_counter": _same_for(
        "use profiler.profile(with_flops=True)", "FlopCounterMode register_flop_formula"
    ),
    "utils.mobile_optimizer": _same_for("there is no mobile runtime", "optimize_for_mobile"),
    "quantization": _QUANTIZATION,
    "_subclasses": _same_for(_NO_COMPILER, "FakeTensor FakeTensorMode"),
    "_subclasses.fake_tensor": _same_for(_NO_COMPILER, "FakeTensor FakeTensorMode"),
    "_dynamo": _same_for(_NO_COMPILER, "OptimizedModule explain export"),
    "_dynamo.eval_frame": _same_for(_NO_COMPILER, "OptimizedModule"),
}

# --- moved ---

#: Path without the package's name -> lines of ``module: names``. A name may be another one's here:
#: ``theirs=ours``. What is missing is asked of the first module, which may say what to use instead.
MOVED: dict[str, tuple[str, ...]] = {
    "_dynamo": (
        "compiler: allow_in_graph assume_constant_result disable is_compiling reset"
        " graph_break=_nothing mark_dynamic=_nothing mark_static=_nothing"
        " mark_static_address=_nothing maybe_mark_dynamic=_nothing optimize=_optimize",
    ),
    # Programs set what they like there.
    "_dynamo.config": ("compiler: ",),
    "_inductor": ("compiler: ",),
    "_inductor.config": ("compiler: ",),
    "_subclasses": ("compiler: ",),
    "_subclasses.fake_tensor": ("compiler: is_fake=_is_fake",),
    "_jit_internal": (
        "jit: Final _overload=_as_it_is _overload_method=_as_it_is"
        " _copy_to_script_wrapper=_as_it_is export ignore is_scripting unused",
        "jit.annotations: BroadcastingList1 BroadcastingList2 BroadcastingList3 Dict List Optional"
        " Tuple Union",
    ),
    "_ops": ("_lazy.operators_by_name: OpOverload OpOverloadPacket _OpNamespace",),
    "_tensor_str": (
        "_tensors.printing: PRINT_OPTS _add_suffixes=_with_suffixes _tensor_str=_brackets",
    ),
    "cpu.amp.autocast_mode": ("cpu.amp: autocast",),
    "cpu.amp.grad_scaler": ("cpu.amp: GradScaler",),
    "cuda.amp.autocast_mode": ("cuda.amp: autocast custom_bwd custom_fwd",),
    "cuda.amp.common": ("cuda.amp: amp_definitely_not_available",),
    "cuda.amp.grad_scaler": ("cuda.amp: GradScaler",),
    "distributed.distributed_c10d": (
        "distributed: Backend GroupMember P2POp ProcessGroup ReduceOp Work all_gather"
        " all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single barrier"
        " batch_isend_irecv broadcast broadcast_object_list default_pg_timeout"
        " destroy_process_group gather gather_object get_backend get_global_rank get_group_rank"
        " get_process_group_ranks get_rank get_world_size group init_process_group irecv"
        " is_backend_available is_gloo_available is_initialized is_mpi_available"
        " is_nccl_available is_torchelastic_launched isend monitored_barrier new_group recv"
        " recv_object_list reduce reduce_scatter reduce_scatter_tensor scatter"
        " scatter_object_list send send_object_list",
        "distributed.groups: _get_default_group=default_group _rank_not_in_group",
    ),
    "distributed.elastic": ("distributed: ",),
    "distributed.elastic.multiprocessing": ("distributed: ",),
    "distributed.elastic.multiprocessing.errors": ("distributed: record=_record",),
    "distributions.bernoulli": ("distributions.discrete: Bernoulli",),
    "distributions.beta": ("distributions.gamma: Beta",),
    "distributions.binomial": ("distributions.counts: Binomial",),
    "distributions.categorical": ("distributions.discrete: Categorical",),
    "distributions.cauchy": ("distributions.continuous: Cauchy",),
    "distributions.chi2": ("distributions.gamma: Chi2",),
    "distributions.continuous_bernoulli": ("distributions.bounded: ContinuousBernoulli",),
    "distributions.dirichlet": ("distributions.gamma: Dirichlet",),
    "distributions.exponential": ("distributions.continuous: Exponential",),
    "distributions.fishersnedecor": ("distributions.gamma: FisherSnedecor",),
    "distributions.generalized_pareto": ("distributions.bounded: GeneralizedPareto",),
    "distributions.geometric": ("distributions.discrete: Geometric",),
    "distributions.gumbel": ("distributions.continuous: Gumbel",),
    "distributions.half_cauchy": ("distributions.continuous: HalfCauchy",),
    "distributions.half_normal": ("distributions.continuous: HalfNormal",),
    "distributions.independent": ("distributions.transformed: Independent",),
    "distributions.inverse_gamma": ("distributions.gamma: InverseGamma",),
    "distributions.kumaraswamy": ("distributions.bounded: Kumaraswamy",),
    "distributions.laplace": ("distributions.continuous: Laplace",),
    "distributions.lkj_cholesky": ("distributions.matrices: LKJCholesky",),
    "distributions.log_normal": ("distributions.continuous: LogNormal",),
    "distributions.logistic_normal": ("distributions.bounded: LogisticNormal",),
    "distributions.lowrank_multivariate_normal": (
        "distributions.multivariate: LowRankMultivariateNormal",
    ),
    "distributions.mixture_same_family": ("distributions.transformed: MixtureSameFamily",),
    "distributions.multinomial": ("distributions.counts: Multinomial",),
    "distributions.multivariate_normal": ("distributions.multivariate: MultivariateNormal",),
    "distributions.negative_binomial": ("distributions.counts: NegativeBinomial",),
    "distributions.normal": ("distributions.continuous: Normal",),
    "distributions.one_hot_categorical": (
        "distributions.discrete: OneHotCategorical OneHotCategoricalStraightThrough",
    ),
    "distributions.pareto": ("distributions.bounded: Pareto",),
    "distributions.poisson": ("distributions.counts: Poisson",),
    "distributions.relaxed_bernoulli": (
        "distributions.bounded: LogitRelaxedBernoulli RelaxedBernoulli",
    ),
    "distributions.relaxed_categorical": (
        "distributions.bounded: ExpRelaxedCategorical RelaxedOneHotCategorical",
    ),
    "distributions.studentT": ("distributions.gamma: StudentT",),
    "distributions.transformed_distribution": (
        "distributions.transformed: TransformedDistribution",
    ),
    "distributions.uniform": ("distributions.continuous: Uniform",),
    "distributions.weibull": ("distributions.bounded: Weibull",),
    "distributions.wishart": ("distributions.matrices: Wishart",),
    "functional": (
        ": atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors"
        " cartesian_prod cdist chain_matmul einsum meshgrid norm split tensordot unique"
        " unique_consecutive",
    ),
    "nn.attention.bias": (
        "nn.causal_bias: CausalBias CausalVariant causal_lower_right causal_upper_left",
    ),
    "nn.modules.activation": (
        "nn: CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid"
        " LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax"
        " Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    ),
    "nn.modules.adaptive": ("nn: AdaptiveLogSoftmaxWithLoss", "nn.adaptive_softmax: _ASMoutput"),
    "nn.modules.batchnorm": (
        "nn: BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d"
        " SyncBatchNorm",
        "nn.lazy: _LazyNormBase",
        "nn.normalization: _BatchNorm _NormBase",
    ),
    "nn.modules.channelshuffle": ("nn: ChannelShuffle",),
    "nn.modules.container": ("nn: ModuleDict ModuleList ParameterDict ParameterList Sequential",),
    "nn.modules.conv": (
        "nn: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d"
        " LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
        "nn.lazy: _LazyConvXdMixin=_LazyConvMixin",
        "nn.convolution: _ConvNd _ConvTransposeNd=_Transposed",
    ),
    "nn.modules.distance": ("nn: CosineSimilarity PairwiseDistance",),
    "nn.modules.dropout": (
        "nn: AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
        "nn.dropout: _DropoutNd",
    ),
    "nn.modules.flatten": ("nn: Flatten Unflatten",),
    "nn.modules.fold": ("nn: Fold Unfold",),
    "nn.modules.instancenorm": (
        "nn: InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d"
        " LazyInstanceNorm3d",
        "nn.normalization: _InstanceNorm",
    ),
    "nn.modules.lazy": ("nn.lazy: LazyModuleMixin", "nn.parameter: is_lazy"),
    "nn.modules.linear": (
        "nn: Bilinear Identity LazyLinear Linear",
        "nn.attention: NonDynamicallyQuantizableLinear",
    ),
    "nn.modules.loss": (
        "nn: BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss"
        " GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss"
        " MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss"
        " SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss",
        "nn.loss: _Loss _WeightedLoss",
    ),
    "nn.modules.normalization": ("nn: GroupNorm LayerNorm LocalResponseNorm RMSNorm",),
    "nn.modules.padding": (
        "nn: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d"
        " ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d"
        " ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
        "nn.padding: _ConstantPadNd",
    ),
    "nn.modules.pixelshuffle": ("nn: PixelShuffle PixelUnshuffle",),
    "nn.modules.pooling": (
        "nn: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d"
        " AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d"
        " LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
        "nn.pooling: _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _MaxPoolNd",
        "nn.unpooling: _LPPoolNd _MaxUnpoolNd",
    ),
    "nn.modules.rnn": (
        "nn: GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
        "nn.recurrent: apply_permutation=_permuted",
    ),
    "nn.modules.sparse": ("nn: Embedding EmbeddingBag",),
    "nn.modules.transformer": (
        "nn: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder"
        " TransformerEncoderLayer",
        "nn.transformer: _get_activation_fn=_activation _get_clones=_copies",
    ),
    "nn.modules.upsampling": ("nn: Upsample UpsamplingBilinear2d UpsamplingNearest2d",),
    "optim.adamw": ("optim: AdamW",),
    "optim.sparse_adam": ("optim: ",),
    "utils._foreach_utils": (
        "optim._of_others: _device_has_foreach_support=_has_foreach_support"
        " _get_foreach_kernels_supported_devices=_no_devices"
        " _get_fused_kernels_supported_devices=_no_devices _group_tensors_by_device_and_dtype"
        " _has_foreach_support",
    ),
    "utils.data._utils": ("utils.data: ",),
    "utils.data._utils.collate": (
        "utils.data.collate: collate collate_float_fn collate_int_fn collate_numpy_array_fn"
        " collate_numpy_scalar_fn collate_str_fn collate_tensor_fn default_collate"
        " default_collate_fn_map default_convert",
    ),
    "utils.data._utils.worker": ("utils.data: WorkerInfo get_worker_info",),
    "utils.model_zoo": ("hub: load_url=load_state_dict_from_url",),
    "utils.tensorboard.writer": ("utils.tensorboard: SummaryWriter",),
}
