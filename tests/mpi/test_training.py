"""Training in several ranks beside training in one."""

import re

import pytest
from ranks import passes

import autograd_cy as torch


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_gradients_are_those_of_the_whole_batch(ranks):
    assert passes("training", ranks=ranks).count("trained alike") == ranks


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_derivatives_of_collectives_are_those_of_differences(ranks):
    assert passes("derivatives", ranks=ranks).count("differentiated") == ranks


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_batch_norms_and_spread_optimizers_are_those_of_one_process(ranks):
    assert passes("norms", ranks=ranks).count("ok") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_without_batches_answer_the_others(ranks):
    text = passes("joined", ranks=ranks)
    assert text.count("joined") == ranks
    assert text.count("have exhausted their inputs") == ranks


@pytest.mark.parametrize("micro_batches", [8, 12])
def test_micro_batches_give_the_same_bits_for_any_number_of_ranks(micro_batches):
    numbers = [1, 2, 4] if micro_batches == 8 else [3, 6]
    texts = [passes("deterministic", micro_batches, ranks=ranks) for ranks in numbers]
    hashes = {each for text in texts for each in re.findall("hash ([0-9a-f]{64})", text)}
    assert len(hashes) == 1, texts


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_thread_lets_reductions_go_on_and_changes_no_gradient(ranks, tmp_path):
    gradients = []
    for switch in "01":
        file = tmp_path / switch
        text = passes("background", file, ranks=ranks, AUTOGRAD_CY_MPI_THREAD=switch)
        assert text.count("went on") == ranks
        gradients.append(torch.load(file))
    assert all(map(torch.equal, *gradients))


def test_training_passes_with_a_thread():
    text = passes("training", ranks=2, AUTOGRAD_CY_MPI_THREAD="1")
    assert text.count("trained alike") == 2
