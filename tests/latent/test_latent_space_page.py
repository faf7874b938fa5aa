"""Every number on the page Latent space, recomputed by another road; and the plane's own pieces."""

import base64
import io
import math
from typing import Any

import numpy as np
import pytest
import torch
from opening import captions, numbers, open_page, open_warned, prose
from PIL import Image
from streamlit.testing.v1 import AppTest
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from datamodules.digits import Digits
from lab import weights
from lab.lenses import latent
from lab.ui import plane
from modules.latent.vae import VAE
from pages.latent.latent_space import figures


def opened(view: str, **parameters: Any) -> AppTest:
    return open_page("latent/latent_space", **{"model": "vae-digits", "view": view, **parameters})


@pytest.fixture(scope="module")
def model() -> VAE:
    return weights.load("vae-digits")


@pytest.fixture(scope="module")
def examples() -> tuple[Tensor, Tensor]:
    """What the page draws as dots: the small digits' validation and test splits, in this order."""
    data = Digits(binarize="none")
    data.setup()
    both = [split[torch.arange(len(split))] for split in (data.val_set, data.test_set)]
    return torch.cat([x for x, _ in both])[:, 0], torch.cat([y for _, y in both])


def drawn(examples: tuple[Tensor, Tensor], digit: int) -> Tensor:
    """The example of a digit as the pad gives it, of 16 levels: (1, 64)."""
    pictures, labels = examples
    return ((pictures[labels == digit][0] * 15).round() / 15).reshape(1, 64)


def test_plane_without_a_held_place(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    z = model.encode(drawn(examples, 0))[0].detach()
    (equation,) = opened("Plane").latex
    *shown, squares, constant, log_p = numbers(equation.value)
    assert shown == pytest.approx(z[:3].tolist(), abs=0.005)
    assert squares == pytest.approx((z**2).sum().item(), abs=5e-4)
    assert constant == pytest.approx(-10 / 2 * math.log(2 * math.pi), abs=5e-4)
    prior = MultivariateNormal(torch.zeros(10), torch.eye(10))
    assert log_p == pytest.approx(prior.log_prob(z).item(), abs=5e-4)


def test_plane_at_a_held_place(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    """The place is a code on the plane of the two principal axes, which an SVD finds as well."""
    codes = model.encode(examples[0].reshape(-1, 64)).detach().double()
    centred = codes - codes.mean(0)
    _, values, axes = torch.linalg.svd(centred, full_matrices=False)
    axes = axes[:2] * axes[:2].gather(1, axes[:2].abs().argmax(1, keepdim=True)).sign()
    z = codes.mean(0) + 1.25 * axes[0] - 0.5 * axes[1]
    page = opened("Plane", z="1.25,-0.5")
    *shown, squares, _, log_p = numbers(page.latex[0].value)
    assert shown == pytest.approx(z[:3].tolist(), abs=0.006)
    assert squares == pytest.approx((z**2).sum().item(), abs=2e-3)
    assert log_p == pytest.approx(Normal(0, 1).log_prob(z).sum().item(), abs=2e-3)
    share = (values[:2].square().sum() / values.square().sum()).item()
    assert f"{share:.0%} of the codes' variance" in captions(page)


def test_a_link_to_no_place_gets_a_sentence() -> None:
    for bad in ("far,away", "9,0", "1", "nan,0"):
        page = open_warned("latent/latent_space", model="vae-digits", view="Plane", z=bad)
        (warning,) = page.warning
        assert f"The link says z={bad}" in warning.value
        assert "two numbers from −3.5 to 3.5" in warning.value
        assert "z=" in page.latex[0].value


def test_path(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    a, b = (model.encode(drawn(examples, d))[0].detach().double() for d in (3, 8))
    page = opened("Path", a="3", b="8", step=3)
    omega = math.acos((a @ b / a.norm() / b.norm()).item())
    straight = (0.7 * a + 0.3 * b).norm().item()
    arc = ((math.sin(0.7 * omega) * a + math.sin(0.3 * omega) * b) / math.sin(omega)).norm().item()
    found = numbers(page.latex[0].value)
    assert found[:3] == pytest.approx([0.7, 0.3, straight], abs=5e-4)
    assert found[3:] == pytest.approx([0.7, omega, omega, 0.3, omega, omega, arc], abs=5e-4)
    said = captions(page)
    assert f"of length {a.norm():.3f}" in said
    assert f"of length {b.norm():.3f}" in said


def test_path_between_equal_digits_says_so() -> None:
    page = opened("Path", a="3", b="3")
    assert "both walks are the line" in captions(page)


def test_traversal(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    x = drawn(examples, 0)
    guess = model.posterior(x).base_dist
    kl = kl_divergence(guess, Normal(0.0, 1.0))[0]
    everything = model.posterior(examples[0].reshape(-1, 64)).base_dist
    first = kl_divergence(everything, Normal(0.0, 1.0)).mean(0).argmax().item()
    page = opened("Traversal", rows=4)
    variance, square, log_variance, shown = numbers(page.latex[0].value)[-4:]
    assert rf"\mathrm{{KL}}_{{{first + 1}}}" in page.latex[0].value
    assert variance == pytest.approx(guess.variance[0, first].item(), abs=1e-4)
    assert square == pytest.approx(guess.mean[0, first].item() ** 2, abs=1e-4)
    assert log_variance == pytest.approx(guess.variance[0, first].log().item(), abs=1e-4)
    assert shown == pytest.approx(kl[first].item(), abs=1e-4)
    active = (everything.mean.var(0, correction=0) > 0.01).sum().item()
    assert f"{active} of 10 dimensions are active" in prose(page)


def test_sums(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    pictures, labels = examples
    codes = model.encode(pictures.reshape(-1, 64)).detach()
    arrow = codes[labels == 9].mean(0) - codes[labels == 4].mean(0)
    z = model.encode(drawn(examples, 0))[0].detach()
    page = opened("Sums", minus=4, plus=9, strength=0.5)
    found = numbers(page.latex[0].value)
    expected = [*z[:3].tolist(), 0.5, *arrow[:3].tolist(), *(z + 0.5 * arrow)[:3].tolist()]
    assert found == pytest.approx(expected, abs=0.006)
    assert f"has length {arrow.norm():.3f}" in captions(page)


def test_elbo(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    x = drawn(examples, 2)
    with torch.no_grad():
        guess = model.posterior(x).base_dist
    noise = torch.randn(16, 1, 10, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    noise = ((noise - noise.mean(0)) / noise.var(0, correction=0).sqrt()).float()
    sigma = (0.5 * model.decoder_log_var).exp()

    @torch.no_grad()
    def log_likelihood(z: Tensor) -> Tensor:
        return Normal(model.decode(z), sigma).log_prob(x).sum(-1)

    rec = log_likelihood(guess.mean + guess.stddev * noise).mean().item()
    kl = kl_divergence(guess, Normal(0.0, 1.0)).sum().item()
    z = guess.mean + guess.stddev * torch.randn(2000, 1, 10, generator=torch.Generator().manual_seed(5))
    log_w = (log_likelihood(z) + Normal(0, 1).log_prob(z).sum(-1) - guess.log_prob(z).sum(-1))[:, 0].double()
    l_500 = (log_w.view(4, 500).exp().mean(1).log()).mean().item()
    w = (log_w - log_w.max()).exp()
    error = math.sqrt((w**2).sum() / w.sum() ** 2 - 1 / 2000)
    page = opened("ELBO", a="2", beta=3, seed=5)
    first, second = page.latex
    assert numbers(first.value) == pytest.approx([rec, kl, rec - kl, l_500, error], abs=2e-3)
    assert numbers(second.value) == pytest.approx([rec, kl, rec - 3 * kl], abs=2e-3)


def test_elbo_with_the_best_guess_is_higher() -> None:
    """At β = 1 the encoder's answer is one of the guesses that refitting can reach: it only gains."""
    encoder, best = (numbers(opened("ELBO", refit=r).latex[0].value)[2] for r in ("false", "true"))
    assert best > encoder


def test_plane_of_two_dimensions_shows_the_exact_evidence() -> None:
    """ELBO ≤ log p(x), which is summed over the plane; L_500 agrees within its error."""
    page = opened("ELBO", model="vae2d-mnist")
    rec, kl, elbo, l_500, error, exact = numbers(page.latex[0].value)
    assert elbo == pytest.approx(rec - kl, abs=2e-3)
    assert elbo < exact
    assert l_500 < exact + 5 * error + 0.01
    pictures, labels = by_made(300)
    flat = weights.load("vae2d-mnist")
    x = pictures[labels == 0][:1]
    mean, log_var = flat.encode_parameters(x)
    # another road: importance sampling from a wide proposal around the encoder's answer
    wide = Normal(mean, 2 * (0.5 * log_var).exp())
    torch.manual_seed(0)
    with torch.no_grad():
        z = wide.sample((20_000,))
        log_w = flat.log_likelihood(x, z)[:, 0] + (Normal(0, 1).log_prob(z) - wide.log_prob(z)).sum((1, 2))
    assert exact == pytest.approx((log_w.logsumexp(0) - math.log(20_000)).item(), abs=0.06)


# --- The drawn examples -----------------------------------------------------------------------------


def by_made(count: int) -> tuple[Tensor, Tensor]:
    return latent.drawn_digits(weights.load("made-mnist"), weights.load("cnn-mnist"), count)


def test_drawn_digits_are_what_a_classifier_is_sure_of() -> None:
    pictures, labels = by_made(60)
    assert pictures.shape == (60, 28, 28) and set(pictures.unique().tolist()) == {0.0, 1.0}
    sure = weights.load("cnn-mnist").predict(pictures[:, None]).softmax(-1)
    assert torch.equal(sure.argmax(-1), labels)
    assert (sure.max(-1).values.diff() <= 1e-6).all() and sure.max(-1).values.min() > 0.9
    assert torch.equal(by_made(60)[0], pictures)


# --- The plane's pieces ---------------------------------------------------------------------------------


def test_png_keeps_the_ink() -> None:
    values = np.linspace(0, 1, 64).reshape(8, 8)
    href = plane.png(values, "#0A141E")
    image = Image.open(io.BytesIO(base64.b64decode(href.partition(",")[2]))).convert("RGBA")
    pixels = np.asarray(image)
    assert (pixels[..., :3] == [10, 20, 30]).all()
    assert np.abs(pixels[..., 3] / 255 - values).max() <= 0.5 / plane.LEVELS + 0.5 / 255


def test_marks_become_plain_lists() -> None:
    mark = plane.spelled({"name": "A", "at": torch.tensor([0.5, -1.0]), "color": "#000000"})
    assert mark == {"name": "A", "at": [0.5, -1.0], "color": "#000000"}


# --- Figures --------------------------------------------------------------------------------------------


def test_contact_sheet_puts_pictures_where_their_names_are() -> None:
    pictures = torch.zeros(2, 3, 4, 4)
    pictures[1, 2] = 1.0
    fig = figures.contact_sheet(pictures, ["a", "b"], ["x", "y", "z"], mark=(1, 2), clickable=True)
    sheet = np.array(fig.data[0].z, dtype=float)
    top, left = int(fig.layout.yaxis.tickvals[1] - 1.5), int(fig.layout.xaxis.tickvals[2] - 1.5)
    assert (sheet[top : top + 4, left : left + 4] == 1).all()
    assert np.nansum(sheet) == 16
    (frame,) = fig.layout.shapes
    assert frame.x0 < left < left + 3 < frame.x1
    assert frame.y0 < top < top + 3 < frame.y1
    assert [list(c) for c in fig.data[1].customdata] == [[i, j] for i in range(2) for j in range(3)]
    assert fig.data[1].x[5] == fig.layout.xaxis.tickvals[2]


def test_costs_add_up() -> None:
    fig = figures.costs(["−ELBO", "β = 3"], [100.0, 100.0], [5.0, 15.0])
    assert [list(bar.x) for bar in fig.data] == [[100.0, 100.0], [5.0, 15.0]]
    assert fig.layout.barmode == "relative"


def test_subscript() -> None:
    assert [figures.subscript(i) for i in (0, 9, 39)] == ["₁", "₁₀", "₄₀"]
