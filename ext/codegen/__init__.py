"""The code generator: from the operator table to typed nodes, dispatch, methods and stubs.

generate.py writes everything. modules.py puts a family's module together: module_head.py its
imports, operators.py the operators of its records, python_forms.py the Python functions around
them. Parts of an operator are in node_text.py (the node), forward_rules.py, vmap_rules.py,
operator_forms.py (the operator, its in-place and ``out=`` forms, made of the parts in
form_parts.py) and kernel_runs.py (shape rule, memory, kernel); formula.py writes formulas.
linkage.py says which operators a module calls, kernel_loops.py writes the loops of kernel_specs.py,
interpreted.py the Python of interpreted records, stubs.py and reference.py what people read.
cuda_host.py lets the host compute what CUDA devices have no kernel for; the other modules named
cuda_ write kernels (cuda_sources.py).
"""
