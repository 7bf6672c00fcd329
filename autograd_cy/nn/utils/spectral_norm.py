"""Weights of spectral norm one by a hook: the older form of `parametrizations.spectral_norm`."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, no_grad, vdot

from ..module import Module
from ..parameter import Parameter
from .parametrizations import put_unit, unit

__all__ = ["remove_spectral_norm", "spectral_norm"]

#: Of what is saved; PyTorch takes a file without it for one of before it kept ``<name>_v``.
VERSION = 1


class SpectralNorm:
    """The hook: divides ``<name>_orig`` by its spectral norm before each forward.

    Parameters
    ----------
    name : str
    n_power_iterations : int
    dim : int
    eps : float
    """

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float):
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix, with `dim` first.

        Parameters
        ----------
        weight : Tensor

        Returns
        -------
        Tensor
        """
        others = [d for d in range(weight.dim()) if d != self.dim % weight.dim()]
        return weight.permute(self.dim, *others).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Return the weight.

        Parameters
        ----------
        module : Module
            What owns it.
        do_power_iteration : bool
            Whether the singular vectors are followed before.

        Returns
        -------
        Tensor
        """
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    put_unit(v, matrix.mH.mv(u), self.eps)
                    put_unit(u, matrix.mv(v), self.eps)
        # Copies: several forwards before a backward would change what was saved.
        return weight / vdot(u.clone(), matrix.mv(v.clone()))

    def note_version(self, module: Any, state: Any, prefix: str, metadata: Any) -> None:
        """Write the version of what is saved into the metadata of ``state_dict``.

        Parameters
        ----------
        module : Module
        state : dict
        prefix : str
        metadata : dict
        """
        metadata.setdefault("spectral_norm", {})[f"{self.name}.version"] = VERSION

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value; see `parametrizations.spectral_norm`.

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.
    n_power_iterations : int, default 1
        Steps of the power method in each forward that trains.
    eps : float, default 1e-12
        Norms aren't taken smaller than this.
    dim : int, optional
        The dimension of outputs: 1 for transposed convolutions, else 0.

    Returns
    -------
    Module
        The module, with ``<name>_orig``, ``<name>_u`` and ``<name>_v``.

    Raises
    ------
    RuntimeError
        If it was used on the weight before.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if _hook_of(module, name)[1] is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    rows, columns = hook.matrix(weight.detach()).shape
    u = unit(weight.detach().new_empty(rows).normal_(0, 1), eps)
    v = unit(weight.detach().new_empty(columns).normal_(0, 1), eps)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    module._register_state_dict_hook(hook.note_version)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight a plain parameter again, of the value that it has.

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    ValueError
        If `spectral_norm` wasn't used on it.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    >>> list(torch.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    number, hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    delattr(module, name)
    for part in ("_u", "_v", "_orig"):
        delattr(module, name + part)
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[number]  # type: ignore[attr-defined]
    saved = module._state_dict_hooks
    for key in [k for k, f in saved.items() if f == hook.note_version]:
        del saved[key]  # type: ignore[attr-defined]
    return module


def _hook_of(module: Any, name: str) -> tuple[int, SpectralNorm | None]:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number, hook
    return -1, None
