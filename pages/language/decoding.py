"""Decoding: the tree of a beam, the cuts on the next token, two strategies side by side."""

from typing import cast

from lab import ui
from lab.errors import UserError
from lab.figures import decoding as figures
from lab.figures import tokens as token_figures
from lab.lenses import decoding as lens
from lab.lenses import sampling
from lab.lenses import text as texts
from modules.base import NextToken
from modules.language.beam import beam_trace, exhaustive
from modules.language.decoding import stream
from modules.language.truncation import Knobs, cut, keep

MODELS = ("modules.transformer.gpt.GPT", "modules.language.bengio.Bengio", "modules.language.ngram.NGram")
TOY = "Toy table"
TABLES = {
    "Greedy fails": ": .6 .4\na: .55 .45\nb: .95 .05",
    "Wider is worse": ": .4 .35 .25\na: .34 .33 .33\nb: .5 .5 0\naa: 1 0 0",
    "Short texts win": "ends: a\n: .4 .6\nb: .3 .7\nbb: .75 .25",
}
SHELVES = {
    "shakespeare": {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "The": "the "},
    "pydocs": {"Prose": "Return a list of ", "Code": "for i in range("},
    "multi30k": {"Man": "a man in a", "Two dogs": "two dogs"},
}
TEMPERATURES = [0.0, 0.4, 0.8, 1.0, 1.3, 2.0]
REFERENCES = [
    "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
    "Vijayakumar et al. 2016, Diverse beam search, arXiv:1610.02424",
    "Nguyen et al. 2024, Turning up the heat: min-p sampling, arXiv:2407.01082",
    "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
]
BARS = 24

ui.header(
    "Decoding",
    "A language model gives probabilities; a strategy makes a text of them, and not always the likeliest.",
    lenses=("sampling",),
)

# --- Controls -----------------------------------------------------------------------------------

view = ui.choice("Look at", ["Beam tree", "Next token", "Two strategies"], key="view")
known = ui.trained(only=lambda e: e.module in MODELS and not e.name.startswith("leaky"))
if view == "Beam tree":
    name = ui.choice("Model", [TOY, *known], key="model", default=TOY, as_list=True)
else:
    name = ui.choice("Model", known, key="trained", default="gpt-shakespeare", as_list=True)


def loaded(name: str) -> NextToken:
    """The trained model; all of MODELS offer the next token."""
    return cast(NextToken, ui.load(name))


def written():
    """The reader's beginning as token numbers, and the tokens' names."""
    card = ui.card(name)
    coder = texts.tokenizer(card)
    shelf = SHELVES.get(card["data"]["corpus"], SHELVES["shakespeare"])
    text = ui.text("Beginning", next(iter(shelf.values())), key="prompt", shelf=shelf, max_chars=500)
    try:
        return texts.read(coder, text), texts.shown(coder.tokens)
    except UserError as error:
        ui.stop(str(error))


# --- Pictures -----------------------------------------------------------------------------------


@ui.cached
def search(name, table, prompt, length, width, groups, strength, alpha):
    """The trace of a beam search, the names of the tokens, and the best of all texts of a toy."""
    if name != TOY:
        model = loaded(name)
        names = texts.shown(texts.tokenizer(ui.card(name)).tokens)
        eos = getattr(model, "end", None)
        return beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names), names, None
    model, names, eos = lens.table(table, length)
    found = beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names)
    return found, names, exhaustive(model, prompt, length, eos, alpha)


def toy(table, width, length):
    """A preset: controls of the toy."""
    return {"model": TOY, "table": TABLES[table], "b": width, "length": length, "g": 1, "alpha": 0.0}


def show_beam():
    table, prompt = "", lens.start()
    if name == TOY:
        table = ui.text(
            "Probabilities of a, b, … after each prefix", TABLES["Greedy fails"], key="table", shelf=TABLES,
            max_chars=600, help="One prefix a line. 'ends: a' lets token a end a text.",
        )  # fmt: skip
    else:
        prompt, _ = written()
    first, second, third, fourth, fifth = ui.columns(5)
    with first:
        width = ui.slider("Beam B", 1, 6, 1, key="b")
    with second:
        length = ui.slider("New tokens", 1, 6, 2, key="length")
    with third:
        alpha = ui.slider("Length power α", 0.0, 1.5, 0.0, key="alpha", step=0.1)
    with fourth:
        groups = ui.slider("Groups G", 1, 3, 1, key="g")
    with fifth:
        strength = ui.slider(
            "Diversity λ", 0.0, 4.0, 0.5, key="lambda", step=0.1, help="with 2 groups or more"
        )
    try:
        trace, names, best = search(name, table, prompt, length, width, groups, strength, alpha)
    except (UserError, ValueError) as error:
        ui.stop(str(error))
    step = ui.stepper(len(trace), key="step", default=len(trace) - 1)
    found = lens.tree(trace, step + 1, pruned=8 if name == TOY else 3)
    read = ["".join(names[i] for i in text) for text in found.text]
    labels = [
        f"{names[i] if i >= 0 else ''} {lens.probability(p)}"
        for i, p in zip(found.tokens, found.log_prob, strict=True)
    ]
    hover = [
        f"{r}: log P = {p:.4f}, P = {lens.probability(p)}" for r, p in zip(read, found.log_prob, strict=True)
    ]
    on_best = lens.along(found, best.tokens if best else None)
    ui.figure(
        figures.tree(
            found.depth, found.place, found.parent, labels, hover, found.state, found.group, on_best
        ),
        alt=f"The search after {step + 1} tokens: branches that stay, branches cut, texts that have ended",
        data={"text": read, "log P": found.log_prob, "state": found.state, "group": found.group},
    )
    ui.caption(trace[step].caption)
    ui.table(
        {
            "text": ["".join(names[i] for i in h.tokens) for h in trace.result],
            "log P": [f"{h.log_prob:.4f}" for h in trace.result],
            "P": [lens.probability(h.log_prob) for h in trace.result],
            "tokens": [len(h.tokens) for h in trace.result],
            "score": [f"{h.score:.4f}" for h in trace.result],
            "finished": ["yes" if h.finished else "cut off" for h in trace.result],
            "group": [h.group + 1 for h in trace.result],
        },
        alt="What the search has found, best first", key="found",
    )  # fmt: skip
    ui.equation(
        r"\text{score} = \frac{\log P}{T^{" + f"{alpha:g}" + r"}},\qquad \log P = " + trace[step].equation,
        note="The best candidate of this step: its prefix, plus the log-probability of its last token.",
    )
    top = trace.result[0]
    if best is not None:
        ui.caption(
            f"Of all texts the best is {''.join(names[i] for i in best.tokens)!r} with P = "
            f"{lens.probability(best.log_prob)}; the search found {''.join(names[i] for i in top.tokens)!r} "
            f"with {lens.probability(top.log_prob)}."
        )
    ui.notice(
        "A beam of one is greedy. A wider beam sees more, yet can end worse: in *Wider is worse* a second "
        "prefix that looks good for one token pushes the best one out. Scores only fall with length, so "
        "without the power α the shortest finished text tends to win; groups with a penalty λ choose apart."
    )
    ui.presets(
        {
            "Greedy misses": toy("Greedy fails", 1, 2),
            "B = 2 finds it": toy("Greedy fails", 2, 2),
            "B = 2 is worse": toy("Wider is worse", 2, 3),
            "Mean, not sum": toy("Short texts win", 2, 3) | {"alpha": 1.0},
            "Two groups": toy("Greedy fails", 1, 2) | {"g": 2, "lambda": 0.5},
        }
    )
    if best is not None:
        ui.check(
            "Does the search find the best of all texts?",
            ["yes", "no"],
            "yes" if abs(top.score - best.score) < 1e-9 else "no",
            f"Best of all: score {best.score:.4f}; found: {top.score:.4f}.",
        )
    ui.source(beam_trace, exhaustive, references=REFERENCES)


def show_next():
    prompt, names = written()
    first, second, third, fourth = ui.columns(4)
    with first:
        temperature = ui.slider("Temperature", 0.0, 3.0, 1.0, key="t", step=0.05)
    with second:
        top_k = ui.slider("Top-k", 0, 50, 0, key="k", help="0 keeps all tokens") or None
    with third:
        top_p = ui.slider("Top-p", 0.01, 1.0, 0.9, key="p", step=0.01, help="1 keeps all tokens")
    with fourth:
        min_p = ui.slider("Min-p", 0.0, 1.0, 0.0, key="m", step=0.01, help="0 keeps all tokens")
    try:
        story = lens.cut_next(loaded(name), prompt, Knobs(temperature, top_k, top_p, min_p))
    except UserError as error:
        ui.stop(str(error))
    order = sampling.ranked(story, BARS)
    ranked = [names[i] for i in order.tolist()]
    ui.figure(
        token_figures.knobs(ranked, story.before[order], story.after[order], story.kept[order]),
        alt="Probabilities of the likeliest next tokens before and after temperature and cuts",
        data={"token": ranked, "before": story.before[order], "after": story.after[order]},
    )
    values = {
        "Entropy before (nats)": f"{sampling.entropy(story.before):.3f}",
        "Entropy after (nats)": f"{sampling.entropy(story.after):.3f}",
        f"Kept of {len(story.kept)}": f"{int(story.kept.sum())}",
        "Mass kept": f"{float(story.mass):.3f}",
    }
    for column, (label, number) in zip(ui.columns(4), values.items(), strict=True):
        with column:
            ui.metric(label, number)
    top = int(order[0])
    ui.equation(
        rf"p_1 = \frac{{{float(story.tempered[top]):.4f}}}{{{float(story.mass):.4f}}}"
        rf" = {float(story.after[top]):.4f}",
        note="The likeliest token: its probability after temperature, over the mass of what is kept.",
    )
    ui.notice(
        "Temperature bends the whole curve; the cuts only shorten its tail. Top-k keeps the same number of "
        "tokens everywhere; top-p and min-p keep many where the model is unsure and few where it is sure."
    )
    ui.presets(
        {
            "As trained": {"t": 1.0, "k": 0, "p": 1.0, "m": 0.0},
            "Nucleus 0.9": {"t": 1.0, "k": 0, "p": 0.9, "m": 0.0},
            "Min-p 0.1, hot": {"t": 2.0, "k": 0, "p": 1.0, "m": 0.1},
            "Top-k 3": {"t": 1.0, "k": 3, "p": 1.0, "m": 0.0},
        }
    )
    half = int((story.before.sort(descending=True).values.cumsum(0) < 0.5).sum()) + 1
    ui.check(
        "How many of the likeliest tokens hold half of the mass, before any cut?",
        ["1", "2 or 3", "4 or more"],
        "1" if half == 1 else "2 or 3" if half <= 3 else "4 or more",
        f"It takes {half}.",
    )
    ui.source(cut, keep, references=REFERENCES)


@ui.cached
def continued(name, prompt, strategy, length, seed):
    return lens.run(loaded(name), prompt, strategy, length, seed)


@ui.cached
def swept(name, prompt, length, seed):
    return lens.sweep(loaded(name), prompt, TEMPERATURES, length, seed=seed)


def show_duel():
    prompt, names = written()
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
                    "Surprise (nats)": f"{float(result.nats.mean()):.3f}",
                }.items(),
                strict=True,
            ):
                with inner:
                    ui.metric(label, number)
    human = ui.card(name)["metrics"].get("val/nll")
    ui.equation(
        r"\frac{1}{T}\sum_t -\log P(x_t \mid x_{<t}) = " + f"{float(results[0].nats.mean()):.3f}"
        rf"\ \text{{({left})}},\quad {float(results[1].nats.mean()):.3f}\ \text{{({right})}}",
        note="Under the model as it is, before any filter."
        + (f" Text by people that it was validated on costs {human:.3f} nats a token." if human else ""),
    )
    if ui.toggle("Temperatures from 0 to 2 (some seconds)", False, key="sweep"):
        found = swept(name, prompt, 50, seed)
        ui.figure(
            figures.against_temperature(TEMPERATURES, found["distinct"], found["entropy"], found["nats"]),
            alt="Repetition, entropy and surprise of own text against temperature",
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


{"Beam tree": show_beam, "Next token": show_next, "Two strategies": show_duel}[view]()
