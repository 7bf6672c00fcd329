"""The module that averages gradients over processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import autograd_cy as ag
from autograd_cy.distributed.algorithms.join import Join, Joinable, JoinHook
from autograd_cy.nn.module import Module

__all__ = ["DistributedDataParallel"]

_MEGABYTE = 1 << 20


class DistributedDataParallel(Module, Joinable):
    """
    A module that is trained by several processes, each with a part of the batch.

    At construction all ranks get the parameters and buffers of rank 0. Each backward averages the
    gradients over ranks: in buckets, by non-blocking operations that run while backward goes on.
    The loss of each rank is the mean over its part; with parts of equal size, the gradients are
    those of the mean over the whole batch.

    Parameters
    ----------
    module : Module
    device_ids, output_device : object, optional
        Of GPUs; without effect.
    dim : int, default 0
        Without effect.
    broadcast_buffers : bool, default True
        Give all ranks the buffers of rank 0 before each forward pass, such as means of batches.
    init_sync : bool, default True
        Compare the module between ranks, and give all the parameters of rank 0.
    process_group : ProcessGroup, optional
        By default all processes.
    bucket_cap_mb : float, optional
        Size of a bucket in MiB. The first one is at most 1 MiB. By default a twelfth of all
        gradients, from 1 to 25 MiB, so that little is left to reduce when backward ends.
    find_unused_parameters : bool, default False
        Let parameters be without a gradient in some backwards, on some ranks. Where no rank has
        one, ``grad`` stays as it is.
    check_reduction : bool, default False
        Without effect.
    gradient_as_bucket_view : bool, default False
        True: ``grad`` is the same memory in every step, that of the buckets, and the next backward
        overwrites it. False: after ``zero_grad()`` a backward has new memory, so that a program may
        hold gradients of earlier steps; a gradient that is there already stays the same tensor.
    static_graph : bool, default False
        The same parameters are without a gradient in every backward, which the first one finds out.
    delay_all_reduce_named_params, param_to_hook_all_reduce : object, optional
        Not supported.
    mixed_precision : object, optional
        With ``reduce_dtype``: gradients are reduced in this dtype.
    device_mesh : object, optional
        Not supported.
    skip_all_reduce_unused_params : bool, default False
        Without effect.
    micro_batches : int, optional
        Deterministic mode: a step has this many backwards over all ranks, an equal number on each,
        each of an equal part of the batch, as
        :class:`~autograd_cy.utils.data.distributed.MicroBatchSampler` gives them. Their gradients
        are summed in one fixed tree and divided by their number, so that the bits are the same for
        any number of ranks. ``grad`` is set after the last.

    Attributes
    ----------
    module : Module
        Keys of ``state_dict()`` begin with this name.

    Raises
    ------
    RuntimeError
        If no parameter records, or, on every rank, if modules differ.
    ValueError
        If there is no group of processes.

    References
    ----------
    S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB
    2020.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group("gloo")
    >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
    >>> model(ag.ones(3, 2)).mean().backward()
    >>> model.module.weight.grad
    tensor([[1., 1.]])
    >>> ag.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        *,
        micro_batches: int | None = None,
    ) -> None:
        from autograd_cy.distributed.groups import own_group

        super().__init__()
        if not isinstance(module, Module):
            raise TypeError(
                f"DistributedDataParallel: module must be a Module, not {type(module).__name__}"
            )
        for name, value in (
            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
            ("param_to_hook_all_reduce", param_to_hook_all_reduce),
            ("device_mesh", device_mesh),
        ):
            if value is not None:
                raise ValueError(f"DistributedDataParallel: {name} isn't supported; leave it out")
        group = own_group(process_group, "DistributedDataParallel")
        if group is None:
            raise ValueError(
                "DistributedDataParallel: this process isn't in process_group; wrap the module on "
                "the ranks of the group alone, or leave process_group out"
            )
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters "
                "that require a gradient."
            )
        lazy = [name for name, p in named if isinstance(p, ag.nn.UninitializedParameter)]
        if lazy:
            raise RuntimeError(
                f"DistributedDataParallel: {', '.join(lazy[:5])} have no values yet; run a forward "
                "pass with a lazy module before wrapping it"
            )
        empty = [name for name, tensor in named if tensor.device.type == "meta"]
        if empty:
            raise RuntimeError(
                f"DistributedDataParallel: {', '.join(empty[:5])} are on device meta, and have no "
                "values; give the module memory by to_empty() and initialize it before wrapping it"
            )
        if bucket_cap_mb is None:
            total = sum(parameter.nbytes for _, parameter in named)
            bytes_ = min(max(total / 12, _MEGABYTE), 25 * _MEGABYTE)
        else:
            bytes_ = bucket_cap_mb * _MEGABYTE
        if not bytes_ > 0:
            raise ValueError(
                f"DistributedDataParallel: bucket_cap_mb must be positive, not {bucket_cap_mb}"
            )
        self.module = module
        self.process_group = group
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.static_graph = static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True
        self._forwards = 0
        if init_sync:
            from autograd_cy.distributed._ddp.state import compare, equalize

            compare([*module.named_parameters(), *module.named_buffers()], group)
            equalize([*module.parameters(), *module.buffers()], group)
        self._bucket_bytes, self._micro_batches = int(bytes_), micro_batches
        self._make_reducer(named)
        if mixed_precision is not None:
            self._reduce_in(mixed_precision)

    def _make_reducer(self, named: list[Any]) -> None:
        names = [name for name, _ in named]
        parameters = [parameter for _, parameter in named]
        unused, micro_batches = self.find_unused_parameters, self._micro_batches
        reducer: Any
        if micro_batches is not None:
            from autograd_cy.distributed._ddp.deterministic import TreeReducer

            reducer = TreeReducer(names, parameters, self.process_group, micro_batches, unused)
        else:
            from autograd_cy.distributed._ddp.reducer import Reducer

            reducer = Reducer(
                names,
                parameters,
                self.process_group,
                self._bucket_bytes,
                unused,
                self.static_graph,
                self.gradient_as_bucket_view,
            )
        object.__setattr__(self, "reducer", reducer)
        self._kinds = [(parameter.dtype, parameter.device) for parameter in parameters]

    def _reduce_in(self, mixed_precision: Any) -> None:
        """Reduce gradients in another dtype, by the hook for it."""
        from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks

        hooks: dict[Any, Any] = {
            ag.float16: default_hooks.fp16_compress_hook,
            ag.bfloat16: default_hooks.bf16_compress_hook,
        }
        others = [
            name
            for name in ("param_dtype", "buffer_dtype")
            if getattr(mixed_precision, name, None) is not None
        ]
        hook = hooks.get(getattr(mixed_precision, "reduce_dtype", None))
        if others or hook is None:
            raise ValueError(
                "DistributedDataParallel: mixed_precision takes reduce_dtype float16 or bfloat16 "
                "alone; compute in another dtype by autocast"
            )
        self.register_comm_hook(self.process_group, hook)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy or a pickle, which has buckets and hooks of its own."""
        state = dict(super().__getstate__())
        state["comm_hook"] = state.pop("reducer").comm_hook
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        comm_hook = state.pop("comm_hook")
        super().__setstate__(state)
        self.require_backward_grad_sync = True
        self._make_reducer([(n, p) for n, p in self.module.named_parameters() if p.requires_grad])
        self.reducer.comm_hook = comm_hook

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        records = ag.is_grad_enabled()
        if self._kinds != [(p.dtype, p.device) for p in self.reducer.parameters]:
            self._refuse_conversion()
        if self.require_backward_grad_sync:
            if self._join is not None:
                Join.notify_join_context(self)
            self.reducer.divisor = self._divisor()
            self._forwards += 1
            if self._forwards & (self._forwards - 1) == 0:
                self._check_parameters()
            if self.broadcast_buffers and self.process_group.size() > 1:
                self._equalize_buffers()
        result = self.module(*inputs, **kwargs)
        if records:
            self.reducer.prepare()
        return result

    def _refuse_conversion(self) -> NoReturn:
        """Refuse parameters of another dtype or device than those that the buckets are for."""
        now = [(p.dtype, p.device) for p in self.reducer.parameters]
        place = next(i for i, kind in enumerate(self._kinds) if now[i] != kind)
        (dtype, device), (before, device_before) = now[place], self._kinds[place]
        raise RuntimeError(
            f"DistributedDataParallel: {self.reducer.names[place]} is {dtype} on {device}, and was "
            f"{before} on {device_before} when the module was wrapped; convert a module by .to(), "
            ".double() and so on first, then wrap it"
        )

    def _check_parameters(self) -> None:
        """Refuse parameters that were added after construction, now and then."""
        known = {id(parameter) for parameter in self.reducer.parameters}
        named = self.module.named_parameters()
        new = [name for name, p in named if p.requires_grad and id(p) not in known]
        if new:
            more = f" and {len(new) - 10} more" if len(new) > 10 else ""
            raise RuntimeError(
                f"DistributedDataParallel: {', '.join(new[:10])}{more} record now, and didn't when "
                "the module was wrapped; change a module first, then wrap it"
            )

    def _equalize_buffers(self) -> None:
        from autograd_cy.distributed._ddp.state import equalize

        buffers = list(self.module.buffers())
        if buffers:
            active = [0] if self._join is None else self._join.active
            equalize(buffers, self.process_group, active[0])

    # --- uneven inputs --------------------------------------------------------------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """
        Return a context in which ranks may have different numbers of batches.

        Parameters
        ----------
        divide_by_initial_world_size : bool, default True
            Divide gradients by the number of ranks; False: by the number of those that have a
            batch.
        enable : bool, default True
            False: do nothing.
        throw_on_early_termination : bool, default False
            Raise on all ranks as soon as one has no more batches.

        Returns
        -------
        Join

        Examples
        --------
        >>> import autograd_cy as ag
        >>> ag.distributed.init_process_group()
        >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
        >>> with model.join():
        ...     model(ag.ones(1, 2)).sum().backward()
        >>> ag.distributed.destroy_process_group()
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """
        Return what a rank without inputs does: see :meth:`join`.

        Parameters
        ----------
        **kwargs
            ``divide_by_initial_world_size``.

        Returns
        -------
        JoinHook
        """
        self._divide_by_all = kwargs.get("divide_by_initial_world_size", True)
        return _Shadow(self)

    @property
    def join_process_group(self) -> Any:
        """Return the group whose ranks are joined."""
        return self.process_group

    def _divisor(self) -> int:
        if self._join is None or self._divide_by_all:
            return self.process_group.size()
        return len(self._join.active)

    def _shadow(self, root: int) -> None:
        """Answer the collectives of one forward and backward of the other ranks."""
        from autograd_cy.distributed._ddp.state import equalize

        buffers = list(self.module.buffers())
        if self.broadcast_buffers and buffers:
            equalize(buffers, self.process_group, root)
        self.reducer.divisor = self._divisor()
        self.reducer.shadow()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """
        Accumulate gradients on each rank alone within the block.

        The forward pass must be in the block, too: it decides whether its backward reduces. The
        first backward of a forward pass outside reduces all that has accumulated.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> ag.distributed.init_process_group()
        >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
        >>> with model.no_sync():
        ...     model(ag.ones(3, 2)).mean().backward()
        >>> model(ag.ones(3, 2)).mean().backward()
        >>> model.module.weight.grad
        tensor([[2., 2.]])
        >>> ag.distributed.destroy_process_group()
        """
        before = self.require_backward_grad_sync
        self._set_sync(False)
        try:
            yield
        finally:
            self._set_sync(before)

    def _set_sync(self, value: bool) -> None:
        self.require_backward_grad_sync = value
        self.reducer.inside_no_sync = not value

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """
        Reduce gradients by a function of one's own.

        Parameters
        ----------
        state : object
            The first argument of the hook.
        hook : callable
            ``hook(state, bucket)`` starts the reduction of a
            :class:`~autograd_cy.distributed.GradBucket` and returns a future of the vector that
            takes its place. It divides, too.

        Raises
        ------
        TypeError
            If the hook can't be called.
        RuntimeError
            If there is a hook already.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> ag.distributed.init_process_group()
        >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
        >>> model.register_comm_hook(None, default_hooks.bf16_compress_hook)
        >>> ag.distributed.destroy_process_group()
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if not hasattr(self.reducer, "buckets"):
            raise RuntimeError(
                "register_comm_hook: with micro_batches, gradients are summed by a tree and not in "
                "buckets; leave one of the two out"
            )
        if self.reducer.comm_hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.comm_hook = (state, hook)


class _Shadow(JoinHook):
    """The work of a rank without inputs for a module."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self.model = model

    def main_hook(self) -> None:
        join = self.model._join
        if join is not None:
            self.model._shadow(join.active[0])

    def post_hook(self, is_last_joiner: bool) -> None:
        from autograd_cy.distributed._ddp.state import equalize

        model = self.model
        # All have the same parameters; buffers are those of a rank that was active to the end.
        last = ag.zeros(model.process_group.size(), dtype=ag.int32)
        last[model.process_group.rank()] = int(is_last_joiner)
        ag.distributed.all_reduce(last, group=model.process_group)
        root = last.tolist().index(1)
        equalize([*model.module.parameters(), *model.module.buffers()], model.process_group, root)
