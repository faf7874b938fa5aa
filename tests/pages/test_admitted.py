"""Pages admit every model that has what they need, whatever its class, and no other; of a run by how it was
trained."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from opening import open_page, run_page

from lab import experiments, weights
from lab.experiments import Experiment
from lab.lenses import counts, drawing, generated, glows, latent, sprites, vaes
from lab.lenses import rows as tables
from lab.lenses import trained_rows as trained
from lab.ui.models import language, loading
from modules.latent.bounds import gaussian_log_prob
from modules.latent.vae import VAE
from pages.adversarial.conditional_bench import lens as conditional_bench
from pages.adversarial.judge import lens as judge
from pages.autoregressive.density import lens as density
from pages.latent.amortisation import deep
from pages.latent.attributes import lens as attributes
from pages.latent.beta import lens as beta
from pages.latent.codebook import lens as codebook
from pages.latent.collapse import lens as collapse
from pages.latent.conditional import lens as conditional
from pages.latent.denoising import lens as denoising
from pages.latent.outliers import lens as outliers
from pages.latent.own_table import lens as fits
from pages.latent.prior_posterior import lens as prior_posterior
from pages.latent.text_vae import lens as text_vae
from pages.latent.two_level import lens as two_level

BETAS = {"beta10-digits", "beta4-digits", "betaquarter-digits", "vae-bits-digits"}
BITS = BETAS | {"convvae-digits", "iwae-digits", "score-digits"}
PLAIN = BITS | {"iwae-mnist", "vae-digits", "vae-large-digits", "vae-mnist", "vae15-mnist", "vae2d-mnist",
                "variance-digits"}  # fmt: skip
WEIGHED = PLAIN | {"iafvae-digits", "iafvae-mnist", "mixture-digits", "vamp-digits"}
SPRITES = {"beta4-sprites", "factorvae-sprites", "tcvae-sprites", "vae-sprites"}
MADES = {f"madevae{cure}-digits" for cure in ("", "-annealed", "-cyclical", "-freebits")}
LINES = {f"textvae{cure}-pydocs" for cure in ("", "-annealed", "-freebits")}
GRUS = {f"gru{cure}-chains" for cure in ("", "-annealed", "-freebits")}
KINDS = ("cnf", "flowpp", "iresnet", "linear", "maf", "naf", "nice", "planar", "realnvp", "spline")
MOONS = {f"{kind}-moons" for kind in KINDS}
EIGHT = {f"{kind}-eight" for kind in ("linear", "maf", "nice", "realnvp", "spline")}

GAMES = {f"{kind}-digits" for kind in ("acgan", "cgan", "dcgan", "infogan", "progressive", "projectiongan")}
CHAINS = {f"chain{k}{shared}-digits" for k in ("", 2, 3, 8) for shared in ("", "-shared")}
NETS = {"fvsbn-digits", "gatedpixelcnn-digits", "pixelcnn-digits", "pixelcnn-greys-digits", "nade-digits",
        "nade-greys-digits", "made-digits", "made-digits-orders", "made32-digits", "made32-direct-digits",
        "made256-digits", "made256-direct-digits", "made256-8orders-digits", "made256-32orders-digits",
        "made256-fresh-orders-digits", *(f"{kind}{n}" for kind in ("nade32-digits", "untied-digits")
                                         for n in ("", 100, 400))}  # fmt: skip
VAES = {n for n in WEIGHED if n.endswith("digits")} | MADES | {
    "cvae-digits", "pixelvae-digits", "ladder-digits", "ladder-freebits-digits"}  # fmt: skip
SMALL = GAMES | CHAINS | NETS | VAES | {
    "gaussianchain-digits", "neighbours-digits", "rnade-digits", "rnade-digits-k1", "gmm-digits", "fa-digits",
    "ppca-digits", "glow-digits", "glow-digits-no9", "ddpm-digits", "vlb-digits", "ldm-digits",
    "vqvae-digits"}  # fmt: skip
PALETTES = {"imagegpt-digits"}  # pictures by a transformer
SPOKEN = {"bengio-classes", "bengio-multi30k", "bengio-pydocs", "bengio-shakespeare", "bengio-verbs",
          "onehot-classes", "gpt-senses", "gpt-pydocs", "gpt-shakespeare", "lstm-pydocs",
          "lstm-shakespeare",
          "moe-languages", "starved-languages", "gpt-multi30k"}  # fmt: skip
SPOKEN |= {f"ngram-{text}" for text in (
    "classes", "verbs", "multi30k", "pydocs", "shakespeare", "bpe500-pydocs", "bpe500-shakespeare",
    "bpe2000-shakespeare")}  # fmt: skip
OF_MNIST = {f"{kind}-mnist" for kind in (
    "fvsbn", "gatedpixelcnn", "made", "made-masks", "made-onemask", "made-orders", "nade", "nade-greys",
    "pixelcnn", "pixelcnn-greys4", "pixelcnn-greys16")}  # fmt: skip
LARGE = OF_MNIST | {n for n in WEIGHED if n.endswith("mnist")}
LARGE |= {n.replace("digits", "mnist") for n in CHAINS} | {
    f"{kind}-mnist" for kind in (
        "gaussianchain", "neighbours", "neighbours12", "rnade", "fa", "ppca", "glow", "dcgan", "infogan",
        "progressive", "stylegan", "ddpm", "imagegpt-greys4")}  # fmt: skip
RESIZED = {
    f"{kind}-mnist"
    for kind in (  # of other pictures than 28 × 28
        "imagegpt-greys4",
        "pixelcnn-greys4",
        "pixelcnn-greys16",
        "nade-greys",
        "rnade",
        "gatedpixelcnn",
        "progressive",
        "stylegan",
    )
}

# a page's predicate, and all shipped models that it holds for
Row = tuple[Callable[[Experiment], bool], set[str]]
ADMITTED: dict[str, Row] = {
    "latent/latent_space": (vaes.fits, PLAIN),
    "latent/importance": (vaes.weighs, WEIGHED),
    "latent/amortisation": (deep.fits, {n for n in PLAIN if n.endswith("digits")}),
    "latent/attributes": (attributes.fits, PLAIN | SPRITES),
    "latent/beta": (beta.fits, BETAS),
    "latent/codebook": (codebook.fits, {"vqvae-digits"}),
    "latent/collapse": (collapse.fits("Two chains"), GRUS | {"factorised-chains", "order1-chains"}),
    "latent/collapse digits": (collapse.fits("Digits"), MADES | {"pixelvae-digits", "vae-bits-digits"}),
    "latent/conditional": (conditional.fits, {"cvae-digits"}),
    "latent/denoising AE": (denoising.fits("AE"), {"ae-digits"}),
    "latent/denoising DAE": (denoising.fits("DAE"), {"dae-digits"}),
    "latent/denoising VAE": (denoising.fits("VAE"), BETAS | {"iwae-digits", "score-digits"}),
    "latent/disentanglement": (sprites.fits, SPRITES),
    "latent/outliers": (outliers.fits, BITS | {"iafvae-digits", "mixture-digits", "vamp-digits"}),
    "latent/prior_posterior": (prior_posterior.fits, BITS | {"mixture-digits", "vamp-digits"}),
    "latent/text_vae": (text_vae.fits, LINES),
    "latent/two_level": (two_level.fits, {"ladder-digits", "ladder-freebits-digits"}),
    "latent/mixture": (trained.fits("mixture"), {"gmm", "gmm-moons", "gmm-rings"}),
    "latent/linear": (trained.fits("factor analysis"), {"fa"}),
    "latent/hidden_markov": (trained.fits("HMM"), {"hmm", "hmm-clouds"}),
    "flow/flow_bench": (trained.fits("flow"), MOONS | EIGHT | {"maf-sine", "maf", "hint"}),
    "flow/temperature": (glows.fits, {"glow-digits"}),
    "flow/image_flow": (glows.any_size, {"glow-digits", "glow-mnist"}),
    "autoregressive/density": (
        density.of_the_plane,
        {"rnade-moons", "rnade-moons-k1", "rnade-moons-k3", "rnade-rings", "rnade-rings-k1", "rnade-sine"},
    ),
    "autoregressive/inspector": (drawing.of_pictures, NETS | OF_MNIST),
    "adversarial/conditional_bench": (
        conditional_bench.fits,
        GAMES - {"dcgan-digits", "progressive-digits"} | {"infogan-mnist"},
    ),
    "adversarial/judge": (judge.fits, SMALL | PALETTES | LARGE - RESIZED),
    "adversarial/birthday": (generated.makes_digits, SMALL | PALETTES | LARGE),
    "language/two_strategies": (language.offers_next_token, SPOKEN),
}
# that take models of other families too
EVERYWHERE = {"adversarial/judge", "adversarial/birthday", "language/two_strategies"}

# the view of a page that has the chooser, and models of every class that the page does not open with
VIEWS = {"latent/mixture": "Trained", "latent/linear": "Trained", "latent/hidden_markov": "Numbers",
         "latent/amortisation": "Trained VAE"}  # fmt: skip
OPENED = [(room, name) for room in ("latent_space", "interpolation", "traversal", "arithmetic", "bound")
          for name in ("iwae-mnist", "variance-digits", "convvae-digits")]  # fmt: skip
OPENED += [("importance", name) for name in ("iafvae-mnist", "vamp-digits", "iwae-mnist", "variance-digits")]
OPENED += [("outliers", name) for name in ("convvae-digits", "iafvae-digits", "vamp-digits", "iwae-digits")]
OPENED += [("prior_posterior", name) for name in ("convvae-digits", "mixture-digits", "score-digits")]
OPENED += [("amortisation", "variance-digits"), ("amortisation", "iwae-digits")]
OPENED += [("attributes", name) for name in ("tcvae-sprites", "factorvae-sprites", "iwae-digits")]
OPENED += [("mixture", "gmm"), ("linear", "fa"), ("hidden_markov", "hmm"), ("hidden_markov", "hmm-clouds")]
ELSEWHERE = [
    ("adversarial/judge", n)
    for n in ("vqvae-digits", "variance-digits", "fvsbn-digits", "progressive-digits", "imagegpt-digits")
]
ELSEWHERE += [
    ("adversarial/birthday", n) for n in ("vqvae-digits", "nade-greys-mnist", "stylegan-mnist", "iwae-mnist")
]
SPEAKERS = [f"language/{room}" for room in ("two_strategies", "all_strategies", "own_mistakes", "truncation")]
ELSEWHERE += [(room, "lstm-pydocs") for room in (*SPEAKERS, "language/beam_search")]
FLOWS = ["maf", "hint", "cnf-moons", "iresnet-moons", "flowpp-moons", "planar-moons"]


@pytest.mark.parametrize("page", ADMITTED)
def test_admitted_are_all_that_have_the_surface(page: str) -> None:
    only, names = ADMITTED[page]
    family = page.partition("/")[0] if page not in EVERYWHERE else None
    known = experiments.catalog().items()
    assert {n for n, e in known if family in (None, e.family) and only(e) and e.weights} == names
    assert set(loading.trained(family, only)) >= names  # with weights, and runs beside them


def test_ngrams_are_admitted() -> None:
    known = experiments.catalog().items()
    assert {n for n, e in known if counts.of_ngrams(e)} == {
        n for n, e in known if e.module == "modules.language.ngram.NGram"
    }


@pytest.mark.parametrize("name", sorted(WEIGHED))
@torch.no_grad()
def test_the_surface_says_what_it_is(name: str) -> None:
    """log p(z) − log q(z|x) is that of N(0, I) and the encoder's Gaussian where a page takes them to be."""
    model = weights.load(experiments.ZOO / name)
    assert isinstance(model, VAE)
    x = latent.as_input(model, torch.rand(2, latent.side_of(model), latent.side_of(model)))
    q = model.sample_posterior(
        x, torch.randn(3, 2, model.latent_dim, generator=torch.Generator().manual_seed(0))
    )
    mean, log_var = model.encode_parameters(x)
    zero = torch.zeros_like(q.z)
    ratio = (gaussian_log_prob(q.z, zero, zero) - gaussian_log_prob(q.z, mean, log_var)).sum(-1)
    assert torch.allclose(ratio, q.log_ratio, rtol=1e-3, atol=1e-2) == (name in PLAIN)


@pytest.mark.heavy
@pytest.mark.parametrize(("room", "name"), [*((f"latent/{r}", n) for r, n in OPENED),
                                            *(("flow/flow_bench", n) for n in FLOWS),
                                            *ELSEWHERE])  # fmt: skip
def test_they_open(room: str, name: str) -> None:
    key = "trained" if room in SPEAKERS else "model"
    open_page(room, **{key: name}, **({"view": VIEWS[room]} if room in VIEWS else {}))


# --- Own runs -------------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    return tmp_path


def copied(runs: Path, name: str, part: str, **options: object) -> str:
    """A run of an experiment with other options, as its card says; the name of the run."""
    folder = runs / name / "20260101-000000-000000"
    shutil.copytree(experiments.ZOO / name, folder)
    card = json.loads((folder / "card.json").read_text())
    card["config"][part]["init_args"].update(options)
    (folder / "card.json").write_text(json.dumps(card))
    return f"{name}/{folder.name}"


def test_a_run_is_admitted_by_how_it_was_trained(runs: Path) -> None:
    grey = copied(runs, "vae-bits-digits", "data", binarize="none")
    small = copied(runs, "vae-mnist", "data", image_size=14)
    assert grey in loading.trained("latent", vaes.fits)
    assert grey not in loading.trained("latent", prior_posterior.fits)
    assert small not in loading.trained("latent", vaes.fits)  # no examples of that size
    seventh = copied(runs, "beta4-digits", "model", beta=7.0)
    other = copied(runs, "beta10-digits", "model", hidden=[64])
    admitted = loading.trained("latent", beta.fits)
    assert seventh in admitted and other not in admitted  # where more than β differs


THREE = "".join(f"{i % 5}.{i % 7},{i % 3}.5,{(i * i) % 11}.25\n" for i in range(60))


@pytest.mark.parametrize(
    ("kind", "page"),
    [("mixture", "latent/mixture"), ("factor analysis", "latent/linear"), ("HMM", "latent/hidden_markov"),
     ("flow", "flow/flow_bench")],
)  # fmt: skip
@pytest.mark.parametrize("width", [pytest.param(1, marks=pytest.mark.heavy),
                                   pytest.param(2, marks=pytest.mark.heavy), 3])  # fmt: skip
def test_a_saved_run_opens_whatever_its_width(kind: str, page: str, width: int, runs: Path) -> None:
    width = max(width, 2) if kind == "factor analysis" else width
    data = tables.read("a,b,c\n" + THREE, ",".join("abc"[:width]), kind)
    *_, (_, result) = fits.compared(data, kind, 1)
    name = "/".join(fits.save(data, kind, 1, result).parts[-2:])
    view = {"view": VIEWS[page]} if page in VIEWS else {}
    shown = open_page(page, model=name, **view)
    assert name in shown.selectbox(key="model").options
    if (kind, width) == ("flow", 2):
        return  # the bench itself, where a grid can be drawn
    results = trained.read(loading.folder(name))
    assert torch.equal(results.rows, data.rows) and results.names == data.names
    assert torch.allclose(results.mean, data.mean) and torch.allclose(results.deviation, data.deviation)
    metric = {m.label: m.value for m in shown.metric}
    assert metric["Rows"] == "60" and metric["Columns"] == str(width)
    model = result.models[0]
    with torch.no_grad():
        log_p = model.filtered(data.examples)[1][0] if kind == "HMM" else model.log_prob(data.examples)
    assert metric["log p(row 1)"] == f"{float(log_p[0]):.3f}"


def test_a_run_whose_table_is_gone_says_so(runs: Path) -> None:
    data = tables.read("a,b,c\n" + THREE, "", "mixture")
    *_, (_, result) = fits.compared(data, "mixture", 1)
    folder = fits.save(data, "mixture", 1, result)
    (folder / "table.csv").unlink()
    page = run_page("latent/mixture", view="Trained", model="/".join(folder.parts[-2:]))
    assert not page.exception and "no such file" in page.warning[0].value


@torch.no_grad()
def test_an_outline_is_the_marginal_of_its_gaussian() -> None:
    """Two standard deviations: the Mahalanobis distance of every place in the two columns is 2."""
    model = trained.load(experiments.ZOO / "gmm")
    data = trained.read(experiments.ZOO / "gmm")
    lines = trained.outlines(model, "mixture", data, (2, 0))
    z = ((lines - data.mean[[2, 0]]) / data.deviation[[2, 0]]) - model.gaussians.means[:, None, [2, 0]]
    two = model.gaussians.matrices[:, [2, 0]][:, :, [2, 0]]
    distance = torch.einsum("kpi,kij,kpj->kp", z, torch.linalg.inv(two), z)
    assert torch.allclose(distance, torch.full_like(distance, 4.0))
