"""The head of a generated module: what it imports, as far as its text uses it."""

from __future__ import annotations

import re

from ext.codegen.formula import BUILTINS
from ext.codegen.vocabulary import CONVERTERS

HEAD = """# cython: language_level=3, auto_pickle=False
# Generated from autograd_cy/ops/{family}.py by ext/codegen; do not edit.
\"\"\"Operators of the family "{family}".\"\"\"
cimport cython
from builtins import bool as _bool
from autograd_cy._C.dtypes import dtype as _dtype
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_differentiable, dt_is_complex, dt_real, dt_to_complex, g_default_dtype, DT_BOOL, DT_I64
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.linking cimport publish as _publish
from autograd_cy._C.linking import _interpreted as interpreted, named_results as _named_results
from autograd_cy._C.tensor cimport (
    Tensor, ForwardLevel, vmap_level, upcalls, install, requires_grad, tls_modes, g_modes, bump_version, dims_of, wrap_number,
    wrap_int, wrap_double, normal_dim, F_STRIDED, F_BATCHED, F_DEVICE, F_LAYERED, F_DUAL, F_GRAD_PATH, F_INFERENCE, F_VIEW, M_NO_GRAD, G_PROFILE,
    G_FORWARD,
    CREATED_DEFAULT, CREATED_MULTI_OUTPUT,
    B_ADD, B_SUB, B_MUL, B_DIV, B_FLOORDIV, B_MOD, B_POW, B_MATMUL, B_AND, B_OR, B_XOR, B_LSHIFT,
    B_RSHIFT, B_LT, B_LE, B_GT, B_GE, B_EQ, B_NE, B_IADD, B_ISUB, B_IMUL, B_IDIV, B_IFLOORDIV, B_IMOD,
    B_IPOW, B_IAND, B_IOR, B_IXOR, B_ILSHIFT, B_IRSHIFT, U_NEG, U_POS, U_INVERT, U_ABS)
from autograd_cy._C.node cimport (
    Node, NodeKind, N_NUMBER_FIRST, make_kinds, needs, edge_defined, new_node, set_edge, set_history, save_input, save_old_value, save_output, unpack,
    n_tensors, save_indices, saved_indices, set_args, get_args, set_view, check_inplace, zeros_for)
from autograd_cy._C.iterate cimport (
    ew1, ew2, ew3, ewn, all_separated, copy_into, separated, clone_plain, indices_on_device, resolved, all_resolved, P_SAME, P_BOOL, P_FLOAT, P_REAL, P_COMPLEX,
    P_SKIP_FIRST)
from libc.string cimport memset
from autograd_cy._C.storage cimport MAX_DEVICE_TYPES, ON_CPU, ON_META, device_type
from autograd_cy._C.devices cimport (
    add_slots, check_place, device_among, lays_channels_last, no_kernel, refuse_device)
from autograd_cy._C.outputs cimport (
    OUT_CAST, OUT_EXACT, OUT_JOINED, OUT_TRUTH, OVER_DENSE, OVER_NONE, OVER_PLACES, Result, check_outs, fresh, fresh_dense,
    inplace_target, NEEDS_SIZES, out_target, settle, sized_by_values)
from autograd_cy._C.random cimport drawing_state
from autograd_cy._C.node_io cimport (
    conjugate, give, give_all, any_needed, materialise, edge_shape, edge_ndim, edge_dtype, edge_numel, flags_of,
    any_requires_grad, overwritten)
from autograd_cy._C.unchanged_gradients cimport keep_graph
from autograd_cy._C.formats cimport channels_last, lay_channels_last, turned_channels_last
from autograd_cy._C.out_forms cimport (
    check_out, write_out, write_exact_out, write_truth_out, other_out, bad_inplace, need_exact_out, outs_arg, write_outs, in_wider_dtype)
from autograd_cy._C.events cimport finished, note_node
from autograd_cy._C.recorder cimport (
    D_ARGUMENTS, S_OPERATOR, Event, Scope, begin_event, details, events, put_bool, put_dtype, put_end, put_float, put_int,
    put_object, put_tensor)
from autograd_cy._C.recorder import _set_flops, _elements as elements
from autograd_cy._C.metadata cimport known_dims, size_at, widest_nd, {builtins}
from autograd_cy._C.levels cimport (
    top_level, is_batched, any_batched, lowered, all_lowered, place_alias, primal_at, tangent_at)
from autograd_cy._C.forward cimport (
    forward_level, tangents_at, primals_at, place_aliases, zero_tangent, set_tangent,
    set_tangents, refuse_tangent)
from autograd_cy._C.inplace cimport (
    end_inplace, replace_value, put_value, constant_history, unknown_history, refuse_complex)
from autograd_cy._C.changes cimport after_change, before_change
from autograd_cy._C.batching cimport (
    widest, common_dtype, align_batch, batch_front, all_front,
    batch_expand, batch_size_of, wrap_batch, wrap_results, wrap_shared, wrap_shared_all,
    shift_dims, loop_batch, loop_lowered, batch_aligned, end_dims, end_dims_all, refuse_batch,
    random_under_vmap)
from autograd_cy._C.batching_rules cimport flags_of_indices, resolved_indices
from autograd_cy._C.batching import _register_operator
from autograd_cy._C.overrides cimport answer, overriding
from autograd_cy._C.forms cimport (
    NONE, CallArguments, Value, as_method, has_named, make_forms, named_count, only_method,
    positional)
from autograd_cy._C.arguments cimport (
    {converters}, check_dtype, check_promoted_dtype, alpha_arg, foreign_operand)
from autograd_cy._C.rules_common cimport {checks}
{imports}

cdef extern from *:
    \"\"\"
    /* Macros of math.h that would replace members of T. */
    #undef isnan
    #undef isinf
    #undef isfinite
    #undef signbit
    \"\"\"

cdef object ONE = 1
"""


# What is no part of a name, as spaces; three times as quick as to look for r"\w+".
_NO_WORDS = {i: " " for i in range(128) if not (chr(i).isalnum() or chr(i) == "_")}
_CIMPORT = re.compile(r"^from (\S+) (c?import) (\([^)]*\)|.*)$", re.M)


def head_of(family: str, checks: set[str], imports: dict[str, set[str]], text: str) -> str:
    """
    The head of a family's module, for what records name: checks of their arguments, and functions
    by module.
    """
    named = [
        f"from autograd_cy._C.{module} cimport {name} as {module}_{name}"
        for module, names in sorted(imports.items())
        for name in sorted(names)
    ]
    head = HEAD.format(
        family=family,
        builtins=", ".join(name for name in BUILTINS if name != "normal_dim"),
        converters=", ".join(CONVERTERS),
        checks=", ".join(sorted(f"check_{name}" for name in checks)),
        imports="\n".join(named),
    )
    return used_imports(head, text)


def used_imports(head: str, text: str) -> str:
    """The head with those of its imports that the text after it uses."""
    used_in = (_CIMPORT.sub("", head) + text).translate(_NO_WORDS)
    words = {*used_in.split(), "_publish", "kernel_number"}

    def only_used(m: re.Match[str]) -> str:
        names = [name.strip() for name in m[3].strip("()").split(",") if name.strip()]
        used = [name for name in names if name.split(" as ")[-1] in words]
        return f"from {m[1]} {m[2]} {', '.join(used)}" if used else ""

    return re.sub(r"\n{3,}", "\n\n", _CIMPORT.sub(only_used, head))
