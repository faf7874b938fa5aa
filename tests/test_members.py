"""The contracts of its surfaces for every class of the members table."""

from pathlib import Path
from typing import Any

import contracts
import pytest
import torch
from members import IDS, MEMBERS, ROWS, Member, class_of, make

from modules.base import CountModel, Density, Latent, NextToken, Predictor, Sampler
from modules.flow.flow import Flow

SURFACES = (Density, Sampler, Latent, Predictor, NextToken)
every = pytest.mark.parametrize(("name", "number"), ROWS, ids=IDS)


def those(*surfaces: type) -> Any:
    """Every row that offers one of these."""
    rows = [(n, i) for n, i in ROWS if set(surfaces) & set(MEMBERS[n][i].offers)]
    return pytest.mark.parametrize(
        ("name", "number"), rows, ids=[f"{n.rpartition('.')[2]}-{i}" for n, i in rows]
    )


def ready(name: str, number: int, **other: Any) -> tuple[Any, Member]:
    """A small model whose parameters are no zeros: drawn, or counted from its batch."""
    row, model = MEMBERS[name][number], make(name, number, **other)
    if isinstance(model, CountModel):
        return contracts.fitted(model, row.batch).eval(), row
    return contracts.exact(model, scale=0.3), row


@every
def test_it_offers_what_its_row_says(name: str, number: int) -> None:
    model = make(name, number)
    assert {s for s in SURFACES if isinstance(model, s)} == set(MEMBERS[name][number].offers)


@every
def test_resumes_to_the_same_bits(name: str, number: int, tmp_path: Path) -> None:
    contracts.resumes(lambda: make(name, number), MEMBERS[name][number].batch, tmp_path)


@every
def test_training_moves_every_parameter(name: str, number: int) -> None:
    """Adam moves what a gradient reaches, through whatever turns a class takes."""
    row, model = MEMBERS[name][number], make(name, number)
    before = {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}
    contracts.fitted(model, row.batch, epochs=3)
    for n, p in model.named_parameters():
        if n in before:
            assert torch.equal(p, before[n]) == n.startswith(row.still), (
                f"{n} moves, or not, against its row."
            )


@every
def test_of_no_examples_the_answers_are_empty(name: str, number: int) -> None:
    model, row = ready(name, number)
    if not isinstance(row.batch, tuple):  # a graph
        return
    x = row.batch[0] if row.asked is None else row.asked
    x = x.to(model.dtype) if x.is_floating_point() else x
    bounds = ("log_prob",) if isinstance(model, Density) else ("elbo", "iwae")
    for ask in ("encode", "predict", "reconstruct", *bounds):
        if hasattr(model, ask):
            whole = getattr(model, ask)(x, **row.given)
            none = getattr(model, ask)(x[:0], **{k: v[:0] for k, v in row.given.items()})
            assert none.shape == whole[:0].shape and none.dtype == whole.dtype, ask


@those(Sampler)
def test_sampling_is_reproducible(name: str, number: int) -> None:
    import inspect

    model, _ = ready(name, number)
    seeded = "seed" in inspect.signature(model.sample).parameters

    def draw(seed: int) -> torch.Tensor:
        if seeded:
            return model.sample(7, seed=seed)
        return model.sample(7, generator=torch.Generator().manual_seed(seed))

    contracts.reproducible(draw)
    samples = draw(0)
    assert len(samples) == 7 and samples.isfinite().all()

    def trace(seed: int) -> Any:
        if "generator" in inspect.signature(model.sample_trace).parameters:
            return model.sample_trace(generator=torch.Generator().manual_seed(seed))
        return model.sample_trace(seed=seed)

    contracts.trace_replays(trace)


@those(Latent)
def test_codes_of_the_prior_decode(name: str, number: int) -> None:
    model, row = ready(name, number)
    x = row.batch[0]
    x = x.to(model.dtype) if x.is_floating_point() else x
    torch.manual_seed(0)
    with torch.no_grad():
        z = model.prior.sample((len(x),))
        assert z.shape == model.encode(x, **row.given).shape
        result = model.decode(z, **row.given)
    assert result.shape == x.shape and result.isfinite().all()
    assert model.prior.log_prob(z).shape == (len(x),)


@those(Density, Predictor)
def test_each_example_is_judged_alone(name: str, number: int) -> None:
    model, row = ready(name, number)
    if not isinstance(row.batch, tuple):
        pytest.skip("nodes of a graph are not judged alone")
    x = row.batch[0] if row.asked is None else row.asked
    x = x.to(model.dtype) if x.is_floating_point() else x
    ask = model.log_prob if isinstance(model, Density) else model.predict
    with torch.no_grad():
        whole = ask(x, **row.given)
        part = ask(x[2:5], **{k: v[2:5] for k, v in row.given.items()})
    assert len(whole) == len(x)
    torch.testing.assert_close(part, whole[2:5], rtol=0, atol=1e-9)


FLOWS = [
    (n, i) for n, i in ROWS if issubclass(class_of(n), Flow) and "image_shape" not in MEMBERS[n][i].settings
]


@pytest.mark.parametrize(("name", "number"), FLOWS, ids=[f"{n.rpartition('.')[2]}-{i}" for n, i in FLOWS])
def test_a_flow_inverts_with_its_log_determinant(name: str, number: int) -> None:
    model = make(name, number)
    z = torch.randn(4, model.event_dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    exactly = 1e-3 if name.endswith("CNF") else 1e-8  # as it is solved
    contracts.inverts_with_its_log_determinant(model.stack, z, tolerance=exactly, stateless=False)


MASS = [(n, i) for n, i in ROWS if MEMBERS[n][i].mass]


@pytest.mark.parametrize(("name", "number"), MASS, ids=[f"{n.rpartition('.')[2]}-{i}" for n, i in MASS])
def test_the_density_has_mass_one(name: str, number: int) -> None:
    kind = MEMBERS[name][number].mass
    if kind == "plane":
        other = {} if name.endswith("HMM") else {"event_shape": (2,)}
        model = make(name, number, **other)
        points = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)).double()
        if isinstance(model, CountModel):
            contracts.fitted(model, (points,))
        model = model.eval() if isinstance(model, CountModel) else contracts.exact(model, scale=0.3)
        mass = contracts.mass_on_the_plane(lambda x: model.log_prob(x).double(), reach=12.0, cells=481)
        assert mass == pytest.approx(1, abs=2e-3)
        return
    model, _ = ready(name, number)
    if kind == "texts":
        contracts.density_sums_to_one(
            lambda x: model.log_prob(x).double(), (4,), 3, dtype=torch.int64, tolerance=1e-5
        )
    else:
        shape = (6,)
        contracts.density_sums_to_one(
            lambda x: model.log_prob(x.to(model.dtype).reshape(-1, 1, 2, 3)).double(), shape, tolerance=1e-5
        )
