"""HMM learns letters: the rates against the model's own, what the scenes say, own text."""

import pytest
import torch
from opening import film, open_page, prose, run_page, warnings

from modules.latent.hmm import HMM
from pages.latent.letters import lens


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return lens.sequences(lens.corpus())


def test_the_learned_scene(x: torch.Tensor) -> None:
    text = film(open_page("latent/letters"))
    run = lens.learn(x, 2, 1)
    model = HMM(2, "categorical", vocab_size=27)
    model.emission.probs.copy_(run.emissions[-1])
    model.set_parameters(torch.tensor([0.5, 0.5]), run.transitions[-1])
    rate = -float(model.log_prob(x).sum()) / int((x >= 0).sum())
    assert rate == pytest.approx(run.rates[-1], abs=0.01)  # but for the first letters' π
    assert f"After 50 steps {run.rates[-1]:.4f} nats" in text["captions"][50]
    assert set(" aeiou") <= set(run.prefers(50, 0)) <= set(" aeiouhy")
    assert torch.tensor(run.rates).diff().max() < 1e-9


def test_what_the_other_scenes_say(x: torch.Tensor) -> None:
    floor, run, stuck = lens.unigram(x), lens.learn(x, 2, 1), lens.learn(x, 2, 0)
    assert run.rates[0] > floor > run.rates[-1] and abs(run.rates[5] - floor) < 0.02
    assert 0.01 < floor - stuck.rates[-1] < 0.04 and run.rates[-1] < stuck.rates[-1] - 0.05
    ahead = set("aeiou") & set(stuck.prefers(50, 0))
    assert 0 < len(ahead) < 5
    assert lens.learn(x, 3, 1).rates[-1] < run.rates[-1] - 0.01


def test_restarts_end_at_several_heights() -> None:
    x = lens.sequences(lens.corpus()[:3000])
    runs = [runs for _, runs in lens.starts(x, 2, 1)][-1]
    ends = [run.rates[-1] for run in runs]
    assert len(runs) == lens.STARTS and max(ends) - min(ends) > 0.005
    open_page("latent/letters", view="Restarts")


def test_own_text() -> None:
    text = "la vida es un camino que se anda paso a paso y sin mirar atras " * 5
    page = open_page("latent/letters", source="Own text", text=text, k=3)
    assert f"{len(text.strip()):,} letters and spaces" in prose(page)
    assert "at least 200" in warnings(run_page("latent/letters", source="Own text", text="short 123"))
    padded = lens.sequences("ab " * 90)
    assert padded.shape == (3, 100) and int((padded < 0).sum()) == 300 - 269
