"""Names that can be imported and raise when they are used: what torch has in modules that
programs import whether they need them or not.

A name that a module defines itself is found, and its row here is without effect.
"""

from __future__ import annotations

__all__ = ["MODULES", "NO_GROUP", "STAND_INS"]

# The words of torch where a program has started no group of processes.
NO_GROUP = (
    "Default process group has not been initialized, please make sure to call init_process_group"
)
_ALONE = (
    f"{NO_GROUP}; there are no groups of processes here (distributed.is_available() is False): "
    "leave the call out where there is one process, or use mpi4py on the arrays of tensor.numpy()"
)
_ONE_PROCESS = (
    "there are no groups of processes here, and distributed.is_available() says so: run one "
    "process, which needs none, or use mpi4py on the arrays of tensor.numpy()"
)
_WHOLE_MODEL = "there is one process; use the module itself"
_DRAW = "draw with autograd_cy.randn, multinomial, bernoulli and the like"
_NO_EXPORTER = "there is no exporter; save the weights by autograd_cy.save(module.state_dict())"
_NO_GRAPH = "there is no graph of the program; run it as it is"
_NO_COMPILER = "there is no compiler; run the function as it is"
_NO_DEVICES = "work is not spread over GPUs; call the module itself"
_NO_CUDA_GRAPH = "CUDA graphs are not recorded yet; call the function itself"
_ATTENTION = "use nn.functional.scaled_dot_product_attention with attn_mask"


def _each(way_out: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), way_out)


#: Classes that extend nn.Module, for which programs ask by issubclass.
MODULES = frozenset(
    "DeQuantStub FSDPModule FullyShardedDataParallel GraphModule OptimizedModule QuantStub"
    " QuantWrapper RemoteModule".split()
)

_QUANTIZATION = _each(
    "there are no quantized tensors; leave the model as it is",
    "DeQuantStub FakeQuantize FakeQuantizeBase HistogramObserver MinMaxObserver ObserverBase"
    " QConfig QuantStub QuantWrapper convert default_qconfig fuse_modules get_default_qat_qconfig"
    " get_default_qconfig prepare prepare_qat quantize quantize_dynamic",
)
_DISTRIBUTIONS = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exp_family": "ExponentialFamily",
    "exponential": "Exponential",
    "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma",
    "generalized_pareto": "GeneralizedPareto",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "inverse_gamma": "InverseGamma",
    "kl": "kl_divergence register_kl",
    "kumaraswamy": "Kumaraswamy",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "relaxed_bernoulli": "RelaxedBernoulli",
    "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution",
    "uniform": "Uniform",
    "von_mises": "VonMises",
    "weibull": "Weibull",
    "wishart": "Wishart",
    "constraint_registry": "biject_to transform_to",
    "transforms": (
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform"
        " CumulativeDistributionTransform ExpTransform IndependentTransform"
        " LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform"
        " SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform"
        " StickBreakingTransform TanhTransform Transform identity_transform"
    ),
}

#: Module without the package's name -> name of torch's there -> the way out.
STAND_INS: dict[str, dict[str, str]] = {
    "": {
        **_each("sizes are numbers of Python", "SymBool SymFloat SymInt"),
        **_each("use jit.ScriptModule", "ScriptModule"),
        **_each("use autograd_cy.load and autograd_cy.save", "PyTorchFileReader PyTorchFileWriter"),
    },
    "ao": {},
    "ao.quantization": _QUANTIZATION,
    "cuda": {
        **_each(_NO_CUDA_GRAPH, "CUDAGraph graph graph_pool_handle make_graphed_callables"),
        **_each(
            "use UntypedStorage",
            "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage"
            " ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage"
            " ShortStorage",
        ),
        **_each(
            "there is one cache of blocks; leave it out",
            "CUDAPluggableAllocator MemPool caching_allocator_disabled caching_allocator_enable"
            " change_current_allocator use_mem_pool",
        ),
        **_each(
            "call the driver by PyCUDA: pycuda.driver",
            "check_error cudaStatus cudart GreenContext",
        ),
        **_each(
            "products are the package's own; call the library itself",
            "current_blas_handle current_solver_handle",
        ),
        "memory_snapshot": "use memory_stats, or the profiler with profile_memory=True",
    },
    "cuda.gds": _each(
        "copy by way of the host", "GdsFile gds_deregister_buffer gds_register_buffer"
    ),
    "cuda.graphs": _each(
        _NO_CUDA_GRAPH, "CUDAGraph graph graph_pool_handle make_graphed_callables"
    ),
    "cuda.jiterator": {},
    "cuda.nccl": _each(
        "use cuda.comm", "all_gather all_reduce broadcast reduce reduce_scatter version"
    ),
    "cuda.sparse": _each(
        "there are dense tensors only",
        "BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor"
        " LongTensor ShortTensor",
    ),
    "cuda.tunable": _each("kernels are not tuned; leave it out", "enable tuning_enable"),
    "distributed": {
        **_each(
            _ONE_PROCESS,
            "init_process_group init_device_mesh DeviceMesh FileStore HashStore PrefixStore"
            " ProcessGroup ProcessGroupGloo ProcessGroupMPI ProcessGroupNCCL Store TCPStore Work"
            " P2POp rendezvous register_rendezvous_handler launch run Reducer GradBucket",
        ),
        **_each(
            _ALONE,
            "all_gather all_gather_coalesced all_gather_into_tensor all_gather_object all_reduce"
            " all_reduce_coalesced all_to_all all_to_all_single barrier batch_isend_irecv"
            " broadcast broadcast_object_list destroy_process_group gather gather_object"
            " get_backend get_backend_config get_global_rank get_group_rank"
            " get_process_group_ranks get_rank get_world_size irecv isend monitored_barrier"
            " new_group new_subgroups new_subgroups_by_enumeration recv recv_object_list reduce"
            " reduce_scatter reduce_scatter_tensor scatter scatter_object_list send"
            " send_object_list split_group",
        ),
    },
    "distributed.algorithms": {},
    "distributed.algorithms.join": _each(_ONE_PROCESS, "Join JoinHook Joinable"),
    "distributed.checkpoint": _each(
        "use autograd_cy.save and autograd_cy.load",
        "load save async_save load_state_dict save_state_dict FileSystemReader FileSystemWriter",
    ),
    "distributed.checkpoint.state_dict": _each(
        "use module.state_dict() and module.load_state_dict()",
        "StateDictOptions get_model_state_dict get_optimizer_state_dict get_state_dict"
        " set_model_state_dict set_optimizer_state_dict set_state_dict",
    ),
    "distributed.device_mesh": _each(_ONE_PROCESS, "DeviceMesh init_device_mesh"),
    "distributed.distributed_c10d": {
        **_each(_ONE_PROCESS, "ProcessGroup Store init_process_group"),
        **_each(_ALONE, "_get_default_group broadcast_object_list get_rank get_world_size"),
    },
    "distributed.fsdp": _each(
        _WHOLE_MODEL,
        "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullOptimStateDictConfig"
        " FullStateDictConfig FullyShardedDataParallel MixedPrecision MixedPrecisionPolicy"
        " OffloadPolicy ShardingStrategy StateDictType fully_shard",
    ),
    "distributed.fsdp.wrap": _each(
        _WHOLE_MODEL,
        "ModuleWrapPolicy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy"
        " transformer_auto_wrap_policy wrap",
    ),
    "distributed.nn": _each(
        _ALONE, "RemoteModule all_gather all_reduce all_to_all broadcast gather reduce scatter"
    ),
    "distributed.nn.functional": _each(
        _ALONE, "all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter"
    ),
    "distributed.optim": _each(
        "there is one process; use the optimizer itself",
        "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer",
    ),
    "distributed.rpc": _each(
        _ONE_PROCESS, "RRef WorkerInfo init_rpc remote rpc_async rpc_sync shutdown"
    ),
    "distributed.tensor": _each(
        _ONE_PROCESS,
        "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module"
        " distribute_tensor init_device_mesh",
    ),
    "distributed.tensor.parallel": _each(
        _WHOLE_MODEL,
        "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput RowwiseParallel"
        " SequenceParallel loss_parallel parallelize_module",
    ),
    "distributions": _each(
        _DRAW,
        " ".join(names for names in _DISTRIBUTIONS.values() if "register_kl" not in names)
        + " kl_divergence",
    ),
    **{f"distributions.{module}": _each(_DRAW, names) for module, names in _DISTRIBUTIONS.items()},
    "distributions.constraints": _each(
        _DRAW,
        "boolean cat corr_cholesky dependent dependent_property greater_than greater_than_eq"
        " half_open_interval independent integer_interval interval less_than lower_cholesky"
        " lower_triangular multinomial nonnegative nonnegative_integer one_hot positive"
        " positive_definite positive_integer positive_semidefinite real real_vector simplex"
        " square stack symmetric unit_interval is_dependent Constraint",
    ),
    "distributions.utils": _each(
        _DRAW,
        "broadcast_all clamp_probs lazy_property logits_to_probs probs_to_logits tril_matrix_to_vec"
        " vec_to_tril_matrix",
    ),
    "export": _each(_NO_GRAPH, "Constraint Dim ExportedProgram export load save"),
    "fx": _each(
        _NO_GRAPH,
        "CodeGen Graph GraphModule Interpreter Node Proxy Tracer Transformer map_arg"
        " replace_pattern symbolic_trace",
    ),
    "fx.graph": _each(_NO_GRAPH, "CodeGen Graph"),
    "fx.graph_module": _each(_NO_GRAPH, "GraphModule"),
    "fx.interpreter": _each(_NO_GRAPH, "Interpreter Transformer"),
    "fx.node": _each(_NO_GRAPH, "Node map_aggregate map_arg"),
    "fx.experimental": {},
    "fx.experimental.proxy_tensor": _each(_NO_GRAPH, "make_fx get_proxy_mode"),
    "fx.proxy": _each(_NO_GRAPH, "Proxy TracerBase"),
    "jit": _each(_NO_GRAPH, "TopLevelTracedModule TracedModule TracerWarning _get_trace_graph"),
    "nn.attention.bias": _each(
        _ATTENTION, "CausalBias CausalVariant causal_lower_right causal_upper_left"
    ),
    "nn.attention.flex_attention": _each(
        _ATTENTION,
        "AuxOutput AuxRequest BlockMask and_masks create_block_mask create_mask"
        " flex_attention noop_mask or_masks",
    ),
    "nn.parallel": _each(_NO_DEVICES, "gather parallel_apply replicate scatter"),
    "nn.parallel.scatter_gather": _each(_NO_DEVICES, "gather scatter scatter_kwargs"),
    "nn.parallel._functions": _each(_NO_DEVICES, "Broadcast Gather ReduceAddCoalesced Scatter"),
    "nn.utils.prune": _each(
        "use a parametrization that multiplies by a mask (nn.utils.parametrize)",
        "BasePruningMethod CustomFromMask Identity L1Unstructured LnStructured PruningContainer"
        " RandomStructured RandomUnstructured custom_from_mask global_unstructured identity"
        " is_pruned l1_unstructured ln_structured random_structured random_unstructured remove",
    ),
    "onnx": _each(
        _NO_EXPORTER,
        "ExportOptions JitScalarType ONNXProgram OperatorExportTypes TrainingMode"
        " dynamo_export export register_custom_op_symbolic select_model_mode_for_export"
        " unregister_custom_op_symbolic",
    ),
    "onnx.operators": _each(_NO_EXPORTER, "reshape_from_tensor_shape shape_as_tensor"),
    "onnx.symbolic_helper": _each(_NO_EXPORTER, "_get_tensor_rank _get_tensor_sizes"),
    "utils.flop_counter": _each(
        "use profiler.profile(with_flops=True)", "FlopCounterMode register_flop_formula"
    ),
    "utils.mobile_optimizer": _each("there is no mobile runtime", "optimize_for_mobile"),
    "quantization": _QUANTIZATION,
    "_dynamo": _each(_NO_COMPILER, "OptimizedModule explain export"),
    "_dynamo.eval_frame": _each(_NO_COMPILER, "OptimizedModule"),
}
