"""The page "Your own data": what is fitted against closed forms and scikit-learn, own tables, a saved run."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from opening import captions, film, metrics, open_page, run_page, spoken, warnings
from sklearn.mixture import GaussianMixture

from lab import weights
from lab.lenses import rows as tables
from lab.lenses import trained_rows
from lab.ui.models import loading
from pages.latent.own_table import lens

GERMAN = "Tag;Höhe;Art\n" + "".join(f"{1 + i % 28:02}.01.2020;{i % 9},5;rot\n" for i in range(60))


def whole(data: tables.Data, kind: str, most: int) -> lens.Compared:
    *_, (share, result) = lens.compared(data, kind, most)
    assert share == 1
    return result


@pytest.fixture(scope="module")
def geyser() -> tables.Data:
    return tables.read(tables.geyser(), "", "mixture")


def test_one_gaussian_is_its_closed_form(geyser: tables.Data) -> None:
    """log p at the maximum is −D/2 ln 2πe − ½ ln |S|; floors of 1e-3 change it in the third place."""
    row = whole(geyser, "mixture", 1).rows[0]
    S = torch.cov(geyser.train.T, correction=0)
    assert row["nll"] == pytest.approx(math.log(2 * math.pi * math.e) + 0.5 * float(S.logdet()), abs=2e-3)
    assert row["bic"] == pytest.approx(5 * math.log(192) + 2 * 192 * row["nll"])


def test_bic_is_that_of_scikit_learn(geyser: tables.Data) -> None:
    result = whole(geyser, "mixture", 3)
    x = geyser.train.numpy()
    for size in (1, 2):
        peer = GaussianMixture(size, reg_covar=1e-3, n_init=5, random_state=0, tol=1e-6, max_iter=300).fit(x)
        assert result.rows[size - 1]["bic"] == pytest.approx(peer.bic(x), abs=2)
    assert result.best("bic") == 2


def test_a_density_has_mass_one(geyser: tables.Data) -> None:
    x, y = tables.plane(geyser)
    for kind, most in (("mixture", 2), ("factor analysis", 1)):
        p = lens.density(whole(geyser, kind, most).models[-1], geyser).numpy()
        mass = np.trapezoid(np.trapezoid(p, x.numpy(), axis=1), y.numpy())
        assert mass == pytest.approx(1, abs=0.08)  # the grid ends near the outermost rows


def test_states_are_the_storms() -> None:
    data = tables.read(tables.tides(), "", "HMM")
    assert data.names == ["Wind", "Welle"] and data.train.shape == (14, 20, 2)
    result = whole(data, "HMM", 2)
    state = trained_rows.belief(result.models[1], "HMM", data)
    wind = data.rows[:, 0]
    hard = state == state[wind.argmax()]
    assert wind[hard].min() > 6 and result.best("bic") == 2 and hard[:-1].eq(hard[1:]).double().mean() > 0.85


def test_a_fit_repeats_and_leaves_the_generator_alone(geyser: tables.Data) -> None:
    before = torch.get_rng_state()
    rows = [whole(geyser, kind, 2).rows for kind in ("mixture", "mixture")]
    assert rows[0] == rows[1] and torch.equal(torch.get_rng_state(), before)


def test_the_poster() -> None:
    page = open_page("latent/own_table")
    shown = metrics(page)
    assert shown["Best by BIC"] == "2" and shown["Fitted on"] == "192 rows"
    assert "Best by BIC" in film(page, "size")["captions"][1]
    data = tables.read(tables.geyser(), "", "mixture")
    bic = whole(data, "mixture", 6).rows[1]["bic"]
    assert spoken(film(page, "size")["equations"][1])[-1] == pytest.approx(bic, abs=0.1)


def test_an_own_table_is_fitted_when_asked_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    page = open_page("latent/own_table", data="Own table", table=GERMAN, most=2)
    assert "decimal marks" in captions(page) and "Art (text)" in captions(page)
    page.button(key="fit").click().run()
    for _ in range(60):
        if page.metric:
            break
        page.run()
    assert metrics(page)["Fitted on"] == "42 rows"
    page.button(key="save").click().run()
    (name,) = [n for n in loading.trained("latent") if n.startswith("gmm/")]
    folder = loading.folder(name)
    model = weights.load(folder)
    assert model.components == 2 and Path(folder / "table.csv").read_text().startswith('"Höhe"')


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"table": "a,b\n1,2\n3,4"}, "at least 20 are needed"), ({"table": "red\nblue\n"}, "No column holds"),
        ({"table": GERMAN, "columns": "Breite"}, "There is no column 'Breite'"), ({"table": " "}, "is empty"),
        ({"table": GERMAN, "model": "factor analysis"}, "needs two columns"),
        ({"table": "a,b\n" + "1,2\n" * 30}, "never changes"),
        ({"table": "a,b\n" + "".join(f"{i}e300,{i}\n" for i in range(1, 31))}, "numbers up to"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_one_sentence(own: dict[str, str], words: str) -> None:
    page = run_page("latent/own_table", data="Own table", **own)
    assert words in warnings(page) and not page.exception and not page.error


@pytest.mark.heavy
@pytest.mark.parametrize("example", ["geyser", "irises"])
def test_every_model_fits_every_example(example: str) -> None:
    for kind in lens.MODELS:
        data = tables.read(tables.EXAMPLES[example](), "", kind)
        result = whole(data, kind, 2)
        assert all(math.isfinite(v) for row in result.rows for v in row.values())
        assert all(len(trained_rows.belief(model, kind, data)) == len(data.rows) for model in result.models)
