"""Training one step at a time: the same numbers as a plain loop, stopped and gone on with at will."""

import torch

from lab.lenses.training import training_steps, watch


def problem(seed: int = 0):
    """A linear fit on fresh batches: its loss, its parameters."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(3, 1, generator=generator, dtype=torch.float64).requires_grad_()

    def loss() -> torch.Tensor:
        x = torch.randn(8, 3, generator=generator, dtype=torch.float64)
        return (x @ weight - x.sum(1, keepdim=True)).square().mean()

    return loss, weight


def test_steps_are_those_of_a_plain_loop():
    loss, weight = problem()
    optimizer = torch.optim.Adam([weight], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    expected = []
    for _ in range(6):
        now = loss()
        expected.append((now.item(), weight.detach().clone()))
        optimizer.zero_grad()
        now.backward()
        torch.nn.utils.clip_grad_norm_([weight], 0.5)
        optimizer.step()
        schedule.step()

    loss, weight = problem()
    optimizer = torch.optim.Adam([weight], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    with torch.no_grad():  # as a page may be
        results = [
            (done, value, weight.detach().clone())
            for done, value in training_steps(loss, optimizer, 5, schedule, clip=0.5)
        ]
    assert [done for done, *_ in results] == list(range(6))
    for (_, value, reached), (then, was) in zip(results, expected, strict=True):
        assert value == then and torch.equal(reached, was)


def test_it_stops_where_it_is_left_and_goes_on_from_there():
    loss, weight = problem()
    whole = [value for _, value in training_steps(loss, torch.optim.SGD([weight], 0.1), 9)]
    loss, weight = problem()
    steps = training_steps(loss, torch.optim.SGD([weight], 0.1), 9)
    first = [next(steps)[1] for _ in range(4)]
    before = weight.detach().clone()
    assert torch.equal(weight, before)  # nothing moves until the next is asked for
    assert first + [value for _, value in steps] == whole


def test_what_is_not_trained_gets_no_gradient():
    weight, fixed = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    list(training_steps(lambda: (weight * fixed).sum(), torch.optim.SGD([weight], 0.1), 2))
    assert fixed.grad is None and not torch.equal(weight, torch.ones(2))


def test_a_watched_training_hands_out_lists_that_stay():
    loss, weight = problem()
    steps = training_steps(loss, torch.optim.SGD([weight], 0.1), 4)
    kept = list(watch(4, steps))
    assert [share for share, _ in kept] == [0, 0.25, 0.5, 0.75, 1]
    assert [len(looks) for _, looks in kept] == [1, 2, 3, 4, 5]
    assert all(looks == kept[-1][1][: len(looks)] for _, looks in kept)
