"""Every number on the page Latent space, recomputed by another road; and the plane's own pieces."""

import base64
import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from opening import equation, figure, numbers, open_page, open_warned, prose
from PIL import Image
from streamlit.testing.v1 import AppTest
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal

from lab import weights
from lab.figures import latents, sheets
from lab.lenses import latent
from lab.ui.figures import plane
from modules.latent.vae import VAE


def opened(**parameters: Any) -> AppTest:
    return open_page("latent/latent_space", **{"model": "vae-digits", **parameters})


def test_without_a_held_place_the_numbers_are_of_a(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    z = model.encode(drawn(0))[0].detach()
    *shown, squares, constant, log_p = numbers(equation(opened()))
    assert shown == pytest.approx(z[:3].tolist(), abs=0.005)
    assert squares == pytest.approx((z**2).sum().item(), abs=5e-4)
    assert constant == pytest.approx(-10 / 2 * math.log(2 * math.pi), abs=5e-4)
    prior = MultivariateNormal(torch.zeros(10), torch.eye(10))
    assert log_p == pytest.approx(prior.log_prob(z).item(), abs=5e-4)


def test_at_a_held_place(model: VAE, examples: tuple[Tensor, Tensor]) -> None:
    """The place is a code on the plane of the two principal axes, which an SVD finds as well."""
    codes = model.encode(examples[0].reshape(-1, 64)).detach().double()
    centred = codes - codes.mean(0)
    _, values, axes = torch.linalg.svd(centred, full_matrices=False)
    axes = axes[:2] * axes[:2].gather(1, axes[:2].abs().argmax(1, keepdim=True)).sign()
    z = codes.mean(0) + 1.25 * axes[0] - 0.5 * axes[1]
    page = opened(z="1.25,-0.5")
    *shown, squares, _, log_p = numbers(equation(page))
    assert shown == pytest.approx(z[:3].tolist(), abs=0.006)
    assert squares == pytest.approx((z**2).sum().item(), abs=2e-3)
    assert log_p == pytest.approx(Normal(0, 1).log_prob(z).sum().item(), abs=2e-3)
    share = (values[:2].square().sum() / values.square().sum()).item()
    assert f"{share:.0%} of the codes' variance" in prose(page)
    distances = (codes - z).norm(dim=1).sort().values[:5]
    texts = [a["text"] for a in figure(page, "nearest")[0]["figure"]["layout"]["annotations"]]
    assert texts[0] == "decoded"
    assert [float(text) for text in texts[1:]] == pytest.approx(distances.tolist(), abs=0.006)
    source, shows = page.session_state["_program"]
    space: dict[str, Any] = {}
    exec(source, space)
    assert space["result"] == pytest.approx(shows, abs=1e-4)


def test_a_link_to_no_place_gets_a_sentence() -> None:
    for bad in ("far,away", "9,0", "1", "nan,0"):
        page = open_warned("latent/latent_space", model="vae-digits", z=bad)
        (warning,) = page.warning
        assert f"The link says z={bad}" in warning.value
        assert "two numbers from −3.5 to 3.5" in warning.value
        assert "z=" in equation(page)


def test_the_exact_posterior_is_not_hidden() -> None:
    """A's mark leaves the middle free, and a figure of its own shows the posterior as large as it is."""
    plain = open_page("latent/latent_space", a="4")
    assert not marks(plain)["A"]["open"]
    page = open_page("latent/latent_space", a="4", posterior="true", tiles="false")
    assert marks(page)["A"]["open"] and not marks(page)["B"].get("open")
    trace = figure(page, "near-a")[0]["figure"]["data"][0]
    vae = weights.load("vae2d-mnist")
    pictures, labels = by_made(300)
    x = pictures[labels == 4][:1]
    u, v, density = (np.array(decoded(trace[axis])) for axis in "xyz")
    density = density.reshape(len(v), len(u))
    mass = density.sum() * (u[1] - u[0]) * (v[1] - v[0])
    assert 0.9 < mass < 1.02  # nearly all of it lies inside
    row, column = np.unravel_index(density.argmax(), density.shape)
    z = torch.tensor([[u[column], v[row]]], dtype=torch.float32)
    near = z + 0.3 * torch.randn(200, 2, generator=torch.Generator().manual_seed(0))

    def joint(z: Tensor) -> Tensor:
        with torch.no_grad():
            return vae.log_likelihood(x, z[:, None])[:, 0] + Normal(0, 1).log_prob(z).sum(1)

    assert joint(z).item() > joint(near).max().item() - 0.05


def decoded(values: Any) -> Any:
    """Plotly's numbers, as a list or as base64."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return values


def marks(page: AppTest) -> dict[str, Any]:
    import json

    (element,) = (e for e in page.get("bidi_component") if e.proto.component_name == "lectern_plane")
    return {mark["name"]: mark for mark in json.loads(element.proto.json)["marks"] if "name" in mark}


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
    fig = sheets.contact_sheet(pictures, ["a", "b"], ["x", "y", "z"], clickable=True)
    sheet = np.array(fig.data[0].z, dtype=float)
    top, left = int(fig.layout.yaxis.tickvals[1] - 1.5), int(fig.layout.xaxis.tickvals[2] - 1.5)
    assert (sheet[top : top + 4, left : left + 4] == 1).all()
    assert np.nansum(sheet) == 16
    (box,) = sheets.frame(fig, 4, 2, 1, 2).layout.shapes
    assert box.x0 < left < left + 3 < box.x1
    assert box.y0 < top < top + 3 < box.y1
    moves = sheets.frame_moves(4, [0, 2])
    assert moves["layout.shapes.0.x0"][1] == box.x0 and moves["layout.shapes.0.x1"][1] == box.x1
    assert [list(c) for c in fig.data[1].customdata] == [[i, j] for i in range(2) for j in range(3)]
    assert fig.data[1].x[5] == fig.layout.xaxis.tickvals[2]


def test_a_film_of_pictures_lies_where_the_figure_has_them() -> None:
    pictures = torch.rand(3, 6, 8, 8)
    gap = sheets.label_gap(8)
    grids = sheets.frames(pictures, 3, gap)
    still = sheets.labelled(list(pictures[1]), list("abcdef"), columns=3).data[0].z
    np.testing.assert_allclose(grids[1], np.array(still, dtype=float), rtol=1e-6)


def test_costs_add_up() -> None:
    fig = latents.costs(["−ELBO", "−J"], [100.0, 100.0], [5.0, 15.0], (0, 150))
    assert [list(bar.x) for bar in fig.data] == [[100.0, 100.0], [5.0, 15.0]]
    assert fig.layout.barmode == "relative"
    assert latents.reach([100.0, 100.0], [5.0, 15.0]) == (0, 150)
    assert latents.reach([-20.0, -20.0], [5.0, 75.0]) == (-50, 100)
