"""Score functions, scale and saturation: the same vectors, random vectors by width, learned alignments."""

from typing import Any

from lab import ui
from modules.transformer import attention, source_attention
from pages.transformer.scores import figures, lens
from pages.transformer.scores.room import LENGTHS, ROOM, SCALE, SCORES, WIDTHS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

pair: tuple[tuple[str, Any, str], tuple[str, Any, str]]
if now.view == SCORES:
    one = ui.compute(lens.scores, now)
    film = ui.film_of(now, len(LENGTHS))
    captions, equations = lens.score_captions(one), lens.score_equations(one)
    pair = (
        ("weights", figures.weights(one), "Attention weights of three scores for the same vectors"),
        ("largest", figures.largest(one), "The largest weight of each score over the length of the vectors"),
    )
    code = (
        f"one = lens.scores(lens.vector({now.s!r}), lens.keys({now.h!r}), lens.vector({now.v!r}))\n"
        f"result = one.alpha[{film.at}].tolist()"
    )
    shows = one.alpha[film.at].tolist()
    words = (
        "The additive score is a network with one hidden layer: it may compare vectors of different widths, "
        "and its tanh bounds it by Σ|v|. The dot product has no parameters, and is one product of matrices "
        "for all pairs; it grows with the square of the length of the vectors. 1/√d takes out what comes "
        "of the number of entries, not what comes of their size."
    )
elif now.view == SCALE:
    found = ui.compute(lens.random, now)
    film = ui.film_of(now, len(WIDTHS))
    captions = lens.scale_captions(found, now.scaled)
    equations = lens.scale_equations(found, now.scaled)
    pair = (
        ("spread", figures.spread(found, now.scaled), "Histogram of the scores of random queries and keys"),
        ("measured", figures.measured(found, now.measure, now.scaled), f"{now.measure} over the width d_k"),
    )
    code = f"result = lens.random({now.seed}).lines[{now.measure!r}][0].tolist()"
    shows = found.lines[now.measure][0].tolist()
    words = (
        f"Means over {lens.ROWS:,} random queries with 16 keys each, all entries of N(0, 1). Independent "
        "entries add their variances: Var(q·k) = d_k. Without 1/√d_k the softmax is nearly one-hot from the "
        "start, and the gradient through it vanishes with its Jacobian diag(a) − aaᵀ. At d_k = 1 the two "
        "are the same."
    )
else:
    both = ui.compute(lens.learned, now)
    film = ui.film_of(now, len(both.target), names=both.target)
    captions, equations = lens.learned_captions(both), lens.learned_equations(both)
    pair = (
        ("additive", figures.alignment(both, True), "Weights of the additive score, a row for each word"),
        ("scaled", figures.alignment(both, False), "Weights of a head with scaled scores, word by word"),
    )
    code = (
        "from lab import experiments, weights\n\n"
        f"places = [experiments.find(name).weights for name in ({now.recurrent!r}, {now.former!r})]\n"
        "first, second = (weights.load(place).eval() for place in places)\n"
        "card = weights.read_card(places[0])\n"
        f"result = lens.learned({now.text!r}, {now.head!r}, first, card, second).additive[0].tolist()"
    )
    shows = both.additive[0].tolist()
    words = (
        f"{both.says} Left: one additive score, a GRU's state of before the word asks (attention-spanish). "
        f"Right: head {now.head} of the Transformer, scaled (translator-spanish). Both were told nothing "
        "of the alignment. At the same word the head's largest weight is where the additive one is for "
        f"{100 * both.agreement.max():.0f} % of the words in the head that agrees most. An additive score "
        "takes a tanh for each entry of each pair; a scaled one is a product of two matrices."
    ).strip()

with stage.picture:
    ui.figures(*pair, film=film)
with stage.foot:
    film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    ui.check(
        "Entries of q and k are independent, with variance 1. How does the standard deviation of q·k grow?",
        lens.OPTIONS, lens.OPTIONS[1], "Variances add: d_k of them, each 1. The deviation is their root.",
        wrong=("That is the variance.", "", "Each entry adds a product of variance 1."), veils=(),
    )  # fmt: skip
    ui.program(f"from pages.transformer.scores import lens\n\n{code}", shows=shows)
    ui.source(
        source_attention.SourceAttention.scores, attention.attention_weights, lens.jacobian_norm,
        references=ROOM.references,
    )  # fmt: skip
