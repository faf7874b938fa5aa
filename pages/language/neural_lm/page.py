"""Neural language model: trained live on a small text, beside counts of the same text."""

import math
from typing import Any

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import shared_strength as bars
from lab.figures import word_vectors as maps
from lab.lenses.text import shown as visible
from modules.language.bengio import Bengio
from pages.language.neural_lm import lens

PETS = "\n".join(
    f"the {who} {what}" for who in ("cat", "dog", "bird", "horse", "boy", "girl")
    for what in ("sat on the mat", "ate the bone", "saw the ball", "slept in the barn")
)  # fmt: skip
RHYME = "\n".join(
    ["a sailor went to sea sea sea", "to see what he could see see see", "but all that he could see see see",
     "was the bottom of the deep blue sea sea sea"] * 3
)  # fmt: skip
BARS = 10

ui.header(
    "Neural language model",
    "A network over the last few tokens, trained while you watch, against counts of the same text.",
)

# --- Controls -----------------------------------------------------------------------------------

left, right = ui.columns(2)
with left:
    name = ui.choice("Text", [lens.TOY, lens.DOCS, lens.OWN], key="corpus", as_list=True)
written, unit = "", "words"
if name == lens.OWN:
    with right:
        unit = ui.choice("Tokens", ["words", "characters"], key="unit")
    written = ui.text(
        "Own text, a sentence a line",
        PETS,
        key="own",
        examples={"Pets": PETS, "Rhyme": RHYME},
        max_chars=5000,
    )
    with ui.expander("A text file instead"):
        ui.upload("Its beginning is put above", into="own")
first, second, third = ui.columns(3)
with first:
    n = ui.slider("Order n", 2, 8, 6, key="n", help="It sees n − 1 tokens.")
    d = ui.slider("Dimensions d", 2, 32, 8, key="d")
with second:
    hidden = ui.slider("Hidden units", 8, 128, 32, key="hidden", step=8)
    rate = ui.slider("Learning rate", 0.001, 0.05, 0.01, key="lr", step=0.001, format="%.3f")
with third:
    inputs = ui.choice("Tokens go in as", ["learned", "one-hot"], key="inputs")
    steps = ui.slider("Steps", 100, 3000, 500, key="steps", step=100)


@ui.cached
def anchors(name, written, unit, n):
    """The text, its Kneser-Ney counts, and what add-one and Kneser-Ney reach, nats a token."""
    found = lens.corpus(name, written, unit)
    counts = lens.counted(found, n, "kneser-ney")
    return found, counts, lens.mean_nll(lens.counted(found, n, "add"), found), lens.mean_nll(counts, found)


try:
    found, counts, add_one, kneser_ney = anchors(name, written, unit, n)
except (UserError, ValueError) as error:  # too short, or n-grams too long to be counted
    ui.stop(str(error))
example = "the dog sat on the" if found.by_words else "the "
context = ui.text("Context", example, key=f"context-{name}", max_chars=100)

# --- Picture ------------------------------------------------------------------------------------


def draw_loss(progress):
    """Loss so far, with the counts as lines."""
    x = progress.steps
    ui.figure(
        basic.curves(
            {
                "held out": progress.test,
                "training batch": progress.train,
                "add-one": [add_one] * len(x),
                "Kneser-Ney": [kneser_ney] * len(x),
            },
            x, xlabel="steps", ylabel="nats a token",
        ),
        alt="Loss of the network on the held-out part and on its batches, with that of two counts",
        data={"step": x, "held out": progress.test, "batch": progress.train},
        key="loss",
    )  # fmt: skip


def draw_rest(network):
    """Next-token bars and the map of tokens."""
    try:
        p = lens.next_tokens(found, counts, network, context)
    except UserError as error:
        ui.stop(str(error))
    leading = p["network" if network is not None else "Kneser-Ney"]
    top = leading.argsort(descending=True, stable=True)[:BARS]
    ui.markdown(f"##### After “{context}”")
    labels = visible([found.coder.tokens[i] for i in top.tolist()])
    ui.figure(
        bars.answers(labels, {key: v[top] for key, v in p.items()}),
        alt="The most probable next tokens by Kneser-Ney and by the network",
        data={"token": labels} | {key: v[top] for key, v in p.items()}, key="next",
    )  # fmt: skip
    if network is not None:
        points, tokens = lens.plane(found, network)
        ui.figure(
            maps.word_map(points, visible(tokens)),
            alt="The most frequent tokens in the plane in which their vectors differ most",
            data={"token": tokens, "x": points[:, 0], "y": points[:, 1]}, key="map",
        )  # fmt: skip


drawn: list[Any] = []  # what the job has drawn in this run of the page


def draw(progress):
    drawn.append(progress)
    draw_loss(progress)
    draw_rest(progress.network)


settings = (name, written, unit, n, d, hidden, rate, inputs, steps)
done = ui.job(
    "Train",
    lambda: lens.train(found, n, d, hidden, rate, inputs == "one-hot", steps),
    key="train",
    of=settings,
    show=draw,
)
if done is not None:
    draw(done)
elif not drawn:
    draw_rest(None)
latex = rf"L_{{\text{{add-one}}}} = {add_one:.4f},\qquad L_{{\text{{Kneser-Ney}}}} = {kneser_ney:.4f}"
note = "Mean nats of a held-out token; the perplexities are "
scores = {"add-one": add_one, "Kneser-Ney": kneser_ney}
if done is not None:
    scores["network"] = done.test[-1]
    latex += rf",\qquad L_{{\text{{network}}}} = {done.test[-1]:.4f}"
ui.equation(latex, note=note + ", ".join(f"{math.exp(v):.2f} ({k})" for k, v in scores.items()) + ".")
ui.notice(
    "The network soon passes add-one smoothing. Good counting is harder to beat: on text of this size "
    "Kneser-Ney mostly stays ahead; where a class decides, as in the toy, the network wins. After too many "
    "steps on a short text the held-out loss rises again."
)
ui.presets(
    {
        "Class toy": {"corpus": lens.TOY, "n": 6, "d": 8, "hidden": 32, "lr": 0.01, "steps": 500},
        "One-hot": {"inputs": "one-hot"},
        "Documentation": {"corpus": lens.DOCS, "n": 6, "d": 16, "hidden": 96, "lr": 0.005, "steps": 1500},
        "A rhyme": {"corpus": lens.OWN, "own": RHYME, "n": 4},
    }
)
best = min(scores, key=lambda key: scores[key])
ui.check("Which is best on what was held out?", list(scores), best, f"{scores[best]:.4f} nats a token.")
ui.source(
    Bengio.forward, lens.train,
    references=[
        "Bengio, Ducharme, Vincent, Jauvin 2003, A neural probabilistic language model, JMLR 3",
        "[LLM] neural language models",
    ],
)  # fmt: skip
