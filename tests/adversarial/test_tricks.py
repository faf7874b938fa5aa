"""Switches against unsteadiness and collapse: what each changes in a loss, and games of other shapes."""

import math
from pathlib import Path
from typing import Any

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.gan import GAN
from modules.adversarial.madgan import MADGAN, Generators
from modules.adversarial.tricks import TrickGAN
from modules.adversarial.veegan import VEEGAN

SMALL: dict[str, Any] = {"hidden": [8], "latent_dim": 3, "ema": 0.0}
X = torch.randn(12, 2, generator=torch.Generator().manual_seed(5))


def seed(n: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(n)


def small_gan(kind: type[GAN], **settings: Any) -> Any:
    torch.manual_seed(0)
    return kind(**SMALL, **settings)


@pytest.mark.parametrize("loss", ["non-saturating", "hinge", "relativistic"])
def test_without_switches_it_is_the_plain_game(loss: str) -> None:
    plain, tricks = small_gan(GAN, loss=loss), small_gan(TrickGAN, loss=loss)
    for turn in ("d_update_loss", "g_update_loss"):
        assert torch.equal(getattr(plain, turn)(X, seed()), getattr(tricks, turn)(X, seed()))


def test_smoothed_labels_have_the_best_d_of_the_formula() -> None:
    """GA-O11: p = ½, q = ⅕, α = 0.9: D* = 0.642857, where the loss is least."""
    model, p, q = small_gan(TrickGAN, smoothing=0.9), 0.5, 0.2
    f = torch.linspace(-3, 3, 60_001, dtype=torch.float64)
    sp = nn.functional.softplus
    value = p * (sp(-f) + (1 - model.smoothing) * f) + q * sp(f)
    assert f[value.argmin()].sigmoid().item() == pytest.approx(0.642857, abs=1e-4)
    model.discriminate = lambda x, **given: x[:, 0]
    real, fake = torch.tensor([[0.7, 0.0]]), torch.tensor([[-0.4, 0.0]])
    result = model.d_loss(real, fake)
    wanted = 0.9 * sp(-real[0, 0]) + 0.1 * sp(real[0, 0]) + sp(fake[0, 0])
    assert float(result) == pytest.approx(float(wanted), abs=1e-6)


def test_noise_reaches_both_batches_of_d() -> None:
    model = small_gan(TrickGAN, instance_noise=0.5)
    results: list[Tensor] = []

    def watched(x: Tensor, **given: Any) -> Tensor:
        results.append(x)
        return x[:, 0]

    model.discriminate = watched
    model.d_update_loss(torch.zeros(4000, 2), seed())
    assert float(results[0].std()) == pytest.approx(0.5, rel=0.05)
    clean = small_gan(TrickGAN)
    with torch.no_grad():
        before = clean.generator(clean.noise(4000, seed()))
    assert float((results[1] - before).std()) == pytest.approx(0.5, rel=0.05)


def test_history_gives_back_half_of_old_ones() -> None:
    model = small_gan(TrickGAN, history=8)
    old, new = torch.zeros(8, 2), torch.ones(8, 2)
    assert torch.equal(model.mix_history(old, seed()), old) and model.filled == 8
    shown = model.mix_history(new, seed())
    assert shown[:, 0].tolist() == [1] * 4 + [0] * 4
    assert sorted(model.kept[:, 0].tolist()) == [0] * 4 + [1] * 4
    assert "kept" not in model.state_dict()
    assert torch.equal(small_gan(TrickGAN).mix_history(new, seed()), new)


def test_the_best_half_alone_is_learned_from() -> None:
    model = small_gan(TrickGAN, top_share=0.5)
    fakes: list[Tensor] = []
    judge = model.discriminate

    def watched(x: Tensor, **given: Any) -> Tensor:
        x.retain_grad()
        fakes.append(x)
        return judge(x)

    model.discriminate = watched
    model.g_update_loss(X, seed()).backward()
    (fake,) = fakes
    learned = fake.grad.abs().sum(1) > 0  # type: ignore[union-attr]
    best = judge(fake).topk(6).indices
    assert learned.sum() == 6 and bool(learned[best].all())
    assert bool(small_gan(TrickGAN, top_share=0.5, loss="relativistic").g_update_loss(X, seed()).isfinite())


def test_seeking_and_orthogonality_are_added_to_g() -> None:
    plain = small_gan(TrickGAN).g_update_loss(X, seed())
    model = small_gan(TrickGAN, mode_seeking=2.0)
    z = model.noise(12, seed())
    x = model.generator(z)
    ratio = ((x[:6] - x[6:]).norm(dim=1) / (z[:6] - z[6:]).norm(dim=1)).mean()
    result = model.g_update_loss(X, seed())
    assert float((result - plain).detach()) == pytest.approx(float(2 / (ratio.detach() + 1e-5)), rel=1e-4)
    model = small_gan(TrickGAN, orthogonal=0.5)
    w = model.generator[0].weight
    gram = w.T @ w
    off = (gram - gram.diagonal().diag()).square().sum()
    assert float(model.g_update_loss(X, seed()) - plain) == pytest.approx(float(off / 2), rel=1e-3)


def test_generators_that_are_told_apart() -> None:
    model = small_gan(MADGAN, generators=3)
    z = model.noise(9, seed())
    x = model.generator(z)
    for row in range(9):
        assert torch.allclose(x[row], model.generator.networks[row % 3](z[row : row + 1])[0])
    first = [network[0].weight for network in model.generator.networks]
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[1], first[2])
    nn.init.zeros_(model.discriminator.head.weight)
    nn.init.zeros_(model.discriminator.head.bias)
    assert float(model.d_update_loss(X, seed())) == pytest.approx(4 * math.log(4))
    assert float(model.g_update_loss(X, seed())) == pytest.approx(math.log(4))  # −log of a share of ¼
    # examples that carry the name of who made them cost nothing
    model.logits = lambda x: 100 * F.one_hot(x[:, 0].long(), 4).float()
    of_three = torch.arange(9.0)[:, None] % 3
    assert float(model.d_loss(torch.full((9, 1), 3.0), of_three)) == pytest.approx(0.0, abs=1e-6)
    # a name as likely as "real" is a logit of 0
    best = torch.tensor([[1e9, -1e9, -1e9, 1e9]] * 4)
    model.logits = lambda x: best[: len(x)]
    assert float(model.discriminate(X[:4])[0]) == pytest.approx(0.0, abs=1e-3)
    assert Generators([nn.Identity(), nn.Identity()])(z).equal(z)


def test_noise_that_is_found_again() -> None:
    model = small_gan(VEEGAN, weight=1.0)
    without = small_gan(VEEGAN, weight=0.0)
    z = model.noise(12, seed())
    lost = (z - model.reconstructor(model.generator(z))).square().sum(1).mean()
    gap = model.g_update_loss(X, seed()) - without.g_update_loss(X, seed())
    assert float(gap) == pytest.approx(float(lost), rel=1e-4)
    model.d_update_loss(X, seed()).backward()
    assert all(p.grad is None for p in [*model.reconstructor.parameters(), *model.generator.parameters()])
    assert len(model.players()["generator"]) == len(without.players()["generator"]) == 4 + 4
    assert torch.equal(model.discriminate(X), model.discriminate(X, model.reconstructor(X)))


@pytest.mark.parametrize("model", [
    lambda: small_gan(
            TrickGAN, history=16, instance_noise=0.1, top_share=0.5, mode_seeking=0.1, orthogonal=0.1,
            smoothing=0.9,
        ),
    lambda: small_gan(MADGAN), lambda: small_gan(VEEGAN),
])  # fmt: skip
def test_a_turn_of_each_moves_its_own_weights_and_samples_replay(model: Any) -> None:
    game = model()
    players = game.players()
    for player, loss in game.updates(X, seed()):
        moved = torch.autograd.grad(loss, players[player], allow_unused=True)
        assert all(g is not None and bool(g.isfinite().all()) for g in moved)
    contracts.reproducible(lambda n: game.sample(5, generator=seed(n)))


@pytest.mark.parametrize("kind", [TrickGAN, MADGAN, VEEGAN])
def test_each_survives_a_life(kind: type[GAN], tmp_path: Path) -> None:
    model = small_gan(kind)
    labels = torch.zeros(len(X), dtype=torch.int64)
    contracts.survives_a_life(model, (X, labels), lambda one: one.sample(3, generator=seed(0)), tmp_path)


@pytest.mark.parametrize(
    ("kind", "settings", "text"),
    [
        (TrickGAN, {"smoothing": 0.0}, "smoothing is 0"),
        (TrickGAN, {"smoothing": 0.9, "loss": "hinge"}, "loss with labels"),
        (TrickGAN, {"top_share": 1.5}, "top_share is 1.5"),
        (TrickGAN, {"top_share": float("nan")}, "top_share is nan"),
        (TrickGAN, {"instance_noise": -1.0}, "instance_noise"),
        (MADGAN, {"generators": 1}, "generators is 1"),
        (MADGAN, {"loss": "Wasserstein", "penalty": 1.0}, "loss with log D"),
        (MADGAN, {"pack": 2}, "leave pack"),
        (VEEGAN, {"weight": -1.0}, "weight"),
        (VEEGAN, {"pack": 2}, "pairs"),
    ],
)
def test_what_does_not_go_is_said(kind: type[GAN], settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        small_gan(kind, **settings)
