"""The page Character studio: log p, the best characters and the influence of the past, computed again."""

from functools import cache, partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, spoken

from lab import experiments, weights
from lab.lenses import text as texts
from pages.recurrent.studio import figures, lens, room

opened = partial(open_page, "recurrent/studio")
CARD = experiments.find(room.SHAKESPEARE).card
CODER = texts.tokenizer(CARD)


@cache
def models() -> tuple[lens.Writer, lens.Writer, lens.Writer]:
    return tuple(weights.load(n).eval() for n in (room.SHAKESPEARE, "gpt-shakespeare", "ngram-shakespeare"))  # type: ignore[return-value]


def written(text: str = room.ROMEO, length: int = 20, t: float = 0.8, seed: int = 0) -> lens.Written:
    return lens.one(models()[0], CARD, text, length, t, seed)  # type: ignore[arg-type]


def test_every_character_has_the_log_p_that_the_model_gives_the_text() -> None:
    result, lstm = written(), models()[0]
    known = texts.shown(CODER.tokens)
    ids = torch.tensor([[known.index(name) for name in result.names]])
    torch.testing.assert_close(
        result.log_p, lstm.token_log_probs(ids)[0].double().detach(), atol=1e-4, rtol=1e-4
    )
    assert result.begun == len(room.ROMEO) and len(result.names) == result.begun + 20
    p = lstm.next_log_probs(ids[:, :30])[0].exp().detach()
    torch.testing.assert_close(result.best_p[30].float(), p.topk(lens.BEST).values, atol=1e-4, rtol=1e-4)
    assert result.best[30] == [known[i] for i in p.topk(lens.BEST).indices.tolist()]
    running = lens.running(result)
    assert float(running[-1]) == pytest.approx(-float(result.log_p[result.begun :].mean()))


def test_temperature_sharpens_what_is_drawn() -> None:
    cold = written(t=0.0)
    assert cold.names[cold.begun :] == [row[0] for row in cold.best[cold.begun :]]
    warm = written()
    first = np.array([name == best[0] for name, best in zip(warm.names, warm.best, strict=True)])
    assert (warm.drawn_p.numpy()[first] > warm.log_p.exp().numpy()[first]).all() and first.any()


def test_log_p_is_that_of_the_next_token_of_each_model() -> None:
    ids = torch.tensor(CODER.encode("to be, or not"))
    for model in models():
        result = lens.log_p(model, ids[None], ids)[0]
        for t in range(len(ids)):
            expected = model.next_log_probs(ids[None, :t])[0, ids[t]].double().detach()
            torch.testing.assert_close(result[t].detach(), expected, atol=1e-4, rtol=1e-4)


def test_one_character_is_replaced_by_another_of_the_text() -> None:
    ids = torch.tensor(CODER.encode("hallo"))
    others = lens.replaced(ids, 3, 0)
    differs = others != ids
    assert (differs == torch.eye(5).bool().expand(3, -1, -1)).all()
    assert set(others.flatten().tolist()) == set(ids.tolist())
    assert (lens.replaced(ids[2:4], 2, 0) == ids[2:4]).all()  # "ll"


def test_counts_see_five_characters_and_the_others_see_all() -> None:
    lstm, gpt, ngram = models()
    found = lens.influence(lstm, gpt, ngram, CARD, room.ROMEO, 0.8, 0)  # type: ignore[arg-type]
    counts, recurrent, transformer = found.by_lag.values()
    seen = ngram.order - 1  # type: ignore[union-attr]
    assert (counts[:seen] > 0).all() and (counts[seen:] == 0).all() and seen == 5
    assert (recurrent > 0).all() and (transformer > 0).all()
    assert float(recurrent[:3].mean()) > 10 * float(recurrent[-10:].mean())
    assert len(found.names) == gpt.context  # type: ignore[union-attr]
    s, t = 40, 43
    known = texts.shown(CODER.tokens)
    ids = torch.tensor([known.index(name) for name in found.names])
    others = lens.replaced(ids, lens.ALTERED, 0)[:, s]
    before, after = (lstm.token_log_probs(each)[:, t].double() for each in (ids[None], others))
    torch.testing.assert_close(found.grid[s, t], (after - before).abs().mean().detach(), atol=1e-4, rtol=1e-3)
    assert found.grid[t, s].isnan() and found.grid.diagonal().isnan().all()


@pytest.mark.parametrize("seed", [0, 1])
def test_what_the_scenes_say(seed: int) -> None:
    odd = written(room.NONSENSE, 60, seed=seed)
    assert -float(odd.log_p[: odd.begun].mean()) > 2 * float(lens.running(odd)[-1])
    cold = "".join(written(length=80, t=0.0).names)
    assert max(cold.count(word) for word in ("␣the␣", "␣to␣", "␣my␣")) > 1, cold
    hot, plain = written(length=60, t=1.6, seed=seed), written(length=60, seed=seed)
    begins = np.array([before in "␣⏎" for before in plain.names[plain.begun - 1 : -1]])
    drawn = -plain.log_p[plain.begun :].numpy()
    assert drawn[begins].mean() > drawn[~begins].mean()
    assert float(lens.running(hot)[-1]) > 1.5 * float(lens.running(plain)[-1])


def test_the_page_shows_these_numbers() -> None:
    page, result = opened(length=40, step=10), written(length=40)
    bar, at = film(page), len(room.ROMEO) + 10
    assert bar["count"] == 40 and bar["at"] == 10
    assert bar["captions"] == lens.captions(result) and result.names[at] in bar["captions"][10]
    numbers = spoken(bar["equations"][10])
    assert numbers[-1] == pytest.approx(float(lens.running(result)[10]), abs=1e-3)
    _, arrays = figure(page, "best")
    np.testing.assert_allclose(arrays["data.0.x"], result.best_p[result.begun :], atol=1e-5)
    z = np.asarray(figure(page, "texts")[1]["data.0.z"])
    assert np.nansum(z[-1]) == pytest.approx(-float(result.log_p.sum()), rel=1e-3)
    assert np.isfinite(z[0]).sum() == len(room.ROMEO) + 1


def test_what_the_model_does_not_know_is_named() -> None:
    page = opened(text="ROMEO 漢", length=40)
    assert "漢" in "".join(c.value for c in page.caption) and not page.exception
    assert figures.color("counts of 6") == figures.COLORS["counts"]
