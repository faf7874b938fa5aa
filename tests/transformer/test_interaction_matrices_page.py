"""The page Interaction matrices: pairs and reach by powers of matrices, scenes that hold, own taps."""

import numpy as np
import pytest
from opening import open_page, run_page

from lab.errors import UserError
from pages.transformer.interaction_matrices import figures, lens
from pages.transformer.interaction_matrices.room import CROSS, PATTERNS, ROOM, State


def studied(now: State) -> lens.Study:
    return lens.study(
        now.pattern, now.n, now.causal, now.radius, now.dilation, now.number, now.padding,
        lens.read_taps(now.taps), now.seed,
    )  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("padding", [0, 3])
def test_reach_is_a_power_of_the_matrix(pattern: str, padding: int) -> None:
    one = studied(State(pattern=pattern, n=12, padding=padding, dilation=2, taps="-1 -3"))
    assert not one.pattern[:, 12 - padding :].any() and one.there == 12 - padding
    if pattern == CROSS:
        assert one.pattern.shape == (lens.SOURCE, 12) and np.array_equal(one.heard(1), one.pattern)
        return
    assert not one.pattern[12 - padding :].any()
    own = np.diag(np.arange(12) < 12 - padding)
    step = one.pattern.astype(int) + own
    for L in range(one.depth + 2):
        wanted = np.linalg.matrix_power(step, L) > 0 if L else own
        assert np.array_equal(one.heard(L) & own.any(1), wanted & own.any(1))
    assert not np.array_equal(one.heard(one.depth), one.heard(one.depth - 1))


# pairs, and tokens of which the last has heard, as the lines of the scenes say
SAID = {
    "Causal window": (45, 9), "Encoder": (256, 16), "Decoder": (136, 16), "Dilation 2": (42, 8),
    "Dilation 3": (39, 6), "Selected tokens": (85, 16), "Global tokens": (100, 16), "Blocks": (64, 4),
    "Padding": (144, 12),
}  # fmt: skip


@pytest.mark.parametrize("name", ROOM.scenes)
def test_scenes_say_what_is_so(name: str) -> None:
    now = ROOM.scenes[name].state
    one = studied(now)
    assert (int(one.pattern.sum()), one.of_last(now.layers)) == SAID[name] and now.layers <= one.depth
    if name.startswith("Dilation"):
        heard = np.flatnonzero(one.heard(99)[-1]) + 1
        assert (heard % now.dilation == 16 % now.dilation).all()


def test_captions_equations_and_frames_go_together() -> None:
    one = studied(ROOM.scenes["Causal window"].state)
    texts, equations = lens.captions(one), lens.equations(one)
    tree = figures.reached(one)
    z = tree["data"][0]["z"].values
    assert len(texts) == len(equations) == len(z) == one.depth + 1 == 9
    for L in range(9):
        assert (
            f"{int((z[L] > 0).sum())} " in equations[L] and f"of {int((z[L][-1] > 0).sum())} of" in texts[L]
        )
        assert ((z[L] == 1) == (one.needed == L)).all()
    assert texts[8].endswith("adds nothing.") and lens.answer(one) == lens.OPTIONS[0]


def test_own_taps() -> None:
    assert lens.read_taps("0, −2;-5 0") == (0, -2, -5)
    for text, words in (
        ("0 x", "“x” is no whole number"),
        ("", "no tap"),
        ("100", "beyond"),
        ("1.5", "“1.5”"),
    ):
        with pytest.raises(UserError, match=words):
            lens.read_taps(text)
    page = run_page("transformer/interaction_matrices", pattern="Own taps", taps="0 x")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "no whole number" in said
    assert open_page("transformer/interaction_matrices", pattern="Own taps", taps="0 -1 -5")
