"""Every contract for every member of every family; and that each contract can fail."""

import itertools
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import contracts
import members as table
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.bayesnet import BayesNet, NeighbourNet
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.made import MADE
from modules.autoregressive.markov import MarkovChain
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import PixelCNN, PixelModel
from modules.autoregressive.tables import ChainRuleTable, JointTable
from modules.autoregressive.untied import Untied
from modules.base import CountModel, NextToken
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d
from modules.convolution.mlp import MLP
from modules.graph.gat import GAT
from modules.graph.gcn import GCN
from modules.graph.nodes import NodeClassifier
from modules.language.bengio import Bengio
from modules.language.count_vectors import CountSVD
from modules.language.decoding import TextDecoder
from modules.language.ngram import NGram
from modules.language.word2vec import CBOW, SkipGram
from modules.latent.em import EMModel
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.gtm import GTM
from modules.latent.hmm import HMM
from modules.latent.kmeans import KMeans
from modules.latent.mixture import GaussianMixture
from modules.latent.pca import PCA
from modules.latent.ppca import PPCA
from modules.latent.vae import VAE
from modules.trace import Step, Trace
from modules.transformer.gpt import GPT


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def bits(batch: int, n: int, seed: int = 0) -> Tensor:
    return torch.rand(batch, n, generator=seeded(seed), dtype=torch.float64).round()


def others(known: Iterable[Callable[[], Any]], offers: Callable[[Any], bool]) -> dict[str, tuple[str, int]]:
    """The rows of the members table that offer something and whose classes no list here knows yet: a new
    class is one row there, and keeps every contract of its surface."""
    here = {type(make()) for make in known}
    rows = {f"{name.rpartition('.')[2]}, row {i}": (name, i) for name, i in table.ROWS}
    return {
        title: row
        for title, row in rows.items()
        if table.class_of(row[0]) not in here and offers(table.make(*row))
    }


# --- autoregressive ----------------------------------------------------------------------------

MADES: dict[str, Callable[[], MADE]] = {
    "one layer": lambda: MADE(event_shape=(6,), hidden=[16]),
    "direct": lambda: MADE(event_shape=(2, 3), hidden=[4], direct=True),
    "deep, random degrees": lambda: MADE(event_shape=(6,), hidden=[12, 9, 12], degrees="random", seed=2),
    "another order": lambda: MADE(event_shape=(6,), hidden=[16], order=[3, 0, 5, 1, 4, 2]),
    "pool of orders": lambda: MADE(event_shape=(6,), hidden=[16], num_orders=3),
    "several masks": lambda: MADE(event_shape=(6,), hidden=[16], degrees="random", num_masks=3),
    "fresh orders": lambda: MADE(event_shape=(6,), hidden=[16], num_orders=0, ensemble=4),
    "ten variables": lambda: MADE(event_shape=(10,), hidden=[12], order="reversed"),
}
MEMBERS: dict[str, Callable[[], Autoregressive]] = {
    **{f"MADE, {name}": make for name, make in MADES.items()},
    "FVSBN": lambda: FVSBN(event_shape=(6,)),
    "FVSBN, another order": lambda: FVSBN(event_shape=(2, 3), order=[3, 0, 5, 1, 4, 2]),
    "untied": lambda: Untied(event_shape=(6,), hidden=3),
    "untied, another order": lambda: Untied(event_shape=(2, 3), hidden=3, order=[3, 0, 5, 1, 4, 2]),
    "NADE": lambda: NADE(event_shape=(6,), hidden=5),
    "NADE, chunks of 2, reversed": lambda: NADE(event_shape=(2, 3), hidden=4, chunk=2, order="reversed"),
    "NADE, 3 values": lambda: NADE(event_shape=(4,), hidden=5, num_categories=3, chunk=7),
    "NADE, 3 values, one-hot": lambda: NADE(
        event_shape=(4,), hidden=5, num_categories=3, one_hot=True, order="random"
    ),
    "PixelCNN": lambda: PixelCNN(image_shape=(1, 2, 3), channels=8, layers=2, positions=True),
    "PixelCNN, colours": lambda: PixelCNN(image_shape=(3, 1, 2), channels=6, layers=1, bottleneck=6),
    "PixelCNN, 3 values": lambda: PixelCNN(image_shape=(1, 2, 2), num_categories=3, channels=8, layers=1),
    "Gated PixelCNN": lambda: GatedPixelCNN(image_shape=(1, 2, 3), channels=8, layers=2),
}
members = pytest.mark.parametrize("make", MEMBERS.values(), ids=MEMBERS)


def ready(model: Any) -> Any:
    """A model, counted where it counts."""
    return counted(model) if isinstance(model, CountModel) else model


def counted(model: Any) -> Any:
    """A model that counts, after 40 random examples."""
    model.count((entries(model, 40),))
    return model


COUNTED: dict[str, Callable[[], Any]] = {
    "joint table": lambda: counted(JointTable((5,))),
    "joint table, 3 values": lambda: counted(JointTable((3,), num_categories=3)),
    "chain-rule table": lambda: counted(ChainRuleTable((5,), order=[3, 0, 1, 4, 2])),
    "Bayesian network": lambda: counted(BayesNet((5,), [[2, 4], [], [1], [0, 2, 1], []])),
    "Bayesian network, 3 values": lambda: counted(BayesNet((4,), [[], [0], [0, 1], [1]], num_categories=3)),
    "neighbours": lambda: counted(NeighbourNet((1, 2, 3))),
    "neighbours, shared": lambda: counted(NeighbourNet((1, 2, 3), "neighbours12", shared=True)),
    "chain": lambda: counted(MarkovChain((2, 3), memory=2)),
    "chain, homogeneous": lambda: counted(MarkovChain((6,), homogeneous=True)),
}
EVERYONE: dict[str, Callable[[], Any]] = {
    **MEMBERS,
    **COUNTED,
    "Gated PixelCNN, classes": lambda: GatedPixelCNN(
        image_shape=(1, 2, 3), channels=4, layers=1, conditional=True, num_classes=3
    ),
}


def entries(model: Autoregressive, batch: int, seed: int = 0) -> Tensor:
    """(batch, n) values of the model's variables, float64."""
    return torch.randint(model.num_categories, (batch, model.n), generator=seeded(seed)).double()


EVERYONE |= {
    title: lambda row=row: ready(table.make(*row))
    for title, row in others(
        EVERYONE.values(), lambda m: isinstance(m, Autoregressive) and m.num_categories > 0
    ).items()
}
everyone = pytest.mark.parametrize("make", EVERYONE.values(), ids=EVERYONE)


class TestAutoregressive:
    @everyone
    def test_density_sums_to_one(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        contracts.density_sums_to_one(model.log_prob, (model.n,), model.num_categories)

    @everyone
    def test_one_pass_conditionals_are_those_of_the_sampler(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        order = model.component_order(0)
        x = entries(model, 8)

        def conditionals(x: Tensor) -> Tensor:
            return model.conditionals(x, order).reshape(len(x), model.n, -1)

        contracts.one_pass_equals_sequential(conditionals, x, order.tolist())
        drawn = model.sample_trace(order=order, generator=seeded(4)).result
        at_once = model.conditionals(drawn["x"][None], order, drawn["index"])[0]
        torch.testing.assert_close(drawn["model_p"], at_once, rtol=0, atol=1e-12)
        if model.num_categories == 2:
            contracts.conditionals_make_the_density(
                lambda x: model.log_prob(x, order=order), lambda x: conditionals(x)[..., 0], x
            )

    @everyone
    def test_log_prob_is_the_sum_of_the_conditionals_of_what_x_has(
        self, make: Callable[[], Autoregressive]
    ) -> None:
        model = contracts.exact(make())
        x, order = entries(model, 8), model.component_order(0)
        p = model.conditionals(x, order).reshape(8, model.n, -1)
        p = torch.cat([1 - p, p], -1) if model.num_categories == 2 else p
        each = p.gather(-1, x.long()[..., None])[..., 0].log()
        torch.testing.assert_close(model.log_conditionals(x, order).flatten(1), each, rtol=0, atol=1e-10)
        torch.testing.assert_close(model.log_prob(x, order), each.sum(1), rtol=0, atol=1e-10)

    @everyone
    def test_outputs_see_only_what_comes_before(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        rank = torch.empty(model.n, dtype=torch.int64)
        rank[model.component_order(0)] = torch.arange(model.n)
        x = entries(model, 1)[0]
        earlier = rank[:, None] > rank[None, :]
        counts = isinstance(model, CountModel)
        if counts or getattr(model, "one_hot", False):  # no derivative by whole numbers: change them instead
            before = model.logits(x[None])[0]
            for j in range(model.n):
                other = x.clone()
                other[j] = (x[j] + 1) % model.num_categories
                moved = (model.logits(other[None])[0] != before).reshape(model.n, -1).any(-1)
                allowed = (
                    moved & earlier[:, j] if counts else earlier[:, j]
                )  # parents are some of the earlier
                assert torch.equal(moved, allowed), f"x_{j} moves {moved.nonzero().flatten().tolist()}"
            return
        contracts.jacobian_is_sparse(
            lambda v: model.logits(v[None])[0].reshape(-1),
            x,
            allowed=earlier.repeat_interleave(1 if model.num_categories == 2 else model.num_categories, 0),
            reached=not isinstance(model, MADE | PixelModel),  # narrow: edges are lost, units can be shut
        )

    def test_wide_layer_loses_no_connection(self) -> None:
        model = contracts.exact(MADE(event_shape=(5,), hidden=[16]))
        for parameter in model.parameters():  # positive: no unit dies, no two paths cancel
            parameter.data.abs_()
        contracts.jacobian_is_sparse(
            lambda v: model(v[None], model.masks())[0],
            torch.ones(5, dtype=torch.float64),
            allowed=torch.ones(5, 5, dtype=torch.bool).tril(-1),
            reached=True,
        )

    @everyone
    def test_samples_follow_the_density(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        samples = model.sample(20_000, generator=seeded()).flatten(1)
        contracts.samples_follow_the_density(samples, model.log_prob, model.num_categories)

    @everyone
    def test_what_is_given_is_kept_and_the_rest_follows_it(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        order = model.component_order(0)
        given = torch.full((model.n,), torch.nan, dtype=torch.float64)
        given[order[:2]] = torch.tensor([1.0, 0.0], dtype=torch.float64)
        samples = model.sample(20_000, given=given, order=order, generator=seeded()).flatten(1)
        assert torch.equal(samples[:, order[:2]], given[order[:2]].expand(20_000, -1))

        def rest(x: Tensor) -> Tensor:  # the joint where x has what is given, normalised by it
            cells = contracts.configurations((model.n,), model.num_categories).double()
            fits = (cells[:, order[:2]] == given[order[:2]]).all(1)
            total = model.log_prob(cells[fits], order).logsumexp(0)
            mine = (x[:, order[:2]] == given[order[:2]]).all(1)
            return torch.where(mine, model.log_prob(x, order) - total, -torch.inf)

        contracts.samples_follow_the_density(samples, rest, model.num_categories)

    @everyone
    def test_sampling_is_reproducible(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        contracts.reproducible(lambda seed: model.sample(32, generator=seeded(seed)))
        trace = contracts.trace_replays(lambda seed: model.sample_trace(generator=seeded(seed)))
        assert len(trace) == model.n + (model.num_components > 1)
        assert torch.equal(trace.result["x"], model.sample(1, generator=seeded(0))[0])

    @everyone
    def test_a_trace_ends_at_the_density(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        order = model.component_order(0)
        given = torch.full((model.n,), torch.nan, dtype=torch.float64)
        given[order[0]] = 1.0
        for beginning, asked in ((None, None), (given, None), (None, order), (given, order)):
            for seed in range(3):
                trace = model.sample_trace(
                    given=beginning, order=asked, temperature=0.7, generator=seeded(seed)
                )
                whole = model.log_prob(trace.result["x"][None], asked)
                assert trace[-1].values["log_prob"] == pytest.approx(whole.item(), abs=1e-11)
                running = [step.values["log_prob"] for step in trace][: -1 if len(trace) > model.n else None]
                assert -running[-1] == pytest.approx(trace.result["surprisal"].sum().item(), abs=1e-11)

    @everyone
    def test_conditionals_in_one_order_are_the_mixtures_own(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make())
        x, order = entries(model, 8), model.component_order(0)
        each = model.log_conditionals(x, order).flatten(1)
        torch.testing.assert_close(each.sum(1), model.log_prob(x, order), rtol=0, atol=1e-10)
        # and p(x_≤i), by summing the density over all that comes later
        every = contracts.configurations((model.n,), model.num_categories).double()
        log_p, begun = model.log_prob(every, order), order[:2]
        for row, terms in zip(x, each, strict=True):
            same = (every[:, begun] == row[begun]).all(1)
            assert terms[begun].sum().item() == pytest.approx(log_p[same].logsumexp(0).item(), abs=1e-10)

    @everyone
    def test_survives_saving(self, make: Callable[[], Autoregressive], tmp_path: Path) -> None:
        model = make()
        x = entries(model, 4).float()
        contracts.survives_saving(model, lambda m: m.log_prob(x), tmp_path)

    @members
    def test_starts_near_the_uniform_distribution_and_never_beats_the_floor(
        self, make: Callable[[], Autoregressive]
    ) -> None:
        torch.manual_seed(0)
        model = make()
        x = entries(model, 200).float()
        contracts.loss_at_start(model, (x,), model.n * math.log(model.num_categories), tolerance=0.1)
        model = model.double()
        batch = contracts.configurations((model.n,), model.num_categories)[
            :4
        ].double()  # four distinct examples
        agnostic = isinstance(model, MADE) and model.num_orders != 1  # one order at a time: slower to fit
        below = 2.6 if agnostic else math.log(4) + 0.05
        contracts.overfits_one_batch(model, (batch,), below, floor=math.log(4), lr=0.05)

    @members
    def test_every_parameter_of_a_member_learns(self, make: Callable[[], Autoregressive]) -> None:
        model = contracts.exact(make()).train()
        if isinstance(model, MADE):  # has its own below: relu units may be dead in a small batch
            return
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step((entries(model, 32),), "train"))

    def test_every_parameter_learns(self) -> None:
        # degrees from 1: with one order, the last variable is read by nobody, the first reads nobody
        model = contracts.exact(MADE(event_shape=(5,), hidden=[16, 16], direct=True)).train()
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step((bits(32, 5),), "train"))

    def test_hidden_weights_keep_their_value(self) -> None:
        model = contracts.exact(MADE(event_shape=(5,), hidden=[8])).train()
        before = model.out.weight.detach().clone()
        model.step((bits(8, 5),), "train").backward()
        masked = model.masks()[-1] == 0
        assert masked.any() and not model.out.weight.grad[masked].any()
        torch.optim.SGD(model.parameters(), lr=1.0).step()
        assert torch.equal(model.out.weight[masked], before[masked])
        assert not torch.equal(model.out.weight[~masked], before[~masked])


# --- transformer -------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"vocab_size": 3, "context": 6, "layers": 2, "heads": 2, "width": 8}
GPTS: dict[str, Callable[[], GPT]] = {
    "as trained": lambda: GPT(**SMALL),
    "rotary, untied": lambda: GPT(**SMALL, positions="rotary", tied=False),
    "sinusoidal, biases": lambda: GPT(**SMALL, positions="sinusoidal", bias=True, activation="relu"),
    "post-norm": lambda: GPT(**SMALL, norm="post", bos=2),
}
GPTS |= {
    title: lambda row=row: table.make(*row)
    for title, row in others(GPTS.values(), lambda m: hasattr(m, "new_cache")).items()
}
gpts = pytest.mark.parametrize("make", GPTS.values(), ids=GPTS)


def texts(batch: int, length: int = 6) -> Tensor:
    return torch.randint(3, (batch, length), generator=seeded())


def examples(text: Tensor, begin: int) -> tuple[Tensor, Tensor]:
    """What `GPT.step` takes: each text behind the begin token, and its next tokens."""
    return torch.cat([torch.full((len(text), 1), begin), text[:, :-1]], dim=1), text


class TestTransformer:
    @gpts
    @pytest.mark.parametrize("length", [1, 4, 6])
    def test_density_sums_to_one(self, make: Callable[[], GPT], length: int) -> None:
        model = contracts.exact(make())
        contracts.density_sums_to_one(model.log_prob, (length,), num_categories=3, dtype=torch.int64)

    @gpts
    def test_causality(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make())
        contracts.causal_in_tokens(model, model.embedding, texts(1)[0])

    @gpts
    @pytest.mark.parametrize("pieces", [[1, 1, 1, 1, 1, 1], [3, 1, 2], [6]])
    def test_cache_equals_full_pass(self, make: Callable[[], GPT], pieces: list[int]) -> None:
        model = contracts.exact(make())

        def incremental(tokens: Tensor) -> list[Tensor]:
            cache = model.new_cache(len(tokens))
            return [model(piece, cache) for piece in tokens.split(pieces, dim=1)]

        contracts.cache_equals_full_pass(model, incremental, texts(5))

    @gpts
    def test_sampler_meets_the_logits_of_the_full_pass(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make())
        prompt = torch.tensor([[model.bos, 1]])
        trace = model.sample_trace(prompt=prompt, length=4, generator=seeded(3))
        full = model(trace.result)[0]
        for t, step in enumerate(trace):
            torch.testing.assert_close(step.values["logits"], full[t + 1], rtol=0, atol=1e-10)

    @gpts
    def test_next_tokens_make_the_density(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make())
        assert isinstance(model, NextToken)
        contracts.next_tokens_make_the_density(model.next_log_probs, model.log_prob, texts(5))

    @gpts
    def test_samples_follow_the_density(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make())
        samples = model.sample(20_000, length=3, generator=seeded())
        contracts.samples_follow_the_density(samples, lambda x: model.log_prob(x.long()), num_categories=3)

    @gpts
    def test_sampling_is_reproducible(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make())
        contracts.reproducible(lambda seed: model.sample(8, length=9, generator=seeded(seed)))
        trace = contracts.trace_replays(lambda seed: model.sample_trace(length=9, generator=seeded(seed)))
        assert len(trace) == 9

    @gpts
    def test_every_parameter_learns(self, make: Callable[[], GPT]) -> None:
        model = contracts.exact(make()).train()
        batch = examples(texts(16), model.bos)
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))

    @gpts
    def test_starts_near_ln_vocabulary_and_never_beats_the_floor(self, make: Callable[[], GPT]) -> None:
        torch.manual_seed(0)
        model = make().double()
        contracts.loss_at_start(model, examples(texts(50), model.bos), math.log(3), tolerance=0.1)
        # none starts with the begin token: rotary positions cannot count a run of equal tokens
        four = torch.tensor([[1, 0, 0, 2, 1, 0], [1, 2, 0, 1, 1, 2], [2, 1, 0, 0, 2, 1], [2, 2, 1, 0, 1, 0]])
        four = (four + model.bos) % 3
        floor = math.log(4) / 6  # nats per token of four equally frequent texts of six tokens
        contracts.overfits_one_batch(
            model, examples(four, model.bos), below=floor + 0.05, floor=floor, lr=0.02
        )

    @gpts
    def test_survives_saving(self, make: Callable[[], GPT], tmp_path: Path) -> None:
        model = make()
        loaded = contracts.survives_saving(model, lambda m: m.log_prob(texts(4)), tmp_path)
        assert (loaded.head is None) == (model.head is None)
        assert loaded.num_parameters == model.num_parameters

    def test_without_its_mask_it_is_no_density(self) -> None:
        leaky = contracts.exact(GPT(**SMALL, causal=False))
        with pytest.raises(AssertionError, match="sums to"):
            contracts.density_sums_to_one(leaky.log_prob, (4,), num_categories=3, dtype=torch.int64)
        with pytest.raises(AssertionError, match="future"):
            contracts.causal_in_tokens(leaky, leaky.embedding, texts(1)[0])


# --- n-grams -----------------------------------------------------------------------------------

NGRAMS: dict[str, Callable[[], NGram]] = {
    "unigram": lambda: NGram(4, 1),
    "maximum likelihood": lambda: NGram(3, 2, "none"),
    "add": lambda: NGram(4, 3, "add", alpha=0.3),
    "Kneser-Ney": lambda: NGram(4, 3),
    "Kneser-Ney, begin and end": lambda: NGram(5, 3, bos=0, eos=1, discount=0.75),
    "modified": lambda: NGram(4, 3, "modified"),
}
ngrams = pytest.mark.parametrize("name", NGRAMS)


class TestNGrams:
    def counted(self, name: str) -> NGram:
        """The model after 60 random texts, the begin token in none of them; some n-grams stay unseen."""
        model = NGRAMS[name]()
        first = 0 if model.bos is None else 1
        odds = torch.arange(1.0, model.vocab_size - first + 1) ** 3
        texts = torch.multinomial(odds, 60 * 5, replacement=True, generator=seeded()).reshape(60, 5) + first
        model.fit(texts)
        return model

    @ngrams
    def test_density_sums_to_one(self, name: str) -> None:
        model = self.counted(name)
        contracts.density_sums_to_one(
            model.log_prob, (4,), num_categories=model.vocab_size, dtype=torch.int64, tolerance=1e-12
        )

    @ngrams
    def test_next_token_is_what_scoring_says(self, name: str) -> None:
        model = self.counted(name)
        assert isinstance(model, NextToken)
        first = 0 if model.bos is None else 1
        texts = torch.randint(first, model.vocab_size, (50, 5), generator=seeded(1))
        total = torch.zeros(50, dtype=torch.float64)
        for t in range(5):
            rows = model.next_log_probs(texts[:, :t])
            torch.testing.assert_close(rows.exp().sum(1), torch.ones(50).double(), rtol=0, atol=1e-12)
            total += rows.gather(1, texts[:, t : t + 1])[:, 0]
        torch.testing.assert_close(total, model.log_prob(texts), rtol=0, atol=1e-10)

    @pytest.mark.parametrize(
        "name", sorted(NGRAMS.keys() - {"Kneser-Ney, begin and end"})
    )  # these texts have no end
    def test_samples_follow_the_density(self, name: str) -> None:
        model = self.counted(name)
        samples = model.sample(20_000, length=3, generator=seeded())
        contracts.samples_follow_the_density(samples, model.log_prob, num_categories=model.vocab_size)

    @ngrams
    def test_sampling_is_reproducible_and_counts_survive_saving(self, name: str, tmp_path: Path) -> None:
        model = self.counted(name)
        contracts.reproducible(lambda seed: model.sample(20, length=6, generator=seeded(seed)))
        contracts.trace_replays(lambda seed: model.sample_trace(length=6, generator=seeded(seed)))
        x = torch.randint(1, model.vocab_size, (9, 4), generator=seeded())
        contracts.survives_saving(model, lambda m: m.log_prob(x), tmp_path)


# --- Bengio, word vectors ----------------------------------------------------------------------

BENGIOS: dict[str, Callable[[], Bengio]] = {
    "as trained": lambda: Bengio(3, context=2, dim=4, hidden=8),
    "direct, another begin": lambda: Bengio(3, context=3, dim=4, hidden=8, direct=True, bos=2),
    "one-hot": lambda: Bengio(3, context=2, hidden=8, embedding="one-hot"),
}
bengios = pytest.mark.parametrize("make", BENGIOS.values(), ids=BENGIOS)


def contexts(size: int, length: int) -> tuple[Tensor, Tensor]:
    return torch.randint(3, (size, length), generator=seeded()), texts(size)[:, 0]


class TestBengio:
    @bengios
    def test_density_sums_to_one(self, make: Callable[[], Bengio]) -> None:
        model = contracts.exact(make())
        contracts.density_sums_to_one(model.log_prob, (5,), num_categories=3, dtype=torch.int64)
        contracts.next_tokens_make_the_density(model.next_log_probs, model.log_prob, texts(5))

    @bengios
    def test_causality(self, make: Callable[[], Bengio]) -> None:
        model = contracts.exact(make())
        window, unseen = model.context, 4 - model.context
        vectors = torch.eye(3, dtype=torch.float64)[texts(1, 4)[0]] @ model.embedding.weight.detach()
        allowed = torch.arange(4)[None] >= unseen  # the next token sees the last `context` and no other

        def next_logits(x: Tensor) -> Tensor:  # (4, d) -> (1, V)
            logits = model.output(torch.tanh(model.first(x[-window:].flatten())))
            return logits if model.direct is None else logits + model.direct(x[-window:].flatten())

        expected = model.next_log_probs(texts(1, 4)).exp()[0]
        torch.testing.assert_close(next_logits(vectors).softmax(-1), expected)
        contracts.jacobian_is_sparse(
            next_logits, vectors, allowed.repeat_interleave(vectors.shape[1], 1).expand(3, -1), reached=True
        )

    @bengios
    def test_samples_follow_the_density(self, make: Callable[[], Bengio]) -> None:
        model = contracts.exact(make())
        samples = model.sample(20_000, length=3, generator=seeded())
        contracts.samples_follow_the_density(samples, lambda x: model.log_prob(x.long()), num_categories=3)
        contracts.reproducible(lambda seed: model.sample(8, length=5, generator=seeded(seed)))
        contracts.trace_replays(lambda seed: model.sample_trace(length=5, generator=seeded(seed)))

    @bengios
    def test_learns(self, make: Callable[[], Bengio]) -> None:
        model = contracts.exact(make()).train()
        batch = contexts(60, model.context)
        fixed = [name for name, p in model.named_parameters() if not p.requires_grad]
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"), except_for=fixed)
        torch.manual_seed(0)
        one = torch.tensor([[0] * model.context, [1] * model.context]), torch.tensor([1, 2])
        contracts.overfits_one_batch(make(), one, below=0.05, floor=0.0)

    @bengios
    def test_survives_saving(self, make: Callable[[], Bengio], tmp_path: Path) -> None:
        contracts.survives_saving(make(), lambda m: m.log_prob(texts(4)), tmp_path)

    def test_starts_near_ln_tokens(self) -> None:
        torch.manual_seed(0)
        contracts.loss_at_start(Bengio(3, 4), contexts(200, 4), math.log(3), tolerance=0.05)


WORD2VECS: dict[str, Callable[[], SkipGram | CBOW]] = {
    "skip-gram": lambda: SkipGram(4, 3),
    "skip-gram, negative": lambda: SkipGram(4, 3, "negative", 4),
    "CBOW": lambda: CBOW(4, 3),
    "CBOW, negative": lambda: CBOW(4, 3, "negative", 4),
}
WINDOWS = torch.tensor([0, 1, 2, 3, 0]), torch.tensor([[-1, 1], [0, 2], [1, 3], [2, 0], [3, -1]])


class TestWordVectors:
    @pytest.mark.parametrize("make", WORD2VECS.values(), ids=WORD2VECS)
    def test_probabilities_gradients_and_start(self, make: Callable[[], SkipGram | CBOW]) -> None:
        model = contracts.exact(make()).train()
        asked = WINDOWS[0] if isinstance(model, SkipGram) else WINDOWS[1]
        total = model.log_probs(asked).exp().sum(-1)
        torch.testing.assert_close(total, torch.ones_like(total), rtol=0, atol=1e-12)
        torch.manual_seed(0)
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step(WINDOWS, "train"))
        contracts.loss_at_start(make().double(), WINDOWS, math.log(4), tolerance=1e-6)

    @pytest.mark.parametrize("make", WORD2VECS.values(), ids=WORD2VECS)
    def test_survives_saving(self, make: Callable[[], SkipGram | CBOW], tmp_path: Path) -> None:
        model = contracts.exact(make()).float()
        model.step(WINDOWS, "train")  # what negative sampling has seen is part of the model
        contracts.survives_saving(
            model, lambda m: torch.cat([m.vectors.flatten(), m.step(WINDOWS, "val")[None]]), tmp_path
        )

    def test_svd_survives_saving(self, tmp_path: Path) -> None:
        counts = torch.rand(6, 6, generator=seeded()).round(decimals=1)
        model = CountSVD(6, 3)
        model.count((counts,))
        assert model.vectors.any()
        contracts.survives_saving(model, lambda m: m.vectors, tmp_path)
        model.reset_counts()
        assert not model.counts.any()


# --- convolution -------------------------------------------------------------------------------

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "CNN1d": lambda: CNN1d(),
    "MLP": lambda: MLP(hidden=(30, 20)),
    "CNN2d": lambda: CNN2d(image_shape=(1, 12, 12), channels=(4, 6)),
}
SHAPES = {"CNN1d": (1, 40), "MLP": (1, 40), "CNN2d": (1, 12, 12)}
classifiers = pytest.mark.parametrize("name", CLASSIFIERS)


class TestConvolution:
    def batch(self, name: str, size: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
        x = torch.randn(size, *SHAPES[name], generator=seeded(), dtype=dtype)
        return x, torch.arange(size) % 10

    @classifiers
    def test_starts_near_ln_10_and_overfits(self, name: str) -> None:
        torch.manual_seed(0)
        model = CLASSIFIERS[name]().double()
        contracts.loss_at_start(model, self.batch(name, 100), math.log(10), tolerance=0.1)
        contracts.overfits_one_batch(model, self.batch(name, 10), below=0.05, floor=0.0)

    @classifiers
    def test_every_parameter_learns(self, name: str) -> None:
        model = contracts.exact(CLASSIFIERS[name](), scale=0.1).train()
        batch = self.batch(name, 32)
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))

    @classifiers
    def test_survives_saving(self, name: str, tmp_path: Path) -> None:
        x, _ = self.batch(name, 4, torch.float32)
        contracts.survives_saving(CLASSIFIERS[name](), lambda m: m.predict(x), tmp_path)

    @classifiers
    def test_each_example_is_judged_alone(self, name: str) -> None:
        model = contracts.exact(CLASSIFIERS[name](), scale=0.1)
        x, _ = self.batch(name, 4)
        allowed = torch.eye(4, dtype=torch.bool).repeat_interleave(10, 0).repeat_interleave(x[0].numel(), 1)
        contracts.jacobian_is_sparse(model.predict, x, allowed)

    @classifiers
    def test_bad_class_probabilities_do_not_exist(self, name: str) -> None:
        model = contracts.exact(CLASSIFIERS[name](), scale=0.1)
        x, y = self.batch(name, 10)
        p = model.predict(x).softmax(-1)
        nll = -p[torch.arange(10), y].log().mean()
        assert model.step((x, y), "val").item() == pytest.approx(nll.item(), abs=1e-10)


# --- latent ------------------------------------------------------------------------------------

VAES: dict[str, Callable[[], VAE]] = {
    "bernoulli": lambda: VAE(event_shape=(6,), latent_dim=1, hidden=[8], iwae_samples=20),
    "deep": lambda: VAE(event_shape=(2, 3), latent_dim=1, hidden=[8, 8], activation="tanh", iwae_samples=20),
    "gaussian": lambda: VAE(event_shape=(3,), latent_dim=1, hidden=[8], decoder="gaussian", sigma=0.7),
    "learned sigma": lambda: VAE(
        event_shape=(3,), latent_dim=1, hidden=[8], decoder="gaussian", sigma=0.7, learn_sigma=True
    ),
}
vaes = pytest.mark.parametrize("name", VAES)


class TestLatent:
    def batch(self, name: str, size: int) -> Tensor:
        model = VAES[name]()
        if model.likelihood == "bernoulli":
            return bits(size, model.event_dim).reshape(size, *model.event_shape)
        return torch.randn(size, *model.event_shape, generator=seeded(), dtype=torch.float64)

    def log_prob(self, model: VAE, x: Tensor) -> Tensor:
        """log p(x) of a model with one latent dimension, by the trapezoid rule over z."""
        z = torch.linspace(-9, 9, 4001, dtype=torch.float64)
        joint = model.log_likelihood(x, z[:, None, None].expand(-1, len(x), -1))  # (Z, B)
        joint = joint - z[:, None] ** 2 / 2 - math.log(2 * math.pi) / 2
        return joint.logsumexp(0) + math.log(z[1] - z[0])

    @vaes
    def test_bounds_are_below_the_density(self, name: str) -> None:
        # small parameters, so that the encoder's guess covers the posterior and samples suffice
        model, x = contracts.exact(VAES[name](), scale=0.2), self.batch(name, 6)
        with torch.no_grad():
            exact = self.log_prob(model, x)
            elbo = model.elbo(x, samples=4000, generator=seeded())
            iwae = model.iwae(x, samples=20_000, generator=seeded())
        contracts.bound_is_below(elbo, exact, tolerance=0.02)
        contracts.bound_is_below(elbo, iwae, tolerance=0.02)
        torch.testing.assert_close(iwae, exact, rtol=0, atol=0.1)

    @pytest.mark.parametrize("name", ["bernoulli", "deep"])
    def test_density_sums_to_one(self, name: str) -> None:
        model = contracts.exact(VAES[name]())

        def log_prob(x: Tensor) -> Tensor:
            return self.log_prob(model, x.reshape(-1, *model.event_shape))

        contracts.density_sums_to_one(log_prob, (model.event_dim,), tolerance=1e-8)

    @pytest.mark.parametrize("name", ["bernoulli", "deep"])
    def test_samples_follow_the_density(self, name: str) -> None:
        model = contracts.exact(VAES[name]())
        samples = model.sample(20_000, generator=seeded()).flatten(1)
        contracts.samples_follow_the_density(samples, lambda x: self.log_prob(model, x))

    @vaes
    def test_every_parameter_learns(self, name: str) -> None:
        model, x = contracts.exact(VAES[name]()).train(), self.batch(name, 16)
        contracts.every_parameter_gets_a_gradient(model, lambda: model.step((x,), "train"))

    @vaes
    def test_sampling_is_reproducible(self, name: str) -> None:
        model = contracts.exact(VAES[name]())
        contracts.reproducible(lambda seed: model.sample(8, generator=seeded(seed)))
        contracts.trace_replays(lambda seed: model.sample_trace(2, generator=seeded(seed)))

    @vaes
    def test_survives_saving(self, name: str, tmp_path: Path) -> None:
        x = self.batch(name, 4).float()
        contracts.survives_saving(
            VAES[name](),
            lambda m: torch.cat([m.decode(m.encode(x)).flatten(), m.elbo(x, 1, seeded())]),
            tmp_path,
        )

    @pytest.mark.parametrize("name", ["bernoulli", "deep"])
    def test_starts_near_one_bit_a_variable_and_never_beats_the_floor(self, name: str) -> None:
        torch.manual_seed(0)
        model = VAES[name]().double()
        contracts.loss_at_start(model, (self.batch(name, 200),), 6 * math.log(2), tolerance=0.15)
        batch = contracts.configurations(model.event_shape)[[0, 63]].double()  # 000000 and 111111
        # the bound, not its noisy estimate, stays above the floor, so the mean of many is judged
        loss = contracts.overfits_one_batch(model, (batch.repeat(50, *[1] * (batch.ndim - 1)),), below=1.6)
        contracts.floor_is_kept(loss + 0.05, distinct=2)

    def test_coin_toss_data_has_no_code(self) -> None:
        model = contracts.exact(VAES["bernoulli"]())
        for parameter in model.parameters():
            parameter.data.zero_()
        x = self.batch("bernoulli", 4)
        torch.testing.assert_close(
            model.elbo(x), torch.full((4,), -6 * math.log(2), dtype=torch.float64), rtol=0, atol=1e-12
        )


# --- fitted by expectation–maximisation ----------------------------------------------------------


def clusters(count: int = 120) -> Tensor:
    """Points in the plane around three centres, float64."""
    x = torch.randn(count, 2, generator=seeded(), dtype=torch.float64)
    return x + 3 * torch.eye(3, 2, dtype=torch.float64)[torch.arange(count) % 3]


def with_holes(x: Tensor) -> Tensor:
    return x.masked_fill(torch.rand(x.shape, generator=seeded(1)) < 0.2, math.nan)


EM: dict[str, tuple[Callable[[], EMModel], Callable[[], Tensor]]] = {
    **{
        f"mixture, {kind}": (lambda kind=kind: GaussianMixture((2,), 3, kind, floor=1e-3), clusters)
        for kind in ("full", "diag", "spherical", "tied")
    },
    "factor analysis": (lambda: FactorAnalysis((2,), 1), clusters),
    "factor analysis, holes": (lambda: FactorAnalysis((2,), 1), lambda: with_holes(clusters())),
    "PPCA": (lambda: PPCA((2,), 1), clusters),
    "PPCA, holes": (lambda: PPCA((2,), 1), lambda: with_holes(clusters())),
    "k-means": (lambda: KMeans((2,), 3), clusters),
    "GTM": (lambda: GTM((2,), 4, 30, floor=1e-3), clusters),
    "HMM, Gaussian": (
        lambda: HMM(3, "gaussian-full", num_features=2, floor=1e-3),
        lambda: clusters().reshape(6, 20, 2),
    ),
    "HMM, holes": (
        lambda: HMM(2, "gaussian", num_features=2, floor=1e-3),
        lambda: with_holes(clusters()).reshape(6, 20, 2),
    ),
    "HMM, bits": (
        lambda: HMM(2, "bernoulli", num_features=3),
        lambda: bits(120, 3).reshape(6, 20, 3),
    ),
    "HMM, symbols": (
        lambda: HMM(2, "categorical", vocab_size=4),
        lambda: torch.randint(4, (6, 20), generator=seeded()),
    ),
}


EM |= {  # PCA's fit is one closed form, of no seed
    title: (lambda row=row: table.make(*row), lambda row=row: table.MEMBERS[row[0]][row[1]].batch[0])
    for title, row in others(
        (make for make, _ in EM.values()), lambda m: isinstance(m, EMModel) and type(m) is not PCA
    ).items()
}


class TestEM:
    @pytest.mark.parametrize("name", EM)
    def test_never_falls(self, name: str) -> None:
        make, data = EM[name]
        model, x = make(), data()
        totals = contracts.em_never_falls(lambda: model.fit(x, 100, generator=seeded(2), tolerance=-1.0), 100)
        assert totals[-1] > totals[0]

    @pytest.mark.parametrize("name", EM)
    def test_a_seed_is_a_fit(self, name: str) -> None:
        make, data = EM[name]
        contracts.reproducible(lambda seed: make().fit(data(), 3, generator=seeded(seed)))


# --- graph -------------------------------------------------------------------------------------

KNOBS: dict[str, dict[str, Any]] = {
    "sum": {"propagation": "sum"},
    "mean": {"propagation": "mean", "combine": "none"},
    "symmetric": {"propagation": "symmetric", "combine": "diagonal"},
    "gcn": {"propagation": "gcn"},
    "average": {"propagation": "average", "residual": "sum"},
    "max": {"propagation": "max", "combine": "separate", "residual": "concat"},
    "additive": {"score": "additive"},
    "dynamic": {"score": "dynamic"},
    "dot": {"score": "dot"},
}
every_network = pytest.mark.parametrize("name", KNOBS)


def small_graph() -> Data:
    """Nine nodes, directed and undirected edges, one node alone, six labels known."""
    one_way = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2], [1, 2, 3, 4, 5, 6, 3, 6]])
    edge_index = torch.cat([one_way, one_way[:, :6].flip(0)], dim=1)
    x = torch.randn(9, 5, generator=seeded(), dtype=torch.float64)
    y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2])
    labelled = torch.arange(9) < 6
    return Data(x=x, edge_index=edge_index, y=y, train_mask=labelled, val_mask=~labelled, test_mask=~labelled)


class TestGraph:
    """GCN and GAT of two layers, without dropout."""

    def make(self, name: str) -> NodeClassifier:
        knobs = KNOBS[name]
        if "score" in knobs:
            return GAT(5, 3, hidden=(4,), heads=(2, 1), dropout=0.0, weight_dropout=0.0, **knobs)
        return GCN(5, 3, hidden=(8,), dropout=0.0, **knobs)

    @every_network
    def test_permutation_equivariance(self, name: str) -> None:
        model, graph = contracts.exact(self.make(name)), small_graph()
        contracts.permutation_equivariant(model, graph.x, graph.edge_index)

    @every_network
    def test_a_node_sees_its_hops_and_no_more(self, name: str) -> None:
        model, graph = contracts.exact(self.make(name)), small_graph()
        for parameter in model.parameters():
            parameter.data.abs_()
        heard = torch.eye(9, dtype=torch.bool)  # [n, m]: node n hears node m
        if KNOBS[name].get("combine") == "none":
            heard = torch.zeros_like(heard)  # what a node was, it hears back from its neighbours alone
        heard[graph.edge_index[1], graph.edge_index[0]] = True
        two_hops = (heard.double() @ heard.double()) > 0
        allowed = two_hops.repeat_interleave(3, 0).repeat_interleave(5, 1)
        all_reached = name != "max"  # the greatest neighbour alone is heard
        x = torch.ones(9, 5, dtype=torch.float64)
        contracts.jacobian_is_sparse(lambda x: model(x, graph.edge_index), x, allowed, reached=all_reached)

    @every_network
    def test_learns_one_graph(self, name: str) -> None:
        torch.manual_seed(0)
        model, graph = self.make(name).double(), small_graph()
        contracts.overfits_one_batch(model, graph, below=0.05, floor=0.0, lr=0.05)
        exact = contracts.exact(self.make(name)).train()
        contracts.every_parameter_gets_a_gradient(exact, lambda: exact.step(graph, "train"))

    @every_network
    def test_survives_saving(self, name: str, tmp_path: Path) -> None:
        graph = small_graph()
        graph.x = graph.x.float()
        contracts.survives_saving(self.make(name), lambda m: m.predict(graph), tmp_path)

    def test_starts_near_ln_classes(self) -> None:
        torch.manual_seed(0)
        graph = small_graph()
        graph.x = F.normalize(graph.x, p=1, dim=1) * 0.2  # rows as small as Cora's normalised words
        contracts.loss_at_start(self.make("gcn").double(), graph, math.log(3), tolerance=0.05)


# --- each contract can fail --------------------------------------------------------------------


def broken_normalisation(x: Tensor) -> Tensor:
    return -0.6 * torch.ones(len(x), dtype=torch.float64) * x.shape[1]


class Copier(nn.Module):
    """Sees its own target: the classic leak."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def step(self, batch: Tensor, split: str) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.scale * (2 * batch - 1), batch) * batch.shape[1]


class Stubborn(nn.Module):
    """Learns nothing, and one of its parameters is not even used."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Parameter(torch.ones(())), nn.Parameter(torch.ones(()))

    def step(self, batch: Tensor, split: str) -> Tensor:
        return (self.used * 0 + 1) * 3.0


def counter() -> Callable[[int], Tensor]:
    numbers = itertools.count()
    return lambda seed: torch.tensor([next(numbers)])


def unstable_trace() -> Callable[[int], Trace]:
    numbers = itertools.count()
    return lambda seed: Trace([Step("a step", {"n": next(numbers)})], 0)


def unstable_result() -> Callable[[int], Trace]:
    numbers = itertools.count()
    return lambda seed: Trace([Step("a step", {"n": 1})], {"x": torch.tensor(next(numbers))})


def past_and_future(x: Tensor) -> Tensor:  # (T, D): each output sees one step ahead
    return torch.cat([x[1:], x[-1:]]).cumsum(0)


class Forgetful(Bengio):
    """Reads two tokens, and keeps one when it goes step by step."""

    def incremental_decoder(self) -> TextDecoder:
        return TextDecoder(self, window=1)


X = torch.randn(4, 3, generator=seeded(), dtype=torch.float64)
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
MASK = torch.ones(4, 4, dtype=torch.bool).tril(-1)

BROKEN: dict[str, Callable[[], Any]] = {
    "density": lambda: contracts.density_sums_to_one(broken_normalisation, (5,)),
    "density of halves": lambda: contracts.density_sums_to_one(
        lambda x: torch.full((len(x), 1), -5 * math.log(2), dtype=torch.float64), (5,)
    ),
    "float32": lambda: contracts.density_sums_to_one(lambda x: torch.full((len(x),), -math.log(32)), (5,)),
    "floor": lambda: contracts.floor_is_kept(0.5, distinct=2),
    "bound": lambda: contracts.bound_is_below(torch.tensor([-1.0]), torch.tensor([-1.2]), 0.1),
    "sampler": lambda: contracts.one_pass_equals_sequential(
        lambda x: x.flip(1).cumsum(1).sigmoid(), bits(3, 4), range(4)
    ),
    "sum of conditionals": lambda: contracts.conditionals_make_the_density(
        lambda x: -0.5 * x.sum(1), lambda x: torch.full_like(x, 0.5), bits(3, 4)
    ),
    "frequencies": lambda: contracts.samples_follow_the_density(
        (torch.rand(20_000, 3, generator=seeded()) < 0.52).double(),
        lambda x: torch.full((len(x),), -3 * math.log(2), dtype=torch.float64),
    ),
    "mask": lambda: contracts.jacobian_is_sparse(
        lambda v: MASK.double().T @ v, torch.ones(4, dtype=torch.float64), MASK
    ),
    "lost edge": lambda: contracts.jacobian_is_sparse(
        lambda v: MASK.double().tril(-2) @ v, torch.ones(4, dtype=torch.float64), MASK, reached=True
    ),
    "next tokens": lambda: contracts.next_tokens_make_the_density(
        lambda t: torch.full((len(t), 2), -math.log(2)).double(),
        lambda t: torch.full((len(t),), -t.shape[1]).double(),
        EDGES % 2,
    ),
    "next tokens' sum": lambda: contracts.next_tokens_make_the_density(
        lambda t: torch.full((len(t), 2), -1.0).double(),
        lambda t: torch.zeros(len(t)) - t.shape[1],
        EDGES % 2,
    ),
    "a state that forgets": lambda: contracts.incremental_decoding_is_a_full_pass(
        Forgetful(3, context=2, dim=4, hidden=8), EDGES % 2
    ),
    "future": lambda: contracts.causal(past_and_future, X),
    "present": lambda: contracts.causal(lambda x: x.cumsum(0), X, strict=True),
    "blind": lambda: contracts.causal(lambda x: x * 2, X),
    "cache": lambda: contracts.cache_equals_full_pass(
        lambda t: t[..., None].double().cumsum(1),
        lambda t: [p[..., None].double() for p in t.split(1, 1)],
        EDGES,
    ),
    "node order": lambda: contracts.permutation_equivariant(
        lambda x, e: x * torch.arange(4.0, dtype=x.dtype)[:, None], X, EDGES
    ),
    "same everywhere": lambda: contracts.permutation_equivariant(lambda x, e: torch.ones_like(x), X, EDGES),
    "unused parameter": lambda: contracts.every_parameter_gets_a_gradient(
        (m := Stubborn()), lambda: m.used * 2, except_for=()
    ),
    "live, said to be dead": lambda: contracts.every_parameter_gets_a_gradient(
        (m := Stubborn()), lambda: m.used * 2 + m.unused, except_for=["unused"]
    ),
    "unknown parameter": lambda: contracts.every_parameter_gets_a_gradient(
        (m := Stubborn()), lambda: m.used * 2, except_for=["unused", "other"]
    ),
    "does not learn": lambda: contracts.overfits_one_batch(Stubborn(), bits(2, 3), below=1.0, steps=12),
    "leak": lambda: contracts.overfits_one_batch(
        Copier().double(), bits(8, 3), below=9.0, floor=math.log(4), steps=200, lr=0.1
    ),
    "start": lambda: contracts.loss_at_start(Stubborn(), bits(2, 3), 2.0, tolerance=0.1),
    "EM falls": lambda: contracts.em_never_falls(lambda: [1.0, 2.0, 1.5], 2),
    "EM explodes": lambda: contracts.em_never_falls(lambda: [1.0, 2.0, math.inf], 2),
    "EM stops early": lambda: contracts.em_never_falls(lambda: [1.0, 2.0], 2),
    "irreproducible": lambda: contracts.reproducible(counter()),
    "deaf to the seed": lambda: contracts.reproducible(lambda seed: torch.zeros(3)),
    "uses the global state": lambda: contracts.reproducible(
        lambda seed: (torch.rand(1), torch.rand(2, generator=seeded(seed)))[1]
    ),
    "trace": lambda: contracts.trace_replays(unstable_trace()),
    "empty trace": lambda: contracts.trace_replays(lambda seed: Trace([], 0)),
    "no caption": lambda: contracts.trace_replays(lambda seed: Trace([Step(" ", {"n": 1})], 0)),
    "nothing to draw": lambda: contracts.trace_replays(lambda seed: Trace([Step("a", {})], 0)),
    "another result": lambda: contracts.trace_replays(unstable_result()),
}


@pytest.mark.parametrize("violate", BROKEN.values(), ids=BROKEN)
def test_a_contract_catches_what_breaks_it(violate: Callable[[], Any]) -> None:
    with pytest.raises(AssertionError):
        violate()


def test_saving_contract_catches_lost_state(tmp_path: Path) -> None:
    model = MLP(hidden=(4,))
    x = torch.randn(2, 1, 40, generator=seeded())
    calls = itertools.count(1)
    with pytest.raises(AssertionError, match="answers differently"):
        contracts.survives_saving(model, lambda m: m.predict(x) * next(calls), tmp_path)


def test_all_configurations_once() -> None:
    all_of_them = contracts.configurations((2, 2), num_categories=3)
    assert all_of_them.shape == (81, 2, 2)
    assert len(all_of_them.flatten(1).unique(dim=0)) == 81
    with pytest.raises(ValueError, match="too many"):
        contracts.configurations((40,))


def test_no_test_reaches_the_network() -> None:
    import socket

    with pytest.raises(OSError, match="no network"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(OSError, match="no network"):
        socket.getaddrinfo("example.org", 443)
    with socket.socket() as server:  # the machine itself can be reached
        server.bind(("127.0.0.1", 0))
        server.listen()
        socket.create_connection(server.getsockname(), timeout=5).close()
