"""Hidden chain is not Markov: the text's numbers, chains that are Markov, own chains and histories."""

import pytest
import torch
from opening import captions, film, open_page, prose, run_page, spoken, table_with, warnings

from pages.latent.not_markov import lens


@pytest.mark.parametrize(
    ("past", "chance"), [("21", 5 / 6), ("211", 4 / 5), ("2111", 3 / 4), ("12", 0.0), ("22", 1 / 2)]
)
def test_the_numbers_of_the_text(past: str, chance: float) -> None:
    """LV-O22."""
    page = open_page("latent/not_markov", past=past)
    assert spoken(film(page, "h")["equations"][-1])[-1] == pytest.approx(chance, abs=1e-6)
    text = film(page, "h")["captions"][-1]
    assert f"a 1 with {chance:.6f}" in text
    memory = lens.remember(lens.five_states(), lens.read(past)[0], lens.draw(lens.five_states(), 10_000, 0))
    places = int(memory.places[-1])
    error = 4 * (chance * (1 - chance) / places) ** 0.5
    assert places > 300 and abs(float(memory.counted[-1]) - chance) <= error + 1e-12
    assert places / 10_000 == pytest.approx(float(memory.occurs[-1]), abs=0.03)


def test_the_stationary_law_and_the_printed_matrix() -> None:
    """LV-E28: rows sum to 1.2, 1.2, 0.7, 1.2, 0.7; the columns are the laws."""
    model = lens.five_states()
    assert (24 * model.initial).tolist() == pytest.approx([6, 5, 4, 5, 4])
    sums = table_with(open_page("latent/not_markov"), "sum of the row")
    assert sums["sum of the row"].tolist() == ["1.2", "1.2", "0.7", "1.2", "0.7"]
    assert sums["sum of the column"].tolist() == ["1.0"] * 5


def test_every_symbol_of_memory_moves_the_first_scene() -> None:
    memory = lens.remember(lens.five_states(), [1, 0, 0, 0, 0], torch.zeros(6, dtype=torch.int64))
    assert memory.chances[1:].diff().abs().min() > 1e-3


@pytest.mark.parametrize("name", ["One state a symbol", "Alike behind a symbol"])
def test_these_stay_markov(name: str) -> None:
    memory = lens.remember(lens.CHAINS[name](), [1, 0, 0, 1, 0], torch.zeros(6, dtype=torch.int64))
    assert lens.moves(memory) < 1e-12
    assert "nothing moves" in prose(open_page("latent/not_markov", chain=name))


def test_own_chain_and_own_history() -> None:
    page = open_page("latent/not_markov", chain="Own chain", law="1 1; 3 1", shows="1 2", past="1 x 2")
    assert "'x' is no symbol: left out." in captions(page)
    assert spoken(film(page, "h")["equations"][-1])[-1] == pytest.approx(0.75)
    never = open_page("latent/not_markov", chain="Own chain", law="0 1; 1 0", shows="1 2", past="1 1")
    assert "never occurs" in film(never, "h")["captions"][-1]
    for bad, says in (("1 0; 0 1", "falls into parts"), ("1 a; 0 1", "'a'"), ("1 1", "2 to 8 rows")):
        assert says in warnings(run_page("latent/not_markov", chain="Own chain", law=bad, shows="1 2"))
    assert "type 2 of them" in warnings(
        run_page("latent/not_markov", chain="Own chain", law="1 1; 1 1", shows="1")
    )
    assert "There is no history" in warnings(run_page("latent/not_markov", past="abc"))
