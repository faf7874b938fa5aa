"""The page Recurrence: a run is the model's own, a changed one is what it says, a unit's AUC is counted."""

from functools import partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, spoken

from lab import experiments, weights
from lab.errors import UserError
from modules.recurrent.language_model import RecurrentLM
from pages.recurrent.recurrence import finding, lens, room

opened = partial(open_page, "recurrent/recurrence")
CARD = experiments.find(room.PYDOCS).card


def small(cell: str = "lstm", layers: int = 2) -> RecurrentLM:
    torch.manual_seed(0)
    return RecurrentLM(vocab_size=96, cell=cell, embedding=5, hidden=6, layers=layers).double().eval()


def run(model: RecurrentLM, text: str, freeze: str = room.NOTHING, clamp: bool = False) -> lens.Run:
    return lens.changed(model, CARD, text, freeze, 0.3, 2, clamp, -0.7)


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_a_run_is_the_models(cell: str) -> None:
    model = small(cell)
    _, ids = lens.tokens(CARD, room.QUOTE)
    with torch.no_grad():
        logits, _ = model(torch.cat([torch.tensor([model.bos]), ids])[None])
    result = lens.plain(model, CARD, room.QUOTE)
    torch.testing.assert_close(result.p, logits[0, 1:].softmax(-1))
    torch.testing.assert_close(run(model, room.QUOTE).p, result.p)
    assert {room.NAMES[words] for words in lens.shown(model)} == set(result.inside)


def test_a_frozen_gate_and_a_clamped_unit_are_what_they_say_and_leave_the_model_as_it_was() -> None:
    model = small()
    before = lens.plain(model, CARD, room.QUOTE)
    clamped, frozen = run(model, room.QUOTE, clamp=True), run(model, room.QUOTE, "f")
    assert not model.recurrent.cells[-1].frozen
    assert (frozen.inside["f"] == 0.3).all() and (clamped.inside["h"][:, 2] == -0.7).all()
    cell, i, g = (frozen.inside[name] for name in ("cell", "i", "candidate"))
    torch.testing.assert_close(cell[1:], 0.3 * cell[:-1] + i[1:] * g[1:])
    others = [k for k in range(6) if k != 2]
    assert (clamped.inside["h"][1:, others] - before.inside["h"][1:, others]).abs().amax() > 1e-3
    for other in (frozen, clamped):
        assert (lens.distance(other.p, before.p) > 1e-4).all()
    torch.testing.assert_close(lens.plain(model, CARD, room.QUOTE).p, before.p)
    assert lens.distance(torch.eye(3)[:1], torch.eye(3)[1:2]).item() == 1.0


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_the_equation_of_a_unit_has_its_operands(cell: str) -> None:
    result = lens.plain(small(cell), CARD, "if x:")
    for t, tex in enumerate(lens.equations(result, 1, False), 1):
        v = {name: float(values[t, 1]) for name, values in result.inside.items()}
        last = {name: float(values[t - 1, 1]) for name, values in result.inside.items()}
        memory = [v["f"], last["cell"], v["i"], v["candidate"], v["cell"], v["o"], np.tanh(v["cell"])] \
            if cell == "lstm" else [1 - v["z"], v["candidate"], v["z"], last["h"]]  # fmt: skip
        assert spoken(tex) == pytest.approx([*memory, v["h"]], abs=6e-3)


def test_auc_counts_pairs() -> None:
    h, marked = torch.randn(30, 4), torch.arange(30) % 3 == 0
    pairs = (h[marked][:, None] > h[~marked][None]).double().mean((0, 1))
    torch.testing.assert_close(finding.auc(h, marked), pairs)
    torch.testing.assert_close(finding.auc(-h, marked), 1 - pairs)


def test_marks_are_where_they_should_be() -> None:
    text = 'A "bc" d\nefgh (i) efgh\n'

    def seen(kind: str, own: str = "") -> str:
        return "".join(c for c, on in zip(text, finding.marks(text, kind, own).tolist(), strict=True) if on)

    assert seen(room.CAPITALS) == "A" and seen(room.QUOTES) == '"bc' and seen(room.BRACKETS) == "(i"
    assert seen(room.LINES) == 'A "efg' and seen(room.OWN, "fg") == "fgfg" and seen(room.OWN) == ""
    assert finding.marks('"a\n\nb', room.QUOTES, "").tolist() == [True, True, False, False, False]


def test_a_unit_knows_quotes_on_text_that_had_no_say() -> None:
    """RN: Karpathy's quote unit, found by its AUC and measured again."""
    model = weights.load(room.PYDOCS).eval()
    piece = finding.piece(model, CARD)
    found = finding.find(piece, room.QUOTES, "")
    text, h = piece
    assert len(text) == len(h) == finding.CHOSEN_ON + finding.SHOWN and len(found.units) == finding.BEST
    on = finding.marks(text, room.QUOTES, "")[finding.CHOSEN_ON :]
    torch.testing.assert_close(found.again, finding.auc(h[finding.CHOSEN_ON :, found.units], on))
    far = (found.chosen - 0.5).abs()
    assert (far.diff() <= 0).all() and far[0] > 0.45 and (found.again[0] - 0.5).abs() > 0.4
    with pytest.raises(UserError, match="marks nothing"):
        finding.find(piece, room.OWN, "☃")


def test_the_page_shows_these_numbers() -> None:
    page = opened(model=room.PYDOCS, text="if x:", step=3, freeze="f", frozen=0.0, unit=7)
    model = weights.load(room.PYDOCS).eval()
    result = lens.changed(model, CARD, "if x:", "f", 0.0, 7, False, 1.0)
    before, (_, arrays) = lens.plain(model, CARD, "if x:"), figure(page, "next")
    best = result.p.topk(lens.NEXT)
    assert film(page)["count"] == 5 and film(page)["at"] == 3
    np.testing.assert_allclose(arrays["data.1.x"], best.values, atol=1e-5)
    np.testing.assert_allclose(arrays["data.0.x"], before.p.gather(1, best.indices), atol=1e-5)


def test_scenes_say_what_is_seen() -> None:
    model = weights.load(room.PYDOCS).eval()
    scenes = {name: scene.state for name, scene in room.ROOM.scenes.items()}
    before = lens.plain(model, CARD, room.QUOTE)
    h = before.inside["h"][1:, scenes["Quote unit"].unit]
    quoted = torch.tensor([name in "ifels" and room.QUOTE[:t].count('"') % 2 == 1
                           for t, name in enumerate(before.names)])  # fmt: skip
    outside = torch.tensor([room.QUOTE[: t + 1].count('"') % 2 == 0 and c.isalpha()
                            for t, c in enumerate(room.QUOTE)])  # fmt: skip
    assert (h[quoted] < -0.4).all() and (h[outside] > -0.05).all() and h[outside].mean() > 0.4
    quote = lens.tokens(CARD, '"')[1].item()
    clamped = lens.changed(model, CARD, room.QUOTE, room.NOTHING, 1.0, 149, True, 1.0)
    assert before.p[-1].argmax() == quote and before.p[-1, quote] > 0.5 > 0.2 > clamped.p[-1, quote]
    piece = finding.piece(model, CARD)
    capitals = finding.find(piece, room.CAPITALS, "")
    assert finding.find(piece, room.QUOTES, "").units[0] == 149
    assert capitals.chosen[0] < 0.1 and capitals.again[0] < 0.1
    chance = finding.find(piece, room.OWN, ",")
    assert chance.counts[0] == 4 and chance.chosen[2] > 0.95 and chance.again[2] < 0.8
    shakespeare = weights.load(room.SHAKESPEARE).eval()
    card = experiments.find(room.SHAKESPEARE).card
    runs = [
        lens.changed(shakespeare, card, room.ROMEO, freeze, f, 0, False, 0.0)
        for freeze, f in (("f", 0.0), (room.NOTHING, 0.0), ("f", 1.0))
    ]
    cells = [run.inside["cell"][20].abs().mean() for run in runs]
    assert cells[0] < cells[1] < cells[2] and cells[0] <= 1
