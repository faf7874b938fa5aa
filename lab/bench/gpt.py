"""GPT against Hugging Face's GPT-2 of the same shape with the same parameters, and against a plain loop in
the form of nanoGPT: modules without options, fused attention, no cache."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.bench.timing import Row, interleaved, paired_row
from modules.transformer.gpt import GPT

INSTALL = "no peer here: pip install -c constraints.txt -e '.[peers]'"


def hugging_face(model: GPT) -> Any:
    """transformers' GPT-2 with the parameters of ours, so that both compute the same function.

    Its fastest settings: the fused attention, and the exact GELU, one kernel, instead of its own
    `gelu_new`, which is a dozen.

    Raises:
        ImportError: transformers is not installed.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=model.vocab_size,
        n_positions=model.context,
        n_embd=model.width,
        n_layer=len(model.blocks),
        n_head=model.heads,
        activation_function="gelu",
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="sdpa",
    )
    peer = GPT2LMHeadModel(config)
    assert model.positions is not None
    pairs: list[tuple[Any, Any]] = [
        (peer.transformer.wte.weight, model.embedding.weight),
        (peer.transformer.wpe.weight, next(model.positions.parameters())),
    ]

    def norm(theirs: nn.Module, ours: Any) -> None:
        pairs.extend([(theirs.weight, ours.weight), (theirs.bias, ours.bias)])

    def linear(theirs: nn.Module, ours: Any) -> None:  # theirs is stored transposed
        pairs.extend([(theirs.weight, ours.weight.T), (theirs.bias, ours.bias)])

    blocks: Any = model.blocks
    for theirs, ours in zip(peer.transformer.h, blocks, strict=True):
        norm(theirs.ln_1, ours.mixer_norm)
        linear(theirs.attn.c_attn, ours.mixer.qkv)
        linear(theirs.attn.c_proj, ours.mixer.proj)
        norm(theirs.ln_2, ours.feedforward_norm)
        linear(theirs.mlp.c_fc, ours.feedforward.up)
        linear(theirs.mlp.c_proj, ours.feedforward.down)
    norm(peer.transformer.ln_f, model.final_norm)
    with torch.no_grad():
        for target, value in pairs:
            target.copy_(value)
    return peer


class Plain(nn.Module):
    """GPT without options: learned positions, pre-norm, GELU, biases, a tied head."""

    def __init__(self, vocab_size: int, context: int, layers: int, heads: int, width: int) -> None:
        super().__init__()
        self.heads, C = heads, width
        self.tokens, self.places = nn.Embedding(vocab_size, C), nn.Embedding(context, C)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(C), "qkv": nn.Linear(C, 3 * C), "proj": nn.Linear(C, C),
                    "norm2": nn.LayerNorm(C), "up": nn.Linear(C, 4 * C), "down": nn.Linear(4 * C, C),
                }
            )
            for _ in range(layers)
        )  # fmt: skip
        self.norm = nn.LayerNorm(C)
        for module in self.modules():  # as GPT-2: from N(0, 1) logits are so large that p underflows
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)

    @property
    def num_parameters(self) -> int:
        return sum(p.numel() for p in self.parameters())

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits: (B, T) -> (B, T, V)."""
        B, T = tokens.shape
        x = self.tokens(tokens) + self.places.weight[:T]
        for block in self.blocks:
            part = dict(block.named_children())  # type: ignore[union-attr]
            q, k, v = (
                each.view(B, T, self.heads, -1).transpose(1, 2)
                for each in part["qkv"](part["norm1"](x)).chunk(3, -1)
            )  # (B, H, T, D)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + part["proj"](y.transpose(1, 2).flatten(2))
            x = x + part["down"](F.gelu(part["up"](part["norm2"](x))))
        return F.linear(self.norm(x), self.tokens.weight)


def measure(quick: bool = False) -> list[Row]:
    """A training step (AdamW) and the cached generation of a full context."""
    sizes: dict[str, Any] = (
        {"layers": 1, "heads": 2, "width": 16} if quick else {"layers": 4, "heads": 4, "width": 128}
    )
    context, batch, repeats = (8, 2, 3) if quick else (64, 12, 30)
    torch.manual_seed(0)
    model = GPT(vocab_size=65, context=context, bias=True, **sizes)
    tokens = torch.randint(65, (batch, context))
    try:
        peer = hugging_face(model)
    except ImportError:
        return [Row("gpt", case, float("nan"), note=INSTALL) for case in ("training step", "generation")]
    if model.num_parameters != sum(p.numel() for p in peer.parameters()):
        raise AssertionError("the peer has another number of parameters: nothing to compare.")
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(tokens), peer.eval()(tokens).logits, rtol=1e-3, atol=1e-4)

    def trainer(gpt: nn.Module, logits: Any) -> Any:
        optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-4)

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(logits().flatten(0, 1), tokens.flatten()).backward()
            optimizer.step()

        return step

    model.train()
    peer.train()
    pairs = interleaved(
        trainer(model, lambda: model(tokens)),
        trainer(peer, lambda: peer(tokens, use_cache=False).logits),
        repeats,
        warmup=3,
    )
    training = paired_row(
        "gpt", f"training step, {batch} × {context} tokens", pairs, "≤ 1.0", "peer: transformers GPT-2"
    )

    plain = Plain(65, context, **sizes)
    if plain.num_parameters != model.num_parameters:
        raise AssertionError("the plain loop has another number of parameters: nothing to compare.")
    pairs = interleaved(
        trainer(model, lambda: model(tokens)), trainer(plain, lambda: plain(tokens)), repeats, warmup=3
    )
    note = "peer: a plain loop as nanoGPT's"
    rows = [
        training,
        paired_row("gpt", f"training step, {batch} × {context} tokens, plain", pairs, "≤ 1.0", note),
    ]

    model.eval()
    peer.eval()
    for texts in (1, batch):
        prompt = tokens[:texts, :1]

        def ours(prompt: Tensor = prompt) -> Tensor:
            return model.generate(prompt, context - 1)

        def theirs(prompt: Tensor = prompt) -> Tensor:
            return peer.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=context - 1,
                do_sample=True,
                top_k=0,
                pad_token_id=0,
            )

        if ours().shape != theirs().shape:
            raise AssertionError("the peer generates another number of tokens: nothing to compare.")
        pairs = interleaved(ours, theirs, repeats=max(3, repeats // 3), warmup=1)
        case = f"generation of {context - 1} tokens" + (f" of {texts} texts at once" if texts > 1 else "")
        rows.append(paired_row("gpt", case, pairs, "≤ 1.0", "peer: transformers GPT-2"))
    return rows
