"""Methods of pruning: hooks that multiply a parameter by a mask, and how each chooses the mask.

What users call is in ``prune.py``.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from autograd_cy import Tensor, ones_like, randperm, topk, zeros_like
from autograd_cy import norm as _norm

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
]


class BasePruningMethod(ABC):
    """The base of methods: a hook that multiplies a parameter by its mask.

    A subclass defines ``compute_mask(t, default_mask)`` and `PRUNING_TYPE`.

    Attributes
    ----------
    PRUNING_TYPE : {'unstructured', 'structured', 'global'}
        What several methods for one parameter choose from: the elements or the slices that the
        ones before have left, or all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> class Halves(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = torch.nn.Linear(2, 1, bias=False)
    >>> Halves.apply(layer, "weight").PRUNING_TYPE
    'unstructured'
    >>> layer.weight_mask
    tensor([[0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of a tensor: ones where it is kept.

        Parameters
        ----------
        t : Tensor
            The importance of each element, by default the parameter.
        default_mask : Tensor
            The mask that there is already, of the same shape.

        Returns
        -------
        Tensor
        """

    def apply_mask(self, module: Any) -> Tensor:
        """Return the parameter of a module times its mask.

        Parameters
        ----------
        module : Module

        Returns
        -------
        Tensor
        """
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, orig = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(
        cls,
        module: Any,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune a parameter of a module, on top of what has been pruned already.

        Parameters
        ----------
        module : Module
        name : str
            The name of the parameter.
        *args, **kwargs
            What the class takes.
        importance_scores : Tensor, optional
            The importance of each element, in place of the parameter.

        Returns
        -------
        BasePruningMethod
            The hook.
        """
        method, container = cls(*args, **kwargs), None
        method._tensor_name = name
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
                container, place = hook, key
        if container is not None:
            del module._forward_pre_hooks[place]
            if not isinstance(container, PruningContainer):
                container = PruningContainer(container)
            container.add_pruning_method(method)
            method = container
        orig = getattr(module, name)
        _check_scores(importance_scores, orig)
        first = container is None
        if first:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", orig)
            default = ones_like(orig).detach()
        else:
            default = getattr(module, f"{name}_mask").detach().clone()
        scores = orig if importance_scores is None else importance_scores
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, default))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:  # as it was before
                module._parameters.pop(f"{name}_orig")
                module._buffers.pop(f"{name}_mask", None)
                module.__dict__.pop(name, None)
                module.register_parameter(name, orig)
            raise
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """Return a pruned tensor.

        Parameters
        ----------
        t : Tensor
        default_mask : Tensor, optional
            A mask of what has been pruned before.
        importance_scores : Tensor, optional
            The importance of each element, in place of `t`.

        Returns
        -------
        Tensor

        Examples
        --------
        >>> import autograd_cy as torch
        >>> from autograd_cy.nn.utils import prune
        >>> prune.L1Unstructured(amount=1).prune(torch.tensor([3.0, -1.0]))
        tensor([3., -0.])
        """
        _check_scores(importance_scores, t)
        scores = t if importance_scores is None else importance_scores
        default = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Any) -> None:
        """Make the pruning permanent: the parameter has zeros, and no mask.

        Parameters
        ----------
        module : Module
        """
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters[f"{name}_orig"]
        orig.data = weight.data
        del module._parameters[f"{name}_orig"]
        del module._buffers[f"{name}_mask"]
        setattr(module, name, orig)


def _check_scores(scores: Any, t: Tensor) -> None:
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(
            "importance_scores should have the same shape as parameter, but they have "
            f"{list(scores.shape)} and {list(t.shape)}"
        )


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter, one after the other.

    Parameters
    ----------
    *args : BasePruningMethod
        The methods; or one iterable of them.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> layer = torch.nn.Linear(4, 4)
    >>> _ = prune.l1_unstructured(prune.random_unstructured(layer, "weight", 0.25), "weight", 3)
    >>> (hook,) = layer._forward_pre_hooks.values()
    >>> len(hook), int(layer.weight_mask.sum())
    (2, 9)
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        elif not args:
            self._tensor_name = None  # type: ignore[assignment]
        else:
            methods = [*args[0]] if isinstance(args[0], (list, tuple)) else [*args]
            self._tensor_name = methods[0]._tensor_name if methods else None  # type: ignore[assignment]
            for method in methods:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method.

        Parameters
        ----------
        method : BasePruningMethod
            For the same parameter.
        """
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the last method, on what the ones before have left.

        Parameters
        ----------
        t : Tensor
            The importance of each element.
        default_mask : Tensor
            The mask that there is already.

        Returns
        -------
        Tensor
        """
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            chosen: Any = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    "Pruning methods of PRUNING_TYPE 'structured' need to have the attribute `dim` "
                    "defined."
                )
            dim = method.dim % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            left = default_mask.sum(others) != 0
            chosen = [slice(None)] * t.dim()
            chosen[dim] = left
            chosen = tuple(chosen)
        elif method.PRUNING_TYPE == "global":
            chosen = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.clone()
        part = method.compute_mask(t[chosen], default_mask=mask[chosen])
        mask[chosen] = part.to(dtype=mask.dtype)
        return mask


# --- how much -------------------------------------------------------------------------------------


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount: Any, size: int) -> int:
    """Return how many of `size` are pruned."""
    if isinstance(amount, numbers.Integral):
        if int(amount) > size:
            raise ValueError(
                f"amount={amount} should be smaller than the number of parameters to prune={size}"
            )
        return int(amount)
    return round(amount * size)


def _check_slices(t: Tensor, dim: int) -> None:
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {tuple(t.shape)} with {t.dim()} dims"
        )
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of shape {tuple(t.shape)}")


def _without_slices(t: Tensor, default_mask: Tensor, dim: int, places_left: Tensor) -> Tensor:
    """The mask without all slices along a dimension but some."""
    mask = zeros_like(t).detach()
    places: list[Any] = [slice(None)] * t.dim()
    places[dim] = places_left
    mask[tuple(places)] = 1
    return mask * default_mask.to(dtype=mask.dtype)


# --- methods --------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prune nothing: the names of a pruned parameter, and a mask of ones.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.Identity().prune(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask that there is."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        """Prune nothing of a parameter; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prune elements by chance.

    Parameters
    ----------
    amount : int or float
        How many, or which part of all.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> int((prune.RandomUnstructured(amount=2).prune(torch.ones(5)) == 0).sum())
    2
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return a mask with zeros at places drawn by chance."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[randperm(t.numel(), device=t.device)[:count]] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prune elements of a parameter by chance; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prune the elements that are nearest to 0.

    Parameters
    ----------
    amount : int or float
        How many, or which part of all.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.L1Unstructured(amount=0.5).prune(torch.tensor([3.0, 1.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return a mask with zeros at the least absolute values."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[topk(t.detach().abs().view(-1), count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune the least elements of a parameter; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prune whole slices by chance.

    Parameters
    ----------
    amount : int or float
        How many, or which part of all.
    dim : int, optional
        The dimension along which they lie.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> int((prune.RandomStructured(amount=1, dim=0).prune(torch.ones(3, 2)) == 0).sum())
    2
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return a mask with zeros in slices drawn by chance."""
        _check_slices(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        return _without_slices(t, default_mask, self.dim, randperm(size, device=t.device)[count:])

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune slices of a parameter by chance; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prune the slices with the least norm.

    Parameters
    ----------
    amount : int or float
        How many, or which part of all.
    n : float or str
        The order of the norm, as `norm` takes it.
    dim : int, optional
        The dimension along which they lie.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.LnStructured(amount=1, n=2, dim=0).prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [3., 4.]])
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return a mask with zeros in the slices with the least norm."""
        _check_slices(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        dim = self.dim % t.dim()
        others = [d for d in range(t.dim()) if d != dim]
        norms = _norm(t.detach(), p=self.n, dim=others)
        left = topk(norms, size - count, largest=True).indices
        return _without_slices(t, default_mask, dim, left)

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Any,
        name: str,
        amount: Any,
        n: Any,
        dim: int,
        importance_scores: Tensor | None = None,
    ) -> Any:
        """Prune slices of a parameter by their norms; see :meth:`BasePruningMethod.apply`."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prune by a given mask.

    Parameters
    ----------
    mask : Tensor
        Ones where elements are kept.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.CustomFromMask(torch.tensor([0, 1])).prune(torch.tensor([1.0, 2.0]))
    tensor([0., 2.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return both masks as one."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask has the shape {list(self.mask.shape)}, but the parameter has "
                f"{list(default_mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        """Prune a parameter by a mask; see :meth:`BasePruningMethod.apply`."""
        return super().apply(module, name, mask=mask)
