"""Two strategies: two texts of one model side by side, and how each repeats itself."""

from lab import ui
from lab.errors import UserError
from modules.language.decoding import stream
from pages.language.two_strategies import figures, lens

TEMPERATURES = [0.0, 0.4, 0.8, 1.0, 1.3, 2.0]
REFERENCES = [
    "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
    "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
]

ui.header(
    "Two strategies",
    "A language model gives probabilities; a strategy makes a text of them, and not always the likeliest.",
    lenses=("sampling",),
)

name = ui.language_model("gpt-shakespeare")


@ui.cached
def continued(name, prompt, strategy, length, seed):
    return lens.run(ui.next_token_model(name), prompt, strategy, length, seed)


@ui.cached
def swept(name, prompt, length, seed):
    return lens.sweep(ui.next_token_model(name), prompt, TEMPERATURES, length, seed=seed)


prompt, names = ui.beginning(name)
first, second = ui.columns(2)
with first:
    left = ui.choice("One", list(lens.STRATEGIES), key="one", default="greedy", as_list=True)
with second:
    right = ui.choice("Other", list(lens.STRATEGIES), key="other", default="nucleus 0.9", as_list=True)
with first:
    length = ui.slider("New tokens", 20, 200, 60, key="tokens", step=20)
with second:
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
results = []
for column, strategy in zip(ui.columns(2), (left, right), strict=True):
    try:
        result = continued(name, prompt, strategy, length, seed)
    except UserError as error:
        ui.stop(str(error))
    results.append(result)
    with column:
        ui.figure(
            figures.text([names[i] for i in result.tokens.tolist()], result.repeated.tolist()),
            alt=f"The continuation by {strategy}; what has come before is marked",
            data={"token": [names[i] for i in result.tokens.tolist()], "nats": result.nats},
            key=f"text-{len(results)}",
        )
        for inner, (label, number) in zip(
            ui.columns(3),
            {
                "Distinct 8-grams": f"{result.distinct:.2f}",
                "Entropy (nats)": f"{float(result.entropy.mean()):.3f}",
                "Surprisal (nats)": f"{float(result.nats.mean()):.3f}",
            }.items(),
            strict=True,
        ):
            with inner:
                ui.metric(label, number)
human = ui.card(name)["metrics"].get("test/nll")
ui.equation(
    r"\frac{1}{T}\sum_t -\log P(x_t \mid x_{<t}) = " + f"{float(results[0].nats.mean()):.3f}"
    rf"\ \text{{({left})}},\quad {float(results[1].nats.mean()):.3f}\ \text{{({right})}}",
    note="Under the model as it is, before any filter."
    + (f" Text by people that it has never seen costs {human:.3f} nats a token." if human else ""),
)
if ui.toggle("Temperatures from 0 to 2 (some seconds)", False, key="sweep"):
    found = swept(name, prompt, 50, seed)
    ui.figure(
        figures.against_temperature(TEMPERATURES, found["distinct"], found["entropy"], found["nats"]),
        alt="Repetition, entropy and surprisal of own text against temperature",
        data={"temperature": TEMPERATURES, **found},
    )
ui.notice(
    "Greedy and beam repeat themselves (marked), and surprise the model far less than people do. "
    "Plain sampling surprises it about as much as people, and drifts; nucleus and min-p lie between."
)
ui.presets(
    {
        "Greedy / nucleus": {"one": "greedy", "other": "nucleus 0.9"},
        "Beam / ancestral": {"one": "beam of 4", "other": "ancestral"},
        "Cold / hot": {"one": "temperature 0.5", "other": "temperature 1.5"},
    }
)
a, b = (r.distinct for r in results)
ui.check(
    "Which text repeats itself more?",
    ["One", "Other", "neither"],
    "neither" if a == b else "One" if a < b else "Other",
    f"Different runs of 8 tokens: {a:.2f} and {b:.2f}.",
)
ui.source(stream, lens.repeats, references=REFERENCES)
