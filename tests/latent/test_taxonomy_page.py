"""The page "Taxonomy of models": every place lies in its box, and the filters keep whom the scenes say."""

from functools import partial

import pytest
from opening import failures, figure, metrics, open_page, run_page

from modules.latent.taxonomy import KINDS, TABLE, with_properties
from pages.latent.taxonomy import figures, lens

opened = partial(open_page, "latent/taxonomy")


def test_every_model_stands_in_its_boxes() -> None:
    inside = {
        name: [l < x < r and y < top for _, l, r, top in figures.BOXES]
        for name, (x, y) in lens.places().items()
    }
    assert set(inside) == set(KINDS) and len(set(lens.places().values())) == len(KINDS)
    for name, kind in KINDS.items():
        assert inside[name] == [True, kind.generative, kind.probabilistic]


@pytest.mark.parametrize(
    ("wanted", "gone"),
    [
        ({"generative"}, {"k-means", "PCA", "autoencoder"}),
        ({"probabilistic"}, {"k-means", "PCA", "autoencoder", "GAN"}),
        (
            {"probabilistic", "latent"},
            {"k-means", "PCA", "autoencoder", "GAN", "autoregressive", "energy-based"},
        ),
    ],
)
def test_the_map_keeps_whom_its_scenes_say(wanted: set[str], gone: set[str]) -> None:
    page = opened(**dict.fromkeys(wanted, "true"))
    assert metrics(page)["Models left"] == f"{len(KINDS) - len(gone)} of {len(KINDS)}"
    fields = ("generative", "probabilistic", "latent", "normalised")
    assert set(KINDS) - set(lens.asked(*(f in wanted for f in fields))) == gone


def test_no_family_has_all_wishes() -> None:
    best, who = lens.most_wishes()
    assert best == 3 and set(who) == {"GAN", "flow"} and all(lens.lacking(family) for family in TABLE)
    assert with_properties("efficient likelihood") == ["flow"]
    assert metrics(opened(view="Wishes", w6="true"))["Families left"] == "flow"
    page = opened(view="Wishes", w2="true", w6="true")
    assert metrics(page)["Families left"] == "none"
    marks = figure(page, "wishes")[0]["figure"]["data"]
    assert sum(len(trace["hovertext"]) for trace in marks) == 24


def test_a_bad_link_is_a_sentence() -> None:
    page = run_page("latent/taxonomy", view="Nowhere")
    assert not failures(page) and page.warning
