"""Steps of optimizers over lists of parameters, and what training does to lists of gradients.

A step changes parameters and their state in place. What changes from step to step it reads from
memory at run time: `lr`, a number or a tensor of one, `grad_scale`, by which gradients are divided
where they are, `found_inf`, with which nothing changes if it isn't 0, and the `numbers` of states.
Other than in torch these are the step's to move on, `state_steps` as well. The loops are
``<name>_step`` in ext/kernels/optimizer_loops.pyx.
"""

from autograd_cy.ops._schema import call, composite, nondiff, only_if, op, refuse, step_loop

LOADED = "at first use"

SHARED = "grad_scale: Tensor? = None, found_inf: Tensor? = None"
CHANGED = nondiff("it changes its arguments in place, which is not recorded", refuse_tangents=True)


def step(signature, loop, doc, event=None):
    """Add a step; `signature` leaves out the arguments that all steps have.

    It is written as ``"_fused_x_(state: Tensor[], *, lr: operand, ...)"``.
    """
    name, _, inside = signature.removesuffix(")").partition("(")
    function = name.strip("_")
    arrays = "".join(
        f"{name} if {test} else None, " if test else f"{name}, " for name, test in loop.states
    ).rstrip(" ")
    left_out = {entry for entry in loop.numbers if f"{entry}: Tensor[] = ()" in inside}
    numbers = "".join(
        f"{entry} if len({entry}) else None, " if entry in left_out else f"{entry}, "
        for entry in loop.numbers
    ).rstrip(" ")
    return op(
        f"{name}(self: Tensor[], grads: Tensor[], {inside}, {SHARED}) -> ()",
        kernel=call(
            f"optimize.{function}",
            lazy=True,
            loop=loop,
            shape=(
                f"rules_optimizers.step(self, grads, ({arrays}), ({numbers}), lr, grad_scale, "
                "found_inf)"
            ),
        ),
        mutates=("self", only_if("grads", "grad_scale is not None"), *loop.arrays, *loop.numbers),
        vjp=CHANGED,
        method=False,
        event=event or f"autograd_cy::{name}",
        doc=doc,
        vmap=refuse(
            f"vmap: {name} is a step for whole parameters, not for examples of them; step outside "
            "of the vmap, or write the step in tensor operations"
        ),
    )


step(
    "_fused_sgd_(momentum_buffer_list: Tensor[], *, weight_decay: float, momentum: float, "
    "lr: operand, dampening: float, nesterov: bool, maximize: bool, is_first_step: bool, "
    "begun: Tensor[] = ())",
    loop=step_loop(
        "sgd",
        arrays=(only_if("momentum_buffer_list", "momentum != 0"),),
        numbers=("begun",),
        derived=("first",),
        cost=1.5,
    ),
    event="_fused_sgd_",
    doc=(
        "A step of stochastic gradient descent. A first step makes momentum of the gradient "
        "alone: with `is_first_step`, for all parameters or those whose number in `begun` is 0, "
        "which becomes 1."
    ),
)

for _decoupled in (False, True):
    _name = f"_fused_adam{'w' * _decoupled}_"
    step(
        f"{_name}(exp_avgs: Tensor[], exp_avg_sqs: Tensor[], max_exp_avg_sqs: Tensor[], "
        "state_steps: Tensor[], *, lr: operand, beta1: float, beta2: float, weight_decay: float, "
        "eps: float, amsgrad: bool, maximize: bool)",
        loop=step_loop(
            "adam",
            arrays=("exp_avgs", "exp_avg_sqs", only_if("max_exp_avg_sqs", "amsgrad")),
            numbers=("state_steps",),
            derived=("decay", "keep", "rate", "spread"),
            fixed={"decoupled": str(_decoupled)},
        ),
        event=_name,
        doc="A step of Adam, with weights that decay apart." if _decoupled else "A step of Adam.",
    )

step(
    "_fused_adagrad_(state_sums: Tensor[], state_steps: Tensor[], *, lr: operand, "
    "lr_decay: float, weight_decay: float, eps: float, maximize: bool)",
    loop=step_loop(
        "adagrad", arrays=("state_sums",), numbers=("state_steps",), derived=("rate",), cost=3.0
    ),
    event="_fused_adagrad_",
    doc="A step of Adagrad.",
)

step(
    "_fused_adadelta_(square_avgs: Tensor[], acc_deltas: Tensor[], state_steps: Tensor[], *, "
    "lr: operand, rho: float, eps: float, weight_decay: float, maximize: bool)",
    loop=step_loop(
        "adadelta", arrays=("square_avgs", "acc_deltas"), numbers=("state_steps",), cost=5.0
    ),
    doc="A step of Adadelta.",
)

step(
    "_fused_adamax_(exp_avgs: Tensor[], exp_infs: Tensor[], state_steps: Tensor[], *, "
    "lr: operand, beta1: float, beta2: float, eps: float, weight_decay: float, maximize: bool)",
    loop=step_loop(
        "adamax",
        arrays=("exp_avgs", "exp_infs"),
        numbers=("state_steps",),
        derived=("rate",),
        cost=3.0,
    ),
    doc="A step of Adamax.",
)

step(
    "_fused_rmsprop_(square_avgs: Tensor[], grad_avgs: Tensor[], momentum_buffer_list: Tensor[], "
    "state_steps: Tensor[], *, lr: operand, alpha: float, eps: float, weight_decay: float, "
    "momentum: float, centered: bool, maximize: bool)",
    loop=step_loop(
        "rmsprop",
        arrays=(
            "square_avgs",
            only_if("grad_avgs", "centered"),
            only_if("momentum_buffer_list", "momentum > 0"),
        ),
        numbers=("state_steps",),
    ),
    doc="A step of RMSprop.",
)

step(
    "_fused_rprop_(prevs: Tensor[], step_sizes: Tensor[], state_steps: Tensor[], *, lr: operand, "
    "step_size_min: float, step_size_max: float, etaminus: float, etaplus: float, maximize: bool)",
    loop=step_loop("rprop", arrays=("prevs", "step_sizes"), numbers=("state_steps",), cost=3.0),
    doc="A step of Rprop, whose first sizes are the caller's: `lr` is not used.",
)

step(
    "_fused_asgd_(axs: Tensor[], mus: Tensor[], etas: Tensor[], state_steps: Tensor[], *, "
    "lr: operand, lambd: float, t0: float, alpha: float, weight_decay: float, maximize: bool)",
    loop=step_loop(
        "asgd",
        arrays=("axs",),
        numbers=("mus", "etas", "state_steps"),
        derived=("eta", "keep", "mu"),
        cost=2.0,
    ),
    doc=(
        "A step of averaged stochastic gradient descent; `mus` and `etas` get the numbers of the "
        "next one."
    ),
)

step(
    "_fused_nadam_(exp_avgs: Tensor[], exp_avg_sqs: Tensor[], mu_products: Tensor[], "
    "state_steps: Tensor[], *, lr: operand, beta1: float, beta2: float, weight_decay: float, "
    "momentum_decay: float, eps: float, decoupled_weight_decay: bool, maximize: bool)",
    loop=step_loop(
        "nadam",
        arrays=("exp_avgs", "exp_avg_sqs"),
        numbers=("mu_products", "state_steps"),
        derived=("decay", "keep", "grad_rate", "mean_rate", "spread"),
    ),
    doc="A step of NAdam.",
)

step(
    "_fused_radam_(exp_avgs: Tensor[], exp_avg_sqs: Tensor[], state_steps: Tensor[], *, "
    "lr: operand, beta1: float, beta2: float, weight_decay: float, eps: float, "
    "decoupled_weight_decay: bool, maximize: bool)",
    loop=step_loop(
        "radam",
        arrays=("exp_avgs", "exp_avg_sqs"),
        numbers=("state_steps",),
        derived=("decay", "keep", "rate", "rectified"),
    ),
    doc="A step of RAdam.",
)

# --- scaled losses ---

op(
    "_amp_foreach_non_finite_check_and_unscale_(self: Tensor[], found_inf, inv_scale) -> ()",
    kernel=call(
        "gradient_lists.unscale",
        shape="rules_optimizers.unscaled(self, found_inf, inv_scale)",
        lazy=True,
    ),
    mutates=("self", "found_inf"),
    vjp=CHANGED,
    vmap=refuse("vmap: gradients of examples are not unscaled; do it outside of the vmap"),
    method=False,
    event="_amp_foreach_non_finite_check_and_unscale_",
    doc="Gradients times `inv_scale`; `found_inf` becomes 1 if one of them isn't finite.",
)
op(
    "_amp_update_scale_(self, growth_tracker, found_inf, scale_growth_factor: float, "
    "scale_backoff_factor: float, growth_interval: int) -> ()",
    kernel=call(
        "gradient_lists.update_scale",
        shape="rules_optimizers.scale_updated(self, growth_tracker, found_inf)",
        lazy=True,
    ),
    mutates=("self", "growth_tracker"),
    vjp=CHANGED,
    vmap=refuse("vmap: the scale of losses is one for all examples; update it outside"),
    method=False,
    event="_amp_update_scale_",
    doc=(
        "The scale after a step: less after an overflow, more after `growth_interval` steps "
        "without."
    ),
)

# --- lists of gradients ---

op(
    "_foreach_norm(self: Tensor[], ord: order = 2, dtype: dtype? = None) -> Tensor[]",
    kernel=composite("optimizers.norms"),
    method=False,
    event="_foreach_norm",
    doc="The norm of each tensor of a list.",
)
op(
    "_foreach_mul_(self: Tensor[], other: operand) -> Tensor[]",
    kernel=composite("optimizers.multiplied"),
    method=False,
    event="_foreach_mul_",
    doc="Each tensor of a list times a number, or times a tensor of one, in place.",
)
op(
    "_foreach_total_norm(self: Tensor[]) -> result",
    kernel=call("gradient_lists.total_norm", shape="rules_optimizers.total_norm(self)"),
    vjp=nondiff("it is a norm of gradients, which is not recorded"),
    vmap=refuse("vmap: the norm of a list is one for all examples; take it outside"),
    method=False,
    event="_foreach_norm",
    doc="The norm of order 2 of all elements of a list, whose tensors have one dtype.",
)
op(
    "_foreach_clip_(self: Tensor[], total_norm, max_norm: float) -> ()",
    kernel=call(
        "gradient_lists.clip",
        shape="rules_optimizers.clipped(self, total_norm)",
        lazy=True,
    ),
    mutates=("self",),
    vjp=CHANGED,
    vmap=refuse("vmap: gradients of examples are not clipped together; do it outside of the vmap"),
    method=False,
    event="_foreach_mul_",
    doc="Each tensor of a list times ``max_norm / (total_norm + 1e-6)``, if that is less than 1.",
)
