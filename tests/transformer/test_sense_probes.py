"""TF-X32: static vectors cannot separate two senses of a word, contextual ones do.

A linear probe reads the vector of "bank" alone. It is trained on sentences with half of the cue words of each
sense and slot, and judged on sentences with the other half, so that it cannot know single words.
"""

import copy

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from datamodules import senses
from lab import experiments, weights
from lab.lenses import embeddings
from lab.seeding import seeded
from modules.transformer.gpt import GPT
from modules.transformer.stack import draw_weights
from pages.language.senses import lens

SEEDS = range(5)
JUDGED = 200


def shipped() -> GPT:
    model = weights.load(experiments.ZOO / "gpt-senses")
    assert isinstance(model, GPT)
    return model


def untrained(seed: int) -> GPT:
    """The same model with weights as before training."""

    def drawn() -> GPT:
        model = copy.deepcopy(shipped())
        for part in model.modules():
            if callable(reset := getattr(part, "reset_parameters", None)):
                reset()
        draw_weights(model)
        return model

    return seeded(drawn, seed)


def split(training: int, seed: int) -> tuple[tuple[list[str], Tensor], tuple[list[str], Tensor]]:
    """Sentences and senses for training and for judging, as many of each sense; no cue word is in both."""
    generator = torch.Generator().manual_seed(seed)
    slots = [senses.CUES[sense][slot] for sense in senses.SENSES for slot in ("verb", "adjective")]
    held = {words[i] for words in slots for i in torch.randperm(4, generator=generator)[:2].tolist()}
    others = {word for words in slots for word in words} - held
    rows = [
        (line, kind, set(line.split()[:5]))
        for line, kind in zip(*senses.sentences(3000, 1000 + seed), strict=True)
        if line.split()[5] == senses.WORD
    ]
    parts = []
    for hidden, count in ((held, training), (others, JUDGED)):
        of = [
            [line for line, kind, before in rows if kind == sense and not before & hidden][: count // 2]
            for sense in range(2)
        ]
        assert [len(lines) for lines in of] == [count // 2] * 2
        parts.append((of[0] + of[1], torch.tensor([0, 1]).repeat_interleave(count // 2)))
    words = [{w for line in lines for w in line.split()[:5]} for lines, _ in parts]
    assert not words[0] & words[1] & (held | others)
    return parts[0], parts[1]


def accuracies(model: GPT, training: int, seed: int) -> Tensor:
    """Right on sentences of training and on those with unseen cue words: (2, L + 1)."""
    (a, of_a), (b, of_b) = split(training, seed)
    x, y = lens.at_word(model, a).double(), lens.at_word(model, b).double()  # (L + 1, M, C)
    results = []
    for seen, unseen in zip(x, y, strict=True):
        size = (seen - seen.mean(0)).square().mean().sqrt().clamp(min=1e-12)
        seen, unseen = ((part - seen.mean(0)) / size for part in (seen, unseen))
        probe = LogisticRegression(max_iter=1000).fit(seen.numpy(), of_a.numpy())
        results.append([probe.score(seen.numpy(), of_a.numpy()), probe.score(unseen.numpy(), of_b.numpy())])
    return torch.tensor(results).T


@pytest.mark.parametrize("training", [2, 40])
def test_a_probe_reads_the_sense_after_one_layer_and_never_before(training: int) -> None:
    found = torch.stack([accuracies(shipped(), training, seed) for seed in SEEDS])[:, 1]  # (S, L + 1)
    assert (found[:, 0] == 0.5).all()  # one vector in all sentences: chance
    assert (found[:, 1:] >= 0.99).all()  # also from one sentence of each sense


def test_without_training_a_probe_knows_but_its_own_cue_words() -> None:
    found = torch.stack([accuracies(untrained(seed), 200, seed) for seed in SEEDS]).mean(0)  # (2, L + 1)
    assert (found[0, 1:] > 0.9).all() and (found[1, 1:] < 0.65).all(), found


def test_a_static_vector_is_the_same_in_both_senses() -> None:
    place = experiments.ZOO / "skipgram-senses"
    table = embeddings.table(weights.load(place), weights.read_card(place))
    near = lens.static(table)
    assert [kind for *_, kind in near].count("river") == [kind for *_, kind in near].count("money") == 4
    (_, of), _ = split(40, 0)
    x = table.vectors[table.ids[senses.WORD]].expand(len(of), -1).double().numpy()
    assert LogisticRegression().fit(x, of.numpy()).score(x, of.numpy()) == 0.5
