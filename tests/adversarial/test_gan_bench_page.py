"""The bench of games: what is watched is the game itself, and what its scenes say."""

from functools import cache
from statistics import median

import pytest
import torch
from opening import figure, film, open_page, run_page

from lab.lenses import games, ink, plane_games
from pages.adversarial.gan_bench import lens
from pages.adversarial.gan_bench.room import OWN, QUICK

INK = ink.examples(20)[0][1]


@cache
def played(
    loss: str, failure: str, cure: str, batches: int, name: str = "ring8", seed: int = 0
) -> list[plane_games.Look]:
    """A game as it ships where it is recorded, since a test below compares the recording with the game, else
    played."""
    if (looks := lens.known(name, loss, failure, cure, batches, seed)) is not None:
        return looks
    *_, (_, looks) = lens.watching(name, INK, loss, failure, cure, batches, seed)
    return looks


def test_watching_changes_nothing() -> None:
    """The looks leave the game's own random numbers alone."""
    x = lens.sample("ring8", INK)
    *_, (_, model, _) = games.playing(x, games.LOSSES["non-saturating"], 20, 0, 20)
    *_, (_, watched, _) = ((plane_games.look(m, x, "ring8", d), m, g) for d, m, g in games.playing(
        x, games.LOSSES["non-saturating"], 20, 0, 5))  # fmt: skip
    for a, b in zip(model.parameters(), watched.parameters(), strict=True):
        assert torch.equal(a, b)


def test_arrows_go_downhill() -> None:
    """A small move of the made points along them lowers the generator's loss."""
    x = lens.sample("ring8", INK)
    *_, (_, model, _) = games.playing(x, games.LOSSES["non-saturating"], 60, 0, 60)
    with torch.no_grad():
        result = model.generator(model.noise(256, torch.Generator().manual_seed(0)))
    arrows = plane_games.arrows(model, result, x)
    assert float(arrows.norm(dim=1).max()) == pytest.approx(plane_games.LONGEST)
    with torch.no_grad():
        some = result[: len(arrows)]
        before, after = (model.g_loss(p, x[: len(arrows)]) for p in (some, some + 0.05 * arrows))
    assert after < before


@pytest.mark.parametrize("seed", range(5))
def test_after_thirty_batches_the_made_points_are_one_cluster(seed: int) -> None:
    """Small beside the ring of radius 2."""
    x = lens.sample("ring8", INK)
    *_, (_, model, _) = games.playing(x, games.LOSSES["non-saturating"], 30, seed, 30)
    with torch.no_grad():
        result = model.generator(model.noise(400, torch.Generator().manual_seed(7)))
    assert float(result.std(0).norm()) < 1


def test_packs_and_energies_have_a_surface() -> None:
    """Of every loss D over the plane lies between 0 and 1, higher on the data than in the corners."""
    for loss in games.LOSSES:
        looks = played(loss, "nothing", "none", 40)
        assert looks[-1].surface.shape == (plane_games.SIDE, plane_games.SIDE)
        assert bool(((looks[-1].surface >= 0) & (looks[-1].surface <= 1)).all()), loss
    packed = played("non-saturating", "nothing", "packs of 4", 20)[-1].surface
    assert bool(packed.isfinite().all())


@pytest.mark.heavy
def test_what_the_scenes_say() -> None:
    """A game is another one wherever sums have another order: the bounds held for seeds 0 to 5."""

    def late(loss: str, failure: str, cure: str, seed: int = 0) -> int:
        return max(each.modes or 0 for each in played(loss, failure, cure, 1000, seed=seed)[-6:])

    def typical(loss: str) -> tuple[float, float]:
        """Median of three seeds: of the modes late in the game, of the last distance."""
        ends = [(late(loss, "nothing", "none", seed), played(loss, "nothing", "none", 1000, seed=seed)[-1].w1)
                for seed in range(3)]  # fmt: skip
        return median(modes for modes, _ in ends), median(w1 for _, w1 in ends)

    (plain, near), (critic, far) = typical("non-saturating"), typical("Wasserstein, penalty")
    assert plain >= 5 > critic and near < far
    assert late("saturating", "nothing", "none") >= 5
    assert late("non-saturating", "5 turns of G", "none") <= 2
    assert late("non-saturating", "5 turns of G", "packs of 4") >= 5
    assert late("non-saturating", "D of 8 units", "none") <= 2
    moons = played("non-saturating", "nothing", "none", 1000, "moons")
    assert moons[-1].w1 < moons[0].w1 / 2 and moons[-1].modes is None


@pytest.mark.parametrize("failure", ["nothing", "5 turns of G"])
def test_a_recorded_game_begins_as_the_game_does_and_says_the_same(failure: str) -> None:
    """Made points and arrows are kept in half precision; another processor takes another course later."""
    looks = lens.known("ring8", "non-saturating", failure, "none", 1000, 0)
    assert looks is not None and (looks[0].batches, looks[-1].batches) == (0, 1000)
    chosen, x = lens.settings("non-saturating", failure, "none"), lens.sample("ring8", INK)
    games_own = games.playing(x, chosen, 33, 0, 33)
    for one, (done, model, _) in zip(looks, games_own, strict=False):
        other = plane_games.look(model, x, "ring8", done)
        assert (one.batches, one.modes) == (done, other.modes)
        assert one.made == pytest.approx(other.made, abs=0.02)
        assert one.surface == pytest.approx(other.surface, abs=0.02)
        assert one.w1 == pytest.approx(other.w1, abs=0.02)
    late = looks[10:]
    if failure == "nothing":
        assert looks[26].modes == 6 and looks[26].batches == 858
        return
    assert max(one.modes or 0 for one in late) <= 2
    spread = [float(one.made.std(0).norm()) for one in late]
    centres = torch.stack([one.made.mean(0) for one in late])
    # one heap, small beside the ring of radius 2, that wanders
    assert median(spread) < 0.5 and float(centres.std(0).norm()) > 1
    assert lens.known("ring8", "non-saturating", "5 turns of G", "none", 1000, 1) is None


def test_the_page() -> None:
    page = open_page("adversarial/gan_bench")
    looks = played("non-saturating", "nothing", "none", QUICK)
    assert film(page, "look")["captions"] == lens.captions(looks)
    _, arrays = figure(page, "plane")
    assert arrays["data.0.z"].shape == (len(looks), plane_games.SIDE, plane_games.SIDE)
    assert arrays["data.3.x"][-1] == pytest.approx(looks[-1].made[:, 0].numpy(), abs=1e-3)
    moons = open_page("adversarial/gan_bench", target="moons")
    assert "modes" not in film(moons, "look")["captions"][-1]
    blank = run_page("adversarial/gan_bench", target=OWN, ink="")
    assert not blank.exception
