"""Say in words and equations what the stream and its parts give."""

import torch

from lab.lenses import text as texts
from pages.transformer.residual.lens import Card, Contributions, Grid, Read
from pages.transformer.residual.room import DIFFERENCE, LOGIT, TUNED


def named(one: Grid, model_card: Card) -> list[list[str]]:
    """Names of the tokens in the cells."""
    coder = texts.tokenizer(model_card)
    return [texts.names(coder, row) for row in one.ids]


def of_grid(
    one: Grid, text: Read, names: list[list[str]], reader: str = LOGIT
) -> tuple[list[str], list[str]]:
    """A sentence and an equation for each token."""
    captions, latex, L = [], [], len(one.ids) - 1
    for t, piece in enumerate(text.pieces):
        settled = next(l for l in range(L + 1) if bool((one.ids[l:, t] == one.ids[-1, t]).all()))
        where = f"layer {settled}" if settled else "the embedding"
        captions.append(f"Behind {piece} comes {names[-1][t]}: it is the likeliest from {where} on.")
        if reader == TUNED:
            kl = [float(one.kls[name][L - 1, t]) for name in (LOGIT, TUNED)]
            latex.append(
                rf"q_l(v) = \mathrm{{softmax}}\left(E\,\mathrm{{LN}}(x_l + W_l x_l + b_l)\right)_v: \quad "
                rf"\mathrm{{KL}}(p_{{{L}}}, q_{{{L - 1}}}) = {kl[1]:.3f}, \quad "
                rf"\mathrm{{KL}}(p_{{{L}}}, p_{{{L - 1}}}) = {kl[0]:.3f}"
            )
            continue
        latex.append(
            rf"p_l(v) = \mathrm{{softmax}}\left(E\,\mathrm{{LN}}(x_l)\right)_v: \quad p_{{{L - 1}}} = "
            rf"{float(one.final_p[L - 1, t]):.3f}, \quad p_{{{L}}} = {float(one.final_p[L, t]):.3f}"
        )
    return captions, latex


def of_parts(one: Contributions, text: Read, model_card: Card, target: str) -> tuple[list[str], list[str]]:
    """A sentence and an equation for each token."""
    coder = texts.tokenizer(model_card)
    first, second = texts.names(coder, one.first), texts.names(coder, one.second)
    captions, latex = [], []
    for t, piece in enumerate(text.pieces):
        of = f"lead of {first[t]} over {second[t]}" if target == DIFFERENCE else f"logit of {first[t]}"
        table = torch.cat([one.heads[t], one.mlp[t][:, None]], 1)  # (L, H + 1)
        l, h = divmod(int(table.abs().argmax()), table.shape[1])
        part = f"MLP {l + 1}" if h == table.shape[1] - 1 else f"head {l + 1}.{h + 1}"
        captions.append(f"Behind {piece}: the {of}; {part} adds most, {float(table[l, h]):+.2f}.")
        terms = (one.embedding[t], one.heads[t].sum(), one.mlp[t].sum(), one.bias[t])
        words = ("embedding", "heads", "MLPs", "biases")
        said = "".join(rf"{float(v):+.2f}\;(\text{{{word}}})" for v, word in zip(terms, words, strict=True))
        latex.append(rf"z = {said} = {float(one.total[t]):.2f}")
    return captions, latex


def about_lens(one: Grid, count: int) -> str:
    """Say what a lens reads, and how far that is from the prediction."""

    def row(values: list[float]) -> str:
        return ", ".join(f"{value:.2f}" for value in values)

    said = (
        "The stream has the width of the embedding at every layer, so the model's last norm and head can "
        "read it anywhere. They were trained for the last layer alone: what they read below is what is there "
        f"in the terms of the last layer. KL from the last layer's distribution to those below, mean of "
        f"{count} tokens: {row(one.kl.mean(1).tolist())} nats from the embedding up."
    )
    if one.held_out:
        said += (
            " The tuned lens has an affine map behind each layer, fitted to validation text. On test text "
            f"the logit lens has {row(one.held_out[LOGIT].tolist())}, the tuned lens "
            f"{row(one.held_out[TUNED].tolist())} nats."
        )
    return said
