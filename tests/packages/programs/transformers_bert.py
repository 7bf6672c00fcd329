"""transformers: a tiny BERT learns masked words in two steps, and classifies sequences."""

import torch
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

from tests.packages.programs._data import fill_weights, integers, train

TOLERANCE = 1e-4


def results():
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=20,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    words, labels = integers(50, (3, 12)), integers(50, (3, 12), seed=1)
    mask = (torch.arange(12) < torch.tensor([12, 9, 6])[:, None]).long()
    labels[mask == 0] = -100
    model = fill_weights(BertForMaskedLM(config), 0.1).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = train(
        lambda: model(input_ids=words, attention_mask=mask, labels=labels).loss, optimizer, 3
    )
    model.eval()
    with torch.no_grad():
        outputs = model(words, attention_mask=mask, output_hidden_states=True)

    classifier = fill_weights(BertForSequenceClassification(config), 0.1).train()
    optimizer = torch.optim.AdamW(classifier.parameters(), lr=0.01)
    classes = torch.tensor([0, 1, 1])
    return {
        "losses": losses,
        "scores": outputs.logits[0, 0, :8].tolist(),
        "hidden": [state.abs().mean().item() for state in outputs.hidden_states],
        "parameters": model.num_parameters(),
        "classes": train(
            lambda: classifier(words, attention_mask=mask, labels=classes).loss, optimizer, 3
        ),
    }
