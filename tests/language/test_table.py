"""The table of all conditionals, against the joint."""

import contracts
import pytest
import torch

from modules.base import Density, NextToken
from modules.language.table import TableLM


def random_joint(V=3, T=4):
    joint = torch.rand((V,) * T, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return joint / joint.sum()


def test_chain_rule_gives_the_joint_back():
    joint = random_joint()
    model = TableLM.from_joint(joint)
    strings = contracts.configurations((4,), 3)
    torch.testing.assert_close(model.log_prob(strings).exp(), joint.flatten(), rtol=0, atol=1e-12)
    contracts.density_sums_to_one(model.log_prob, (4,), num_categories=3, dtype=torch.int64)
    contracts.next_tokens_make_the_density(model.next_log_probs, model.log_prob, strings)


def test_it_sums_to_one_per_length_so_lengths_one_to_three_make_three():
    model = TableLM.from_joint(random_joint(2, 3))
    mass = [model.log_prob(contracts.configurations((T,), 2)).exp().sum().item() for T in (1, 2, 3)]
    assert mass == pytest.approx([1, 1, 1], abs=1e-12)


def test_with_eos_the_mass_of_short_strings_is_a_geometric_sum():
    # token 0 ends with probability .2 at each step; V = 3
    model = TableLM([torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64).expand(3**t, 3) for t in range(10)])
    mass = 0.0
    for t in range(1, 11):  # t − 1 tokens that are not EOS, then EOS: all prefixes at once
        prefixes = contracts.configurations((t - 1,), 2) + 1 if t > 1 else torch.zeros(1, 0).long()
        ended = torch.cat([prefixes, torch.zeros(len(prefixes), 1).long()], 1)
        mass += model.log_prob(ended).exp().sum().item()
    assert mass == pytest.approx(0.8926258, abs=5e-8)
    assert mass == pytest.approx(1 - 0.8**10, abs=1e-12)


def test_rows_that_are_not_named_are_uniform():
    model = TableLM.from_rows(2, 2, {(): (0.6, 0.4), (1,): (0.95, 0.05)})
    rows = model.next_log_probs(torch.tensor([[0], [1]])).exp()
    torch.testing.assert_close(rows, torch.tensor([[0.5, 0.5], [0.95, 0.05]], dtype=torch.float64))
    assert isinstance(model, NextToken) and isinstance(model, Density)


def test_refusals():
    with pytest.raises(ValueError, match="no distribution"):
        TableLM([torch.tensor([[0.6, 0.6]])])
    with pytest.raises(ValueError, match=r"table 1 is \(1, 2\)"):
        TableLM([torch.tensor([[0.6, 0.4]]), torch.tensor([[0.6, 0.4]])])
    with pytest.raises(ValueError, match="ends after 1"):
        TableLM([torch.tensor([[0.6, 0.4]])]).next_log_probs(torch.zeros(1, 1).long())
