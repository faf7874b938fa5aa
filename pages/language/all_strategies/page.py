"""All strategies: nine ways to write, beside people."""

from lab import ui
from lab.lenses import strategies
from lab.lenses import text as texts
from pages.language.all_strategies import figures, lens
from pages.language.all_strategies.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Counts": ui.scene("Three texts by each: greedy loops, and few of its 8-grams differ."),
        "Longer": ui.scene("300 tokens: greedy goes on in its loop, a smaller share differs.", each=300),
        "A neural model": ui.scene(
            "A network: the hotter the draw, the fewer of its words have ever been written.",
            trained="bengio-shakespeare",
        ),
        "Documentation": ui.scene(
            "Counts of another text: which strategies loop here?",
            trained="ngram-pydocs", prompt="Return a list of ",
        ),
        "Words": ui.scene(
            "Whole words: what is drawn freely surprises the model far more than greedy text does.",
            trained="ngram-multi30k", each=50, prompt="a man in a",
        ),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.language_model("ngram-shakespeare")
    prompt, _ = ui.beginning(name)
    length = ui.slider("New tokens", 50, lens.LONGEST, 150, key="each", step=50)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
model, coder = ui.next_token_model(name), texts.tokenizer(ui.card(name))


@ui.cached
def people(name):
    """Text of people, and the words of the training text."""
    return strategies.held_out(ui.card(name))


human, words = people(name)


@ui.cached
def pen(name, prompt, seed):
    return lens.Pen(ui.next_token_model(name), prompt, seed=seed)


@ui.cached
def measured(name, tokens, nats):
    _, words = people(name)
    return lens.story(texts.tokenizer(ui.card(name)), tokens, nats, words)


# --- Picture ------------------------------------------------------------------------------------


def draw(story, at, film=None):
    """All measures of all strategies, at every frame."""
    names = list(story[-1])
    values = {
        "surprisal (nats)": [[one.nats for one in results.values()] for results in story],
        "different 8-grams": [[one.distinct for one in results.values()] for results in story],
    }
    if words:
        values["known words"] = [[one.known for one in results.values()] for results in story]
    people = names.index(lens.HUMAN) if lens.HUMAN in names else None
    fig, frames = figures.measures(names, values, people, at)
    ui.figure(
        fig, alt="Surprisal, different 8-grams and known words of every strategy", key="measures",
        data={"strategy": names, **{measure: v[at] for measure, v in values.items()}}, share=1.0,
        film=film, frames=frames if film else None,
    )  # fmt: skip


def show(results):
    """Show what is written so far."""
    tokens, nats = results
    if tokens.shape[-1] > strategies.GRAM:
        draw([lens.measure(coder, tokens, nats, words)], 0)


def asked(length):
    """Settings that the texts of so many tokens depend on, and what begins to write them."""
    return (name, prompt.tolist(), length, seed), lambda: lens.writing(pen(name, prompt, seed), length, human)


with stage.picture:
    of, start = asked(length)
    result = ui.result(
        "Write with every strategy", start, key="write", of=of, show=show,
        quick=lens.quick(pen(name, prompt, seed), length),
        says="The strategies are compared in full when all texts are written.",
    )  # fmt: skip
    longer = min(length + 50, lens.LONGEST)
    if lens.quick(pen(name, prompt, seed), longer):
        ui.prefetch_result("write", asked(longer))
    story = measured(name, *result)
    film = ui.film(
        len(story), key="step", seconds=0.2, default=length, label="Tokens", values=lens.frames(length)
    )
    draw(story, film.at, film)


def equation(results, t):
    """The share of greedy's 8-grams that differ."""
    count, share = lens.TEXTS * (t - strategies.GRAM + 1), results["greedy"].distinct
    return (
        r"\text{greedy:}\quad \frac{\text{different 8-grams}}{\text{all}} = "
        rf"\frac{{{share * count:.0f}}}{{{count}}} = {share:.3f}"
    )


with stage.foot:
    film.bar(equations=[equation(results, t) for results, t in zip(story, lens.frames(length), strict=True)])

# --- Words --------------------------------------------------------------------------------------

final = story[-1]
distinct = {how: one.distinct for how, one in final.items()}
low = min(distinct, key=lambda how: distinct[how])
with stage.below:
    ui.table(
        {
            "strategy": list(final),
            "surprisal (nats)": [f"{one.nats:.3f}" for one in final.values()],
            "different 8-grams": [f"{one.distinct:.3f}" for one in final.values()],
            "words known from training": [
                "–" if one.known is None else f"{one.known:.3f}" for one in final.values()
            ],
        },
        alt="Surprisal, repetition and known words of every strategy", key="strategies",
    )  # fmt: skip
    missing = "" if lens.HUMAN in final else " The text of people is not at hand."
    ui.caption(
        f"Greedy writes {lens.TEXTS} equal texts of {length} tokens. Surprisal is under the model as it is, "
        "before any filter; a different 8-gram is counted once over all texts of a strategy." + missing
    )
    ui.notice(
        lens.comparison(final)
        + " Surprisal grows with temperature, and so does what nobody has written: no one "
        "measure says which text is best."
    )
    ui.check(
        "Which text repeats itself most?", list(distinct), low, f"{distinct[low]:.3f} of its 8-grams differ.",
        wrong={
            name: f"Of the 8-grams of “{name}” {share:.3f} differ: who cuts more off repeats more."
            for name, share in distinct.items()
        },
        veils=("picture", "equation", "strategies"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import text
        from pages.language.all_strategies import lens
        place = {ui.spelled(name)}
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        prompt = text.read(coder, {coder.decode(prompt.tolist())!r})
        answers = lens.compare(model, coder, prompt, {length}, seed={seed})
        result = [one.nats for one in answers.values()]
        """,
        shows=[one.nats for how, one in final.items() if how != lens.HUMAN],
    )
    ui.source(strategies.continuing, lens.compare, references=ROOM.references)
