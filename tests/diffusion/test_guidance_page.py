"""The page "Guidance": DF-O25 on the page, what its scenes say."""

from functools import partial

import pytest
from opening import figure, film, metrics, open_page

from pages.diffusion.guidance import lens

opened = partial(open_page, "diffusion/guidance")


@pytest.mark.parametrize(
    ("w", "law"),
    [(0, (0.996714, 0.500008, 1, 0.5)), (1, (1.319868, 0.223615, 1.111111, 0.372678)),
     (3, (1.395666, 0.044725, 1.176471, 0.271163))],
)  # fmt: skip
def test_the_law_of_guided_samples(w: float, law: tuple[float, ...]) -> None:
    shown = metrics(opened(w=w))
    found = [float(shown[k]) for k in ("Sampled mean", "Sampled sd", "Tilted mean", "Tilted sd")]
    assert found == pytest.approx(law, abs=2.5e-3)


def test_what_the_scenes_say() -> None:
    found = lens.laws(1.0, 0.5, 200)
    at = lens.WEIGHTS.index(1.0)
    assert found.sd[at] < found.tilted_sd[at] and found.mean[at] > found.tilted_mean[at]
    none = lens.WEIGHTS.index(-1.0)
    assert float(found.mean[none]) == pytest.approx(0, abs=0.01)
    assert float(found.sd[none]) == pytest.approx(1.25**0.5, abs=0.01)
    assert float(found.sd[lens.WEIGHTS.index(3.0)]) < 0.06
    few = lens.laws(1.0, 0.5, 5)
    assert abs(float(few.sd[lens.WEIGHTS.index(0.0)]) - 0.5) > 0.03


def test_film_and_curves_agree() -> None:
    page = opened(w=2)
    bar = film(page, "w")
    _, arrays = figure(page, "sd")
    assert bar["at"] == 12 and f"sd {float(arrays['data.2.y'][12][0]):.3f};" in bar["captions"][12]
