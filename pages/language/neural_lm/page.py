"""Neural language model: trained live on a small text, beside counts of the same text."""

import math

from lab import ui
from lab.errors import UserError
from lab.figures import shared_strength as bars
from lab.figures import word_vectors as maps
from lab.lenses.text import shown as visible
from modules.language.bengio import Bengio
from pages.language.neural_lm import figures, lens
from pages.language.neural_lm.room import ROOM

PETS = "\n".join(
    f"the {who} {what}" for who in ("cat", "dog", "bird", "horse", "boy", "girl")
    for what in ("sat on the mat", "ate the bone", "saw the ball", "slept in the barn")
)  # fmt: skip
RHYME = "\n".join(
    ["a sailor went to sea sea sea", "to see what he could see see see", "but all that he could see see see",
     "was the bottom of the deep blue sea sea sea"] * 3
)  # fmt: skip
BARS = 8

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Counts alone": ui.scene("Nothing is trained yet: what counts expect next, and what they reach."),
        "Class toy": ui.scene("The network falls below both counts: here the class decides.", go=True),
        "One-hot": ui.scene("No learned vectors: the first layer makes them.", go=True, inputs="one-hot"),
        "Documentation": ui.scene(
            "Python's documentation, letter by letter: can the network pass Kneser-Ney?",
            corpus=lens.DOCS, d=16, hidden=96, lr=0.005, steps=1500, go=True,
        ),
        "A rhyme": ui.scene("Three words of context, and a text that repeats itself.", corpus=lens.OWN,
                            own=RHYME, n=4, go=True),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

written, unit = "", "words"
with stage.rail:
    go = ui.toggle("Train at once", False, key="go")
    name = ui.choice("Text", [lens.TOY, lens.DOCS, lens.OWN], key="corpus", as_list=True)
    if name == lens.OWN:
        unit = ui.choice("Tokens", ["words", "characters"], key="unit")
        written = ui.text("Own text, a sentence a line", PETS, key="own", max_chars=5000)
    steps = ui.slider("Steps", 100, 3000, 500, key="steps", step=100)
    n = ui.slider("Order n", 2, 8, 6, key="n", help="It sees n − 1 tokens.")
    d = ui.slider("Dimensions d", 2, 32, 8, key="d")
    hidden = ui.slider("Hidden units", 8, 128, 32, key="hidden", step=8)
    rate = ui.slider("Learning rate", 0.001, 0.05, 0.01, key="lr", step=0.001)
    inputs = ui.choice("Tokens go in as", ["learned", "one-hot"], key="inputs")


@ui.cached
def anchors(name, written, unit, n):
    """The text, its Kneser-Ney counts, and what add-one and Kneser-Ney reach, nats per token."""
    corpus = lens.corpus(name, written, unit)
    counts = lens.counted(corpus, n, "kneser-ney")
    return (
        corpus,
        counts,
        lens.mean_nll(lens.counted(corpus, n, "add"), corpus),
        lens.mean_nll(counts, corpus),
    )


try:
    result, counts, add_one, kneser_ney = anchors(name, written, unit, n)
except (UserError, ValueError) as error:  # too short, or n-grams too long to be counted
    ui.stop(str(error))
with stage.rail:
    example = "the dog sat on the" if result.by_words else "the "
    context = ui.text("Context", example, key=f"context-{name}", max_chars=100)
    if name == lens.OWN:
        with ui.expander("A text file instead"):
            ui.upload("Its beginning is put above", into="own")
try:
    before = lens.next_tokens(result, counts, None, context)
except UserError as error:
    ui.stop(str(error))
scores = {"add-one": add_one, "Kneser-Ney": kneser_ney}

# --- Picture ------------------------------------------------------------------------------------


def draw_loss(progress, share, film=None):
    """Loss so far, with the counts as levels."""
    lines = {"held out": progress.test, "batch": progress.train} if progress else {}
    fig, frames = figures.loss(progress.steps if progress else [], lines, scores, steps)
    ui.figure(
        fig, alt="Loss of the network on the held-out part and on its batches, with that of two counts",
        key="loss", share=share, film=film, frames=frames if film else None,
        data={"step": progress.steps, **lines} if progress else {k: [v] for k, v in scores.items()},
    )  # fmt: skip


def draw_next(p, share, film=None, each=None):
    """Bars of the next token, the likeliest by the network (else by counts)."""
    top = list(p.values())[-1].argsort(descending=True, stable=True)[:BARS]
    labels = visible([result.coder.tokens[i] for i in top.tolist()])
    fig = bars.answers(labels, {key: v[top] for key, v in p.items()})
    ui.figure(
        fig, alt="The most probable next tokens by Kneser-Ney and by the network", key="next", share=share,
        data={"token": labels} | {key: v[top] for key, v in p.items()}, film=film,
        frames=bars.turning(fig, "network", each[:, top]) if film else None,
    )  # fmt: skip


def draw(progress, film=None, story=None):
    """Loss and next tokens so far; beside them the tokens in the plane."""
    left, right = ui.columns([6, 5])
    with left:
        draw_loss(progress, 0.5, film)
        p = lens.next_tokens(result, counts, progress.network, context)
        draw_next(p, 0.5, film, story.next if story else None)
    with right:
        points, tokens = (story.points, story.tokens) if story else lens.plane(result, progress.network)
        shown = points[film.at] if film else points
        fig, frames = maps.moving_map(
            points if film else points[None], visible(tokens), at=film.at if film else 0, room=(40, 20)
        )
        ui.figure(
            fig,
            alt="The most frequent tokens in the plane in which their vectors differ most", key="map",
            data={"token": tokens, "x": shown[:, 0], "y": shown[:, 1]},
            share=1.0, film=film, frames=frames if film else None,
        )  # fmt: skip


def draw_counts():
    """Before the training."""
    left, right = ui.columns(2)
    with left:
        draw_loss(None, 0.9)
    with right:
        draw_next(before, 0.9)


with stage.picture:
    done = ui.job(
        "Train",
        lambda: lens.train(result, n, d, hidden, rate, inputs == "one-hot", steps),
        key="train", of=(name, written, unit, n, d, hidden, rate, inputs, steps), show=draw,
        before=draw_counts, at_once=go,
    )  # fmt: skip
    if done is not None:
        story = lens.film(result, done, context)
        film = ui.film(
            len(done.steps), key="look", seconds=0.1, default=steps, label="Step", values=done.steps
        )
        draw(done, film, story)
latex = rf"L_{{\text{{add-one}}}} = {add_one:.4f},\quad L_{{\text{{Kneser-Ney}}}} = {kneser_ney:.4f}"
if done is not None:
    scores = scores | {"network": done.test[-1]}
    with stage.foot:
        film.bar(equations=[rf"{latex},\quad L_{{\text{{network}}}} = {value:.4f}" for value in done.test])
else:
    stage.equation(latex, note="Mean nats of a held-out token.")

# --- Words --------------------------------------------------------------------------------------

best = min(scores, key=lambda key: scores[key])
with stage.below:
    ui.caption("Perplexities: " + ", ".join(f"{math.exp(v):.2f} ({k})" for k, v in scores.items()) + ".")
    least = min(done.test) if done is not None else math.nan
    ui.notice(
        f"On what was held out {best} is best, with {scores[best]:.2f} nats per token. "
        + (
            f"The network was best at step {done.steps[done.test.index(least)]}, with {least:.2f}. "
            if done is not None
            else ""
        )
        + "Good counting is hard to beat on a short text; where a class decides, as in the toy, a network "
        "can share what it knows of one word with others."
    )
    ui.check(
        "Which is best on what was held out?", list(scores), best, f"{scores[best]:.4f} nats per token.",
        wrong={
            name: f"“{name}” costs {nats - scores[best]:.4f} nats more on what it never saw."
            for name, nats in scores.items()
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.language.neural_lm import lens
        corpus = lens.corpus({name!r}, {written!r}, {unit!r})
        counts = [lens.counted(corpus, {n}, smoothing) for smoothing in ("add", "kneser-ney")]
        result = [lens.mean_nll(model, corpus) for model in counts]
        """
        + (
            f"""
        *_, (_, network) = lens.train(found, {n}, {d}, {hidden}, {rate}, {inputs == "one-hot"}, {steps})
        result.append(network.test[-1])
        """
            if done is not None
            else ""
        ),
        shows=list(scores.values()),
    )
    ui.source(
        Bengio.forward, lens.train,
        references=ROOM.references,
    )  # fmt: skip
