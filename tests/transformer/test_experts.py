"""Experts by hand: the router's weights, who runs, the balance, and what a full expert refuses."""

import contracts
import pytest
import torch

from modules.transformer.experts import Experts, Routing, balance, record_routing
from modules.transformer.gpt import GPT


def made(**kwargs) -> Experts:
    return contracts.exact(Experts(**({"width": 6, "hidden": 5, "experts": 4, "active": 2} | kwargs)))


def routed(z: list[list[float]], active: int) -> Routing:
    """Routing of tokens whose logits are z."""
    layer = Experts(4, 3, 4, active).double()
    with torch.no_grad():
        layer.router.weight.copy_(torch.eye(4))
    return layer.route(torch.tensor(z, dtype=torch.float64))


def tokens(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


def test_weights_are_one_softmax_over_the_chosen():
    z, outputs = [[2.0, 1.0, 0.0, -1.0]], torch.tensor([10.0, 20.0, 30.0, 40.0], dtype=torch.float64)
    routing = routed(z, 2)
    assert routing.chosen.tolist() == [[0, 1]]
    assert routing.weights[0].tolist() == pytest.approx([0.731059, 0.268941], abs=1e-6)
    assert routing.probabilities[0].tolist() == pytest.approx(
        [0.643914, 0.236883, 0.087144, 0.032059], abs=1e-6
    )
    chosen = outputs[routing.chosen[0]]
    assert (routing.weights[0] @ chosen).item() == pytest.approx(12.689414, abs=1e-6)
    full = routing.probabilities[0]
    # without renormalising, and with a softmax before and after the choice, as a text has it
    assert (full[:2] @ chosen).item() == pytest.approx(11.176799, abs=1e-6)
    assert (full[:2].softmax(0) @ chosen).item() == pytest.approx(13.996241, abs=1e-6)
    dense = routed(z, 4)
    assert (dense.weights[0] @ outputs[dense.chosen[0]]).item() == pytest.approx(15.073473, abs=1e-6)


def test_output_is_a_loop_over_tokens_and_exactly_k_experts_run_for_each(monkeypatch):
    layer, x, rows = made(), tokens(2, 7, 6), []
    run = Experts.expert
    monkeypatch.setattr(Experts, "expert", lambda self, i, x: rows.append(len(x)) or run(self, i, x))
    y = layer(x)
    assert sum(rows) == 2 * 7 * 2 and len(rows) <= 4
    for b in range(2):
        for t in range(7):
            z = layer.router(x[b, t])
            top, chosen = z.topk(2)
            expected = sum(
                w * (torch.nn.functional.gelu(x[b, t] @ layer.up[i]) @ layer.down[i])
                for w, i in zip(top.softmax(0), chosen, strict=True)
            )
            torch.testing.assert_close(y[b, t], expected, atol=1e-12, rtol=0)


def test_equal_experts_are_one_and_their_order_means_nothing():
    layer, x = made(), tokens(9, 6)
    order = torch.tensor([2, 0, 3, 1])
    before = layer(x)
    with torch.no_grad():
        for p in (layer.router.weight, layer.up, layer.down):
            p.copy_(p[order].clone())
    torch.testing.assert_close(layer(x), before, atol=1e-12, rtol=0)
    with torch.no_grad():
        layer.up.copy_(layer.up[:1].expand(4, -1, -1).clone())
        layer.down.copy_(layer.down[:1].expand(4, -1, -1).clone())
    torch.testing.assert_close(layer(x), layer.expert(0, x), atol=1e-12, rtol=0)


def test_gradients_reach_chosen_experts_and_the_router():
    for active in (1, 2):
        layer, x = made(active=active), tokens(3, 6)
        with record_routing() as seen:
            layer(x).pow(2).sum().backward()
        chosen = set(seen.calls[layer][0].chosen.flatten().tolist())
        for i in range(4):
            assert bool(layer.up.grad[i].any()) == (i in chosen)
        assert layer.router.weight.grad.abs().max() > 0


def test_balance_by_hand_and_not_bounded_by_one():
    z = [[2.0, 1.0, 0.0, -1.0], [0.0, 2.0, 1.0, -1.0], [1.0, 0.0, 2.0, -1.0], [2.0, 0.0, 1.0, -1.0]]
    assert balance(routed(z, 1)).item() == pytest.approx(1.370905, abs=1e-6)
    assert balance(routed(z, 2)).item() == pytest.approx(1.320026, abs=1e-6)
    assert balance(routed([[10.0, 0, 0, 0]], 1)).item() == pytest.approx(3.999455, abs=1e-6)
    uniform = Routing(torch.full((4, 4), 0.25), torch.arange(4)[:, None], torch.ones(4, 1), torch.ones(4, 1))
    assert balance(uniform).item() == 1
    layer = Experts(2, 3, 2, 1).double()
    with torch.no_grad():
        layer.router.weight.copy_(torch.eye(2))
    z2 = torch.tensor([[0.01, 0.0]] * 3 + [[-6.0, 0.0]], dtype=torch.float64)
    assert balance(layer.route(z2)).item() == pytest.approx(0.877493, abs=1e-6)


def test_parameters_grow_with_experts_and_active_ones_with_k():
    layer = Experts(512, 2048, 8, 2)
    assert layer.up.numel() + layer.down.numel() == 16_777_216
    assert (layer.up[0].numel() + layer.down[0].numel()) * layer.active == 4_194_304
    assert layer.router.weight.numel() == 4_096


def test_a_full_expert_refuses_later_tokens_and_second_choices():
    layer = made(experts=2, active=1, capacity=1.0)
    with torch.no_grad():
        layer.router.weight.zero_()
        layer.router.weight[0, 0] = 1.0
    x = tokens(6, 6).abs()  # all want expert 0, which has room for 3
    with record_routing() as seen:
        y = layer(x)
    assert seen.calls[layer][0].kept[:, 0].tolist() == [True] * 3 + [False] * 3
    assert y[:3].any(1).all() and not y[3:].any()
    wide = made(experts=8, active=1, capacity=1.25)
    assert wide.route(tokens(64, 6)).kept.shape == (64, 1)
    line = torch.zeros(64, 6, dtype=torch.float64)  # equal logits: all choose one
    assert int(wide.route(line).kept.sum()) == 10  # ⌈1.25 · 64 / 8⌉


def test_nothing_to_route_and_a_bad_start():
    assert made()(tokens(0, 6)).shape == (0, 6)
    biased = Experts(6, 5, 4, 1, router_start=5.0).double()
    assert biased.route(tokens(50, 6)).load[0] > 0.8


def test_a_gpt_of_experts_adds_the_balance_in_training_alone():
    settings = {"vocab_size": 7, "context": 6, "layers": 2, "heads": 2, "width": 8, "feedforward": "experts"}
    plain = contracts.exact(GPT(**settings, expert_options={"experts": 3, "active": 1}))
    model = contracts.exact(GPT(**settings, expert_options={"experts": 3, "active": 1}, balance_weight=0.5))
    model.load_state_dict(plain.state_dict())
    batch = tuple(torch.randint(7, (2, 6), generator=contracts.seeded(i)) for i in range(2))
    with record_routing() as seen:
        plain(batch[0])
    nll = plain.step(batch, "train")
    torch.testing.assert_close(model.step(batch, "val"), nll)
    expected = nll + 0.5 * sum(balance(call) for calls in seen.calls.values() for call in calls)
    torch.testing.assert_close(model.step(batch, "train"), expected)
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"active": 5}, "there are 4 experts"),
        ({"capacity": 0.0}, "must be above 0"),
        ({"activation": "tanh"}, "choose one of gelu"),
        ({"experts": 0}, "experts is 0"),
    ],
)
def test_bad_input_gets_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        made(**settings)
    with pytest.raises(ValueError, match="has no experts"):
        GPT(5, balance_weight=0.1)
