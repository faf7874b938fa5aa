"""What every flow does with a class or a context: a density for each, or a sentence."""

import contracts
import pytest
import torch
from members import MEMBERS, class_of, make

from modules.flow.flow import Flow

FLOWS = [name for name in MEMBERS if issubclass(class_of(name), Flow) and not name.endswith("Glow")]
flows = pytest.mark.parametrize("name", FLOWS, ids=[name.rpartition(".")[2] for name in FLOWS])
C = torch.tensor([[0.5, -1.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0], [-0.3, 0.1, 0.9, 0.2]], dtype=torch.float64)


@flows
def test_a_context_conditions_a_bijection(name: str) -> None:
    z = torch.randn(3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model = make(name, event_shape=(3,), context=4)
    contracts.inverts_with_its_log_determinant(model, z, C, tolerance=1e-7, scale=0.2)
    context = C.clone().requires_grad_()
    (moved,) = torch.autograd.grad(model.log_prob(z, context).sum(), context)
    assert moved.any(1).all(), "the density does not depend on the context"


@flows
def test_each_class_has_a_density_of_its_own(name: str) -> None:
    model = contracts.exact(make(name, event_shape=(2,), conditional=True, num_classes=2), scale=0.2)
    ways = model.context_of(torch.arange(2))
    for way in ways:
        mass = contracts.mass_on_the_plane(lambda x: model.log_prob(x, way.expand(len(x), -1)), 10.0, 201)  # noqa: B023
        assert mass == pytest.approx(1, abs=2e-3)
    x = torch.zeros(2, 2, dtype=torch.float64)
    assert model.log_prob(x, ways).diff().abs() > 1e-4


@flows
def test_training_tells_two_classes_apart(name: str) -> None:
    y = torch.arange(40) % 2
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)) * 0.3 + (2.0 * y - 1)[:, None]
    for more in ({"conditional": True, "num_classes": 2}, {"context": 1}):
        model = make(name, event_shape=(2,), **more)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        for _ in range(80):
            optimizer.zero_grad()
            model.step((x, y), "train").backward()
            optimizer.step()
        with torch.no_grad():
            right, wrong = (
                model.eval().log_prob(x, model.context_of(result)).mean() for result in (y, 1 - y)
            )
        assert right > wrong + 0.1, "what is told of y is not used"


@flows
def test_a_context_that_does_not_fit_is_refused(name: str) -> None:
    x = torch.zeros(3, 2, dtype=torch.float64)
    result, plain = (make(name, event_shape=(2,), context=c).double().eval() for c in (4, 0))
    assert result.sample(5, context=C[0], generator=torch.Generator().manual_seed(0)).shape == (5, 2)
    for ask, sentence in (
        (lambda: result.log_prob(x), "give it a context"),
        (lambda: result.sample(3), "give it a context"),
        (lambda: result.log_prob(x, C[:, :3]), "has 3 numbers per example, the model 4"),
        (lambda: plain.log_prob(x, C), "leave the context out"),
        (
            lambda: make(name, event_shape=(2,), context=4, conditional=True, num_classes=2),
            "a class or numbers",
        ),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask()
