"""transformers: a tiny Llama makes two steps, generates words with its cache, and is saved."""

import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.packages.programs._data import fill_weights, integers, train

TOLERANCE = 1e-4


def results():
    config = LlamaConfig(
        vocab_size=60,
        hidden_size=16,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    words = integers(60, (2, 10))
    found = {}
    for attention in ("eager", "sdpa"):
        config._attn_implementation = attention
        model = fill_weights(LlamaForCausalLM(config), 0.2).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        found[attention] = train(
            lambda model=model: model(input_ids=words, labels=words).loss, optimizer, 3
        )
    model.eval()
    start = torch.tensor([[1, 5, 9]])
    found["words"] = model.generate(start, max_new_tokens=8, do_sample=False).tolist()
    found["beams"] = model.generate(
        start, max_new_tokens=6, do_sample=False, num_beams=3, early_stopping=True
    ).tolist()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = LlamaForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        found["loaded"] = bool(torch.equal(again(words).logits, model(words).logits))
        found["scores"] = model(words).logits[0, -1, :8].tolist()
    return found
