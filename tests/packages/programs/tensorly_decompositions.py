"""tensorly: CP, Tucker and tensor-train decompositions, and a regression of low rank."""

import tensorly as tl
import torch
from tensorly.decomposition import non_negative_parafac, parafac, tensor_train, tucker
from tensorly.regression import CPRegressor

from tests.packages.programs._data import normal

TOLERANCE = 1e-6


def results():
    tl.set_backend("pytorch")
    factors = [normal(size, 2, seed=seed) for seed, size in enumerate((7, 6, 5))]
    tensor = tl.cp_to_tensor((None, factors)) + 0.05 * normal(7, 6, 5, seed=5)

    cp, errors = parafac(tensor, rank=2, init="svd", n_iter_max=30, return_errors=True)
    positive = non_negative_parafac(tensor.abs(), rank=3, init="svd", n_iter_max=30)
    core, _ = found = tucker(tensor, rank=[2, 2, 2], n_iter_max=20)
    train = tensor_train(tensor, rank=[1, 3, 3, 1])

    weights = [parameter.clone().requires_grad_() for parameter in factors]
    loss = (tl.cp_to_tensor((torch.ones(2, dtype=torch.float64), weights)) - tensor).square().sum()
    loss.backward()

    samples = normal(60, 5, 4, seed=6)
    truth = factors[2] @ normal(2, 4, seed=7)
    regressor = CPRegressor(
        weight_rank=2, tol=1e-9, n_iter_max=20, reg_W=0.1, verbose=0, random_state=0
    )
    regressor.fit(samples, tl.tensor((samples * truth).sum((1, 2))))
    predictions = regressor.predict(samples)
    return {
        "errors of CP": [float(error) for error in errors],
        "non-negative": float(tl.norm(tl.cp_to_tensor(positive) - tensor.abs())),
        "Tucker": [float(tl.norm(core)), float(tl.norm(tl.tucker_to_tensor(found) - tensor))],
        "tensor train": [list(part.shape) for part in train],
        "its error": float(tl.norm(tl.tt_to_tensor(train) - tensor)),
        "gradients": [weight.grad.sum().item() for weight in weights],
        "regression": float(tl.norm(predictions - (samples * truth).sum((1, 2)))) < 5.0,
        "khatri-rao": tl.tenalg.khatri_rao(factors)[:3].tolist(),
        "fit": float(errors[-1]) < 0.05,
        "cp": float(tl.norm(tl.cp_to_tensor(cp))),
    }
