"""All strategies: nine ways to write, beside people."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import strategies
from lab.lenses import text as texts
from pages.language.all_strategies import lens

REFERENCES = [
    "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
    "Nguyen et al. 2024, Turning up the heat: min-p sampling, arXiv:2407.01082",
]

ui.header(
    "All strategies",
    "Nine strategies and people go on with a text: who repeats, who invents words?",
    lenses=("sampling",),
)

name = ui.language_model("ngram-shakespeare")
prompt, _ = ui.beginning(name)
first, second = ui.columns(2)
with first:
    length = ui.slider(f"New tokens, {lens.TEXTS} texts each", 50, 2000, 150, key="each", step=50)
with second:
    seed = ui.number("Seed", 0, 9999, 0, key="seed")


@ui.cached
def compared(name, prompt, length, seed):
    human, words = strategies.held_out(ui.card(name))
    coder = texts.tokenizer(ui.card(name))
    found = lens.compare(
        ui.next_token_model(name), coder, prompt, length, human=human, vocabulary=words, seed=seed
    )
    return {how: (one.nats, one.distinct, one.known) for how, one in found.items()}


if asked := ui.toggle("Write with every strategy (seconds; 2,000 tokens take longer)", False, key="write"):
    try:
        found = compared(name, prompt, length, seed)
    except (UserError, ValueError) as error:
        ui.stop(str(error))
    names, count = list(found), lens.TEXTS * (length - strategies.GRAM + 1)
    nats, distinct = [v[0] for v in found.values()], [v[1] for v in found.values()]
    people = names.index(lens.HUMAN) if lens.HUMAN in found else None
    left, right = ui.columns(2)
    for column, measure, values in (
        (left, "surprisal (nats)", nats), (right, "different 8-grams", distinct),
    ):  # fmt: skip
        with column:
            ui.figure(
                basic.bars(names, values, highlight=people, horizontal=True, xlabel=measure, height=440),
                alt=f"{measure} of the text of every strategy", key=f"bars-{measure}",
                data={"strategy": names, measure: values},
            )  # fmt: skip
    ui.table(
        {
            "strategy": names,
            "surprisal (nats)": [f"{v:.3f}" for v in nats],
            "different 8-grams": [f"{v:.3f}" for v in distinct],
            "words known from training": ["–" if v[2] is None else f"{v[2]:.3f}" for v in found.values()],
        },
        alt="Surprisal, repetition and known words of every strategy", key="strategies",
    )  # fmt: skip
    missing = "" if lens.HUMAN in found else " The text of people is not at hand."
    ui.equation(
        r"\frac{\text{different sequences of 8}}{\text{all}} = "
        rf"\frac{{{distinct[0] * count:.0f}}}{{{count}}} = {distinct[0]:.3f}",
        note=f"Greedy: {lens.TEXTS} equal texts of {length} tokens. Surprisal is under the model as it "
        "is, before any filter." + missing,
    )
ui.notice(
    "Greedy loops. Cold or narrow strategies surprise the model less than people do, and repeat more; "
    "the hotter the draw, the more words nobody has written. Something between comes near people in one "
    "measure, never in all."
)
ui.presets(
    {
        "Counts": {"trained": "ngram-shakespeare", "each": 150, "write": True},
        "A neural model": {"trained": "bengio-shakespeare", "each": 150, "write": True},
        "Words": {"trained": "ngram-multi30k", "each": 50, "write": True},
    }
)
if asked:
    low = names[min(range(len(names)), key=lambda i: distinct[i])]
    ui.check("Which text repeats itself most?", names, low, f"{min(distinct):.3f} of its 8-grams differ.")
ui.source(strategies.continued, lens.compare, references=REFERENCES)
