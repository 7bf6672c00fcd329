"""torchmetrics: metrics of a classifier while it learns, of a regression, of images and of text."""

import torch
import torchmetrics
from torch import nn
from torchmetrics.functional import pairwise_cosine_similarity
from torchmetrics.functional.image import peak_signal_noise_ratio

from tests.packages.programs._data import fill_weights, normal


def results():
    inputs = normal(120, 5)
    labels = (inputs @ normal(5, 3, seed=1)).argmax(1)
    model = fill_weights(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)).double())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    metrics = torchmetrics.MetricCollection(
        {
            "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=3),
            "f1": torchmetrics.F1Score(task="multiclass", num_classes=3, average="macro"),
            "auroc": torchmetrics.AUROC(task="multiclass", num_classes=3),
            "precision": torchmetrics.AveragePrecision(task="multiclass", num_classes=3),
            "kappa": torchmetrics.CohenKappa(task="multiclass", num_classes=3),
            "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=3),
        }
    )
    mean = torchmetrics.MeanMetric()
    epochs = []
    for _ in range(3):
        metrics.reset()
        for rows in torch.arange(120).split(40):
            optimizer.zero_grad()
            scores = model(inputs[rows])
            loss = nn.functional.cross_entropy(scores, labels[rows])
            loss.backward()
            optimizer.step()
            mean.update(loss)
            metrics.update(scores.softmax(1), labels[rows])
        epochs.append({name: value.tolist() for name, value in metrics.compute().items()})

    truth, guess = normal(50, seed=2), normal(50, seed=2) + 0.3 * normal(50, seed=3)
    regression = {
        metric.__name__: metric()(guess, truth).item()
        for metric in (
            torchmetrics.MeanSquaredError,
            torchmetrics.MeanAbsoluteError,
            torchmetrics.R2Score,
            torchmetrics.PearsonCorrCoef,
            torchmetrics.SpearmanCorrCoef,
            torchmetrics.KendallRankCorrCoef,
            torchmetrics.ExplainedVariance,
            torchmetrics.ConcordanceCorrCoef,
        )
    }
    images = torch.sigmoid(normal(2, 3, 24, 24, seed=4))
    blurred = nn.functional.avg_pool2d(images, 3, 1, 1)
    similarity = torchmetrics.image.StructuralSimilarityIndexMeasure(data_range=1.0)
    errors = torchmetrics.text.WordErrorRate()(["this is a test"], ["this was a test"])
    return {
        "epochs": epochs,
        "mean loss": mean.compute().item(),
        "regression": regression,
        "images": [
            similarity(blurred, images).item(),
            peak_signal_noise_ratio(blurred, images, data_range=1.0).item(),
        ],
        "words": errors.item(),
        "pairs": pairwise_cosine_similarity(inputs[:4]).tolist(),
        "state": sorted(metrics.state_dict()),
    }


TOLERANCE = 1e-5  # some metrics are float32
