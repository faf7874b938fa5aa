"""Own mistakes: a model goes on after true tokens, and after its own."""

from lab import ui
from lab.figures import basic
from lab.lenses import strategies
from lab.lenses import text as texts
from pages.language.own_mistakes import lens

REFERENCES = [
    "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
]

ui.header(
    "Own mistakes",
    "After true tokens a model was trained on what comes; after its own it was never trained.",
    lenses=("sampling",),
)

name = ui.language_model("ngram-shakespeare")
same = texts.tokenizer(ui.card(name)).tokens
judges = [n for n in ui.language_models() if texts.tokenizer(ui.card(n)).tokens == same]
first, second, third = ui.columns(3)
with first:
    judge = ui.choice("Judged by", judges, key="judge", default=name, as_list=True)
with second:
    length = ui.slider("Tokens", 9, 60, 30, key="far", step=3)
with third:
    places = ui.slider("Places in the text", 50, 1000, 200, key="places", step=50)


@ui.cached
def drifted(name, judge, length, places, seed):
    text, _ = strategies.held_out(ui.card(name))
    if text is None:
        return None
    return lens.drift(ui.next_token_model(name), ui.next_token_model(judge), text, 10, length, places, seed)


if asked := ui.toggle("Let the model go on alone (seconds)", False, key="alone"):
    found = drifted(name, judge, length, places, 0)
    if found is None:
        ui.stop("The text of this model is not at hand: put its corpus into the data folder, or choose a "
                "model of the Python documentation.")  # fmt: skip
    lines = {"after true tokens": found.true, "after its own tokens": found.own}
    ui.figure(
        basic.curves(lines, x=list(range(length)), xlabel="tokens since the true beginning",
                     ylabel="surprisal of the judge (nats)"),
        alt="Surprisal at true text and at the model's own, against the tokens since they parted",
        data={"t": list(range(length)), **lines},
    )  # fmt: skip
    third_of = length // 3
    gap = found.own - found.true
    growth, error = found.growth()
    ui.equation(
        rf"\Delta = \overline{{\text{{own}} - \text{{true}}}}:\quad "
        rf"{float(gap[:third_of].mean()):.3f} \;\to\; {float(gap[-third_of:].mean()):.3f},\qquad "
        rf"\text{{growth}} = {growth:.3f} \pm {error:.3f}",
        note=f"First and last {third_of} tokens, nats; {places} places, ± is the standard error over them, "
        f"of one point {float(found.error.mean()):.3f}. "
        + (
            "The growth lies more than two standard errors from 0."
            if found.told
            else "The growth lies within two standard errors of 0: with so many places it cannot be told "
            "from none, and another draw may give it the other sign."
        )
        + f" The writer draws as it is; the judge is {judge}.",
    )
ui.notice(
    "A better judge is surprised by the writer's own text at once. How the gap grows would tell how "
    "mistakes add up; a model that sees few tokens soon forgets them, good or bad, and over 200 places "
    "the growth stays within its noise. "
    "Judged by itself the writer finds its own text likelier than that of people."
)
ui.presets(
    {
        "Judged by counts": {
            "trained": "bengio-shakespeare",
            "judge": "ngram-shakespeare",
            "alone": True,
        },
        "Judged by itself": {"trained": "ngram-shakespeare", "judge": "ngram-shakespeare", "alone": True},
    }
)
if asked:
    above = float(gap.mean())
    ui.check(
        "Which text surprises this judge more?",
        ["the true one", "the model's own"],
        "the model's own" if above > 0 else "the true one",
        f"On average by {abs(above):.3f} nats a token.",
    )
ui.source(lens.drift, strategies.continued, references=REFERENCES)
