"""Gaussian mixtures: EM against scikit-learn's, from the same start."""

import warnings

import torch
from sklearn.mixture import GaussianMixture as Peer
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from modules.latent.mixture import GaussianMixture

STEPS = 5


def measure(quick: bool = False) -> list[Row]:
    """`STEPS` steps of EM on 100,000 points; both sides must reach the same likelihood."""
    count, features, components, repeats = (200, 2, 2, 3) if quick else (100_000, 8, 10, 5)
    generator = torch.Generator().manual_seed(0)
    centres = 4 * torch.randn(components, features, generator=generator, dtype=torch.float64)
    part = torch.randint(components, (count,), generator=generator)
    x = centres[part] + torch.randn(count, features, generator=generator, dtype=torch.float64)
    rows = []
    for kind in ("full", "diag"):
        model = GaussianMixture((features,), components, kind, floor=1e-6)  # type: ignore[arg-type]
        model.initialize(x, generator)
        start = {name: buffer.clone() for name, buffer in model.named_buffers()}
        precision = torch.linalg.inv(model.gaussians.matrices)

        def ours(model: GaussianMixture = model, start: dict[str, Tensor] = start) -> float:
            for name, buffer in model.named_buffers():
                buffer.copy_(start[name])
            return model.fit(x, STEPS)[-1] / count

        peer_model = Peer(
            components,
            covariance_type=kind,
            reg_covar=0,
            tol=0,
            max_iter=STEPS,
            weights_init=model.weights.numpy().copy(),
            means_init=model.gaussians.means.numpy().copy(),
            precisions_init=(precision if kind == "full" else precision.diagonal(dim1=1, dim2=2)).numpy(),
        )

        def peer(peer_model: Peer = peer_model) -> float:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that five steps do not converge
                return float(peer_model.fit(x.numpy()).score(x.numpy()[:1000]))

        ours()
        peer()
        result = float(model.log_prob(x[:1000]).mean())
        if abs(result - peer()) > 1e-6 * abs(result):
            raise AssertionError(f"scikit-learn reaches {peer()}, we {result}.")
        case = f"{STEPS} steps of EM, {count:,} × {features}, K = {components}, {kind}"
        pairs = interleaved(ours, peer, repeats, warmup=1)
        rows.append(paired_row("mixture", case, pairs, "≤ 2", "peer: scikit-learn"))
    return rows
