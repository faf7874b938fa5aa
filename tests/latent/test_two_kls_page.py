"""Two KLs: the identities by sums written out, infinities, own tables."""

import math

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, open_warned, prose, run_page, spoken, warnings

from pages.latent.two_kls import lens


def test_default_numbers() -> None:
    """LV-O26, by loops."""
    q_d, q, p_z, p = [0.7, 0.3], [[0.8, 0.2], [0.1, 0.9]], [0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]]
    p_x = [sum(p_z[z] * p[z][x] for z in (0, 1)) for x in (0, 1)]
    negative = sum(q_d[x] * q[x][z] * math.log(q[x][z] / (p_z[z] * p[z][x])) for x in (0, 1) for z in (0, 1))
    marginal = sum(q_d[x] * math.log(q_d[x] / p_x[x]) for x in (0, 1))
    entropy = -sum(v * math.log(v) for v in q_d)
    assert negative == pytest.approx(0.639624, abs=1e-6)
    page = open_page("latent/two_kls")
    bar = film(page, "lam")
    assert spoken(bar["equations"][-1]) == pytest.approx(
        [marginal, negative - marginal - entropy, entropy, negative], abs=6e-4
    )
    assert "z carries 0.229 nats" in bar["captions"][-1] and "rate of 0.245" in bar["captions"][-1]
    assert "would end at 0.411" in prose(page) and "H(q_D) = 0.611" in prose(page)
    assert "z carries 0.000 nats about x at a rate of 0.000" in bar["captions"][0]  # collapsed
    assert spoken(bar["equations"][0])[-1] > negative


def test_columns_have_one_height() -> None:
    frames = figure(open_page("latent/two_kls", printed="true"), "bars")[1]
    end = {i: frames[f"data.{i}.base"] + frames[f"data.{i}.y"] for i in range(9)}
    whole = end[0][:, 0]
    assert end[4][:, 1] == pytest.approx(whole, abs=1e-5) and end[4][:, 2] == pytest.approx(whole, abs=1e-5)
    assert end[7][:, 4] == pytest.approx(end[5][:, 3], abs=1e-5)
    level = frames["data.10.y"][:, 0]
    assert (whole > level).all() and end[1][-1, 5] < level[-1] and end[8][-1, 6] < level[-1]  # E1, E2


def test_the_bound_cannot_tell_use_from_collapse() -> None:
    """LV-O46."""
    unused = film(open_page("latent/two_kls", data="1 1", decoder="1 1; 1 1", lam=0.0), "lam")
    used = film(open_page("latent/two_kls", data="1 1", decoder="1 0; 0 1", inference="posterior"), "lam")
    assert spoken(unused["equations"][0])[-1] == spoken(used["equations"][-1])[-1] == 0.693
    assert "carries 0.000" in unused["captions"][0] and "carries 0.693" in used["captions"][-1]
    assert "rules out" in used["captions"][10] and "∞" in used["equations"][10].replace("&#x0221E;", "∞")


def test_the_exact_posterior_leaves_one_kl() -> None:
    bar = film(open_page("latent/two_kls", inference="posterior"), "lam")
    assert spoken(bar["equations"][-1])[1] == 0.0 and spoken(bar["equations"][-1])[0] > 0.005


def test_three_values_and_bad_rows() -> None:
    three = {"data": "5 3 2", "prior": "1 1 1", "decoder": "6 2 2; 2 6 2; 1 1 8"}
    page = open_page("latent/two_kls", own="6 3 1; 2 7 1; 1 2 7", **three)
    assert figure(page, "joints")[1]["data.1.y"].shape == (21, 9)
    page = open_warned("latent/two_kls", own="6 3 q 1; 2 7 1", **three)
    assert "“q” is left out" in warnings(page) and film(page, "lam")["count"] == 21
    assert "Give 2 to 4 weights" in warnings(run_page("latent/two_kls", data="7"))
    result, text = lens.rows("1 1; 0 0", 3, 2)
    assert torch.equal(result, torch.full((3, 2), 0.5, dtype=torch.float64)) and "Row 2 has no weight" in text
    assert "There are 1 rows" in lens.rows("1 3", 2, 2)[1]
    assert np.isfinite(lens.rows("", 2, 2)[0].numpy()).all()
