"""Own mistakes: a model goes on after true tokens, and after its own."""

from functools import partial

from lab import ui
from lab.lenses import strategies
from lab.lenses import text as texts
from pages.language.own_mistakes import figures, lens
from pages.language.own_mistakes.room import ROOM

ITSELF = "itself"
START = 10  # true tokens before each place
SIZES = (9, 60), (50, 1000)  # how many tokens and places there may be

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Judged by itself": ui.scene("The writer finds its own text likelier than that of people."),
        "Judged by counts": ui.scene(
            "A network writes, counts judge: its own text surprises them from the first tokens on.",
            trained="bengio-shakespeare", judge="ngram-shakespeare",
        ),
        "A thousand places": ui.scene(
            "Five times as many places: the band is less than half as wide.", places=1000,
        ),
        "Sixty tokens": ui.scene("Twice as far from the true beginning.", far=60),
        "Documentation": ui.scene("Another text, and the model that has read it.", trained="ngram-pydocs"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------


@ui.cached
def people(name):
    """Text of people, and the words of the training text."""
    return strategies.held_out(ui.card(name))


with stage.rail:
    name = ui.language_model("ngram-shakespeare")
    same = texts.tokenizer(ui.card(name)).tokens
    judges = [n for n in ui.language_models() if texts.tokenizer(ui.card(n)).tokens == same]
    judge = ui.choice("Judged by", [ITSELF, *judges], key="judge", as_list=True)
    judge = name if judge == ITSELF else judge
    length = ui.slider("Tokens", *SIZES[0], 30, key="far", step=3)
    places = ui.slider("Places in the text", *SIZES[1], 200, key="places", step=50)
    seed = ui.number("Seed", 0, 99, 0, key="seed")
text, _ = people(name)
if text is None:
    ui.stop("The text of this model is not at hand: put its corpus into the data folder, or choose a "
            "model of the Python documentation.")  # fmt: skip
corpus = text


# --- Picture ------------------------------------------------------------------------------------


def show(results):
    """Both curves, and the gap between them with its standard error."""
    gap = results.own - results.true
    t = list(range(1, len(gap) + 1))
    ui.figure(
        figures.surprisal(results.true, results.own, length), key="surprisal", share=0.5,
        alt="Surprisal at true text and at the model's own, against the tokens since they parted",
        data={"t": t, "true": results.true, "own": results.own},
    )  # fmt: skip
    ui.figure(
        figures.gap(gap, results.error, length), key="gap", share=0.5,
        alt="Surprisal at the model's own text less that at the true one, with two standard errors",
        data={"t": t, "gap": gap, "standard error": results.error},
    )  # fmt: skip


def models():
    """Writer and judge."""
    return ui.next_token_model(name), ui.next_token_model(judge)


def asked(length, places):
    """Settings that so many tokens at so many places depend on, and what begins the work."""
    writer, critic = models()
    work = partial(lens.drifting, writer, critic, corpus, START, length, places, seed)
    return (name, judge, length, places, seed), work


def quick(length, places):
    """Check whether it is done at once."""
    return all(strategies.quick(model, length * places // 100) for model in models())


with stage.picture:
    of, start = asked(length, places)
    result = ui.result(
        "Let the model go on alone", start, quick=quick(length, places), key="alone", of=of, show=show,
        says="The two texts are compared when the writer has written and the judge has judged.",
    )  # fmt: skip
    show(result)
near = [*((v, places) for v in ui.near(length, *SIZES[0], 3)),
        *((length, v) for v in ui.near(places, *SIZES[1], 50))]  # fmt: skip
ui.prefetch_result("alone", *(asked(*size) for size in near if quick(*size)))

gap = result.own - result.true
third = length // 3
growth, error = result.growth()
first, final = float(gap[:third].mean()), float(gap[-third:].mean())
verdict = (
    "it lies more than two standard errors from 0"
    if result.is_significant
    else "within two standard errors of 0 it cannot be told from none, and another seed may turn its sign"
)
stage.equation(
    rf"\Delta = \overline{{\text{{own}} - \text{{true}}}}:\quad {first:.3f} \to {final:.3f},\qquad "
    rf"\text{{growth}} = {growth:.3f} \pm {error:.3f}",
    note=f"First and last {third} of {length} tokens, nats; ± is the standard error over {places} places. "
    f"The growth: {verdict}.",
)

# --- Words --------------------------------------------------------------------------------------

above = float(gap.mean())
likelier = "surprises the judge less" if above < 0 else "surprises the judge more"
with stage.below:
    ui.caption(
        f"A point of the gap has a standard error of {float(result.error.mean()):.3f} nats. The tokens of "
        f"one "
        f"text hang together: each text counts as one draw. The writer draws as it is; the judge is {judge}."
    )
    ui.notice(
        f"The model's own text {likelier} than the true one, by {abs(above):.3f} nats per token. How the gap "
        f"grows would tell how mistakes add up: here it grows by {growth:.3f} ± {error:.3f}; {verdict}. A "
        "model that sees few tokens soon forgets them, good or bad."
    )
    ui.check(
        "Which text surprises this judge more?",
        ["the true one", "the model's own"],
        "the model's own" if above > 0 else "the true one",
        f"On average by {abs(above):.3f} nats per token.",
        wrong={
            "the true one": "Its own text leads a model to where it was never taught, and there it is "
            "surprised.",
            "the model's own": "A model writes what it holds likely: a judge that thinks alike is rarely "
            "surprised.",
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import strategies
        from pages.language.own_mistakes import lens
        place, judge = {ui.spelled(name)}, {ui.spelled(judge)}
        text, _ = strategies.held_out(weights.read_card(place))
        models = [weights.load(place).eval(), weights.load(judge).eval()]
        drift = lens.drift(*models, text, {START}, {length}, {places}, seed={seed})
        result = drift.growth()
        """,
        shows=[growth, error],
    )
    ui.source(lens.drifting, strategies.continuing, references=ROOM.references)
