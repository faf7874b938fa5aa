"""Variational graph auto-encoder: a prior on the embeddings, so that it makes graphs too.

    p(Z) = Π_n N(z_n; 0, I)        Pr(A_mn = 1 | Z) = sig[z_mᵀ z_n + b]
    q(Z | X, A) = Π_n N(z_n; μ_n, diag σ_n²),    μ, log σ² = two last layers of one GCN
    log p(A)  ≥  ELBO = E_q Σ_{m<n} log p(A_mn | Z) − Σ_n KL(q(z_n) ‖ p(z_n))
    loss = −ELBO, over the number of pairs

Under the prior a product z_mᵀ z_n is as often below 0 as above, so without b half of all pairs would be
joined; b learns how sparse the graph is. Kipf & Welling have no b and give edges a weight in its place.

The sum runs over all pairs of the graph that sends messages: hidden edges count as none there, as theirs do.
The pairs that are asked for are half edges. Among them the odds of an edge are those of the model divided by
the odds of all pairs, and so `predict` gives them.

Shapes: x (N, D), `edge_index` (2, E), z, μ and log σ² (N, D_z), `pairs` (2, P).

Reference: Kipf & Welling 2016, arXiv:1611.07308 (VGAE).
"""

from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from modules.base import Split
from modules.graph.convolution import GraphConvolution
from modules.graph.gae import GAE
from modules.latent.bounds import bernoulli_log_prob, gaussian_kl, reparameterize
from modules.noise import bernoulli, normal


class VGAE(GAE):
    """Variational graph auto-encoder; embeddings are the posterior's means.

    Measures beside `nll`, `auc` and `ap` of the pairs that are asked for: `elbo` (−ELBO of the graph that
    sends messages, with one draw of Z) and the `kl` in it, both in nats per pair of its nodes.

    Args:
        num_features, hidden, dim, propagation, dropout: see `GAE`.

    >>> VGAE(num_features=1433).num_parameters
    46945
    """

    MEANS: ClassVar[tuple[str, ...]] = ("elbo", "kl")

    def __init__(self, num_features: int, **training: Any) -> None:
        super().__init__(num_features, **training)
        self.dim, width = cast(GraphConvolution, self.layers[-1]).weight.shape
        self.log_var = GraphConvolution(width, self.dim, self.propagation)
        nn.init.constant_(self.log_var.bias, -2.0)  # wide posteriors would drive all means to 0
        self.bias = nn.Parameter(torch.full((), -3.0))  # graphs are sparse

    def posterior(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """Means and log variances (N, D_z) of x (N, D) on the graph edge_index (2, E)."""
        states = self.last_input(x, edge_index)
        return self.layers[-1](*states), self.log_var(*states)

    def pair_logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """z_mᵀ z_n + b (P,) of pairs (2, P) of nodes with embeddings z (N, D_z)."""
        return self.logits(z, pairs) + self.bias

    def all_pairs(self, edge_index: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
        """Pairs m < n (2, N(N − 1)/2), and 1 where an edge joins them, 0 elsewhere."""
        a = self.bias.new_zeros(nodes, nodes)
        a[edge_index[0], edge_index[1]] = 1
        pairs = torch.triu_indices(nodes, nodes, 1, device=a.device)
        return pairs, torch.maximum(a, a.T)[pairs[0], pairs[1]]

    def elbo(self, edge_index: Tensor, z: Tensor, mean: Tensor, log_var: Tensor) -> tuple[Tensor, Tensor]:
        """Σ log p(A_mn | Z) of a draw z (N, D_z), and Σ KL, both in nats per pair of nodes."""
        pairs, linked = self.all_pairs(edge_index, len(z))
        rec = bernoulli_log_prob(linked, self.pair_logits(z, pairs)).sum()
        count = max(len(linked), 1)
        return rec / count, gaussian_kl(mean, log_var).sum() / count

    def balanced(self, z: Tensor, batch: Data) -> Tensor:
        """Logits (P,) of pairs of which half are edges, see above."""
        linked = self.all_pairs(batch.edge_index, len(z))[1]
        odds = (linked.sum() + 0.5) / ((1 - linked).sum() + 0.5)  # defined without edges, too
        return self.pair_logits(z, batch.pairs) - odds.log()

    def predict(self, x: Data) -> Tensor:
        """Logits (P,) of the `pairs` of a graph, of which half are edges."""
        return self.balanced(self(x.x, x.edge_index), x)

    def step(self, batch: Data, split: Split) -> Tensor:
        """−ELBO of one draw of Z, in nats per pair of nodes."""
        mean, log_var = self.posterior(batch.x, batch.edge_index)
        generator = None if split == "train" else torch.Generator().manual_seed(self.draw)
        z = reparameterize(mean, log_var, normal(*mean.shape, like=mean, generator=generator))
        rec, kl = self.elbo(batch.edge_index, z, mean, log_var)
        loss = kl - rec
        self.log_metric(split, "elbo", loss.detach())
        self.log_metric(split, "kl", kl.detach())
        logits = self.balanced(mean, batch).detach()
        nll = F.binary_cross_entropy_with_logits(logits, batch.linked.to(logits), reduction="none")
        self.log_metric(split, "nll", nll)
        for name in ("auc", "ap"):
            self.log_metric(split, name, logits, batch.linked.long())
        return loss

    @torch.no_grad()
    def prior_graph(self, nodes: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """A new graph: z (N, D_z) from the prior, and A (N, N) from the probabilities that z gives."""
        z = normal(nodes, self.dim, like=self.bias, generator=generator)
        p = (z @ z.T + self.bias).sigmoid()
        a = bernoulli(p, generator).triu(1)
        return z, a + a.T
