"""Decoding: the tree of a beam, the cuts on the next token, two strategies side by side."""

from typing import cast

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import decoding as figures
from lab.figures import tokens as token_figures
from lab.lenses import decoding as lens
from lab.lenses import sampling, strategies
from lab.lenses import text as texts
from modules.base import NextToken
from modules.language.beam import beam_trace, exhaustive
from modules.language.decoding import stream
from modules.language.information import entropy
from modules.language.truncation import SamplingParams, truncate, truncation_mask

MODELS = ("modules.transformer.gpt.GPT", "modules.language.bengio.Bengio", "modules.language.ngram.NGram")
TOY = "Toy table"
TABLES = {
    "Greedy fails": ": .6 .4\na: .55 .45\nb: .95 .05",
    "Wider is worse": ": .4 .35 .25\na: .34 .33 .33\nb: .5 .5 0\naa: 1 0 0",
    "Short texts win": "ends: a\n: .4 .6\nb: .3 .7\nbb: .75 .25",
}
EXAMPLES = {
    "shakespeare": {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "The": "the "},
    "pydocs": {"Prose": "Return a list of ", "Code": "for i in range("},
    "multi30k": {"Man": "a man in a", "Two dogs": "two dogs"},
    "Grammar": {"Dog": "the dog", "The": "the"},
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

VIEWS = ["Beam tree", "Next token", "Two strategies", "All strategies", "Width of a beam", "Own mistakes"]
view = ui.choice("Look at", VIEWS, key="view")
known = ui.trained(only=lambda e: e.module in MODELS and not e.name.startswith("leaky"))
if view == "Beam tree":
    name = ui.choice("Model", [TOY, *known], key="model", default=TOY, as_list=True)
else:
    # many texts at once: a model that answers quickly
    default = "ngram-shakespeare" if view in VIEWS[3:] else "gpt-shakespeare"
    name = ui.choice("Model", known, key="trained", default=default, as_list=True)


def loaded(name: str) -> NextToken:
    """The trained model; all of MODELS offer the next token."""
    return cast(NextToken, ui.load(name))


def corpus_of(card):
    """What the model has read; of a small world its datamodule."""
    return card["data"].get("corpus", card["data"].get("name"))


def written():
    """The reader's beginning as token numbers, and the tokens' names."""
    card = ui.card(name)
    coder = texts.tokenizer(card)
    examples = EXAMPLES.get(corpus_of(card), EXAMPLES["shakespeare"])
    text = ui.text("Beginning", next(iter(examples.values())), key="prompt", examples=examples, max_chars=500)
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
            "Probabilities of a, b, … after each prefix", TABLES["Greedy fails"], key="table",
            examples=TABLES, max_chars=600, help="One prefix a line. 'ends: a' lets token a end a text.",
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
        story = lens.truncate_next(loaded(name), prompt, SamplingParams(temperature, top_k, top_p, min_p))
    except UserError as error:
        ui.stop(str(error))
    order = sampling.ranked(story, BARS)
    ranked = [names[i] for i in order.tolist()]
    ui.figure(
        token_figures.truncation(ranked, story.before[order], story.after[order], story.kept[order]),
        alt="Probabilities of the likeliest next tokens before and after temperature and cuts",
        data={"token": ranked, "before": story.before[order], "after": story.after[order]},
    )
    kept = int(story.kept.sum())
    values = {
        "Entropy before (nats)": f"{float(entropy(story.before)):.3f}",
        "Entropy after (nats)": f"{float(entropy(story.after)):.3f}",
        f"Kept of {len(story.kept)}": f"{kept}",
        "Mass kept": f"{float(story.mass):.3f}",
    }
    for column, (label, number) in zip(ui.columns(4), values.items(), strict=True):
        with column:
            ui.metric(label, number)
    mass = sampling.mass(story, BARS)
    ui.figure(
        basic.curves({"mass": mass}, range(1, len(mass) + 1), mark=kept if kept <= BARS else None, height=320,
                     title="Mass of the likeliest, and the cut", xlabel="tokens", markers=True),
        alt="Cumulative probability of the most probable tokens, and how many are kept", key="mass",
        data={"tokens": range(1, len(mass) + 1), "mass": mass},
    )  # fmt: skip
    draws = sampling.draw(story.after, 1000, ui.number("Seed of 1,000 draws", 0, 999, 0, key="draws"))
    ui.figure(
        token_figures.draws(ranked, draws.counts[order], draws.expected[order]),
        alt="Counts of 1,000 draws of the next token beside their expectation", key="drawn",
        data={"token": ranked, "drawn": draws.counts[order], "expected": draws.expected[order]},
    )  # fmt: skip
    top = int(order[0])
    ui.equation(
        rf"p_1 = \frac{{{float(story.tempered[top]):.4f}}}{{{float(story.mass):.4f}}}"
        rf" = {float(story.after[top]):.4f}",
        note="The likeliest token: its probability after temperature, over the mass of what is kept.",
    )
    ui.equation(draws.equation, draws.note)
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
    ui.source(truncate, truncation_mask, references=REFERENCES)


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


@ui.cached
def held_out(name):
    """Tokens of the model's validation text and the words of its training text; None where not at hand."""
    card = ui.card(name)
    training, text = (strategies.corpus(card, split) for split in ("train", "val"))
    if training is None or text is None:
        return None, None
    return texts.read(texts.tokenizer(card), text[: texts.MOST]), frozenset(training.split())


@ui.cached
def compared(name, prompt, length, seed):
    human, words = held_out(name)
    coder = texts.tokenizer(ui.card(name))
    found = strategies.compare(loaded(name), coder, prompt, length, human=human, vocabulary=words, seed=seed)
    return {how: (one.nats, one.distinct, one.known) for how, one in found.items()}


def remarks_on_all():
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


def show_all():
    prompt, _ = written()
    first, second = ui.columns(2)
    with first:
        length = ui.slider(f"New tokens, {strategies.TEXTS} texts each", 50, 2000, 150, key="each", step=50)
    with second:
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    if not ui.toggle("Write with every strategy (seconds; 2,000 tokens take longer)", False, key="write"):
        ui.caption("Nine strategies and people go on with a text: who repeats, who invents words?")
        remarks_on_all()
        return
    try:
        found = compared(name, prompt, length, seed)
    except (UserError, ValueError) as error:
        ui.stop(str(error))
    names, count = list(found), strategies.TEXTS * (length - lens.GRAM + 1)
    nats, distinct = [v[0] for v in found.values()], [v[1] for v in found.values()]
    people = names.index(strategies.HUMAN) if strategies.HUMAN in found else None
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
    missing = "" if strategies.HUMAN in found else " The text of people is not at hand."
    ui.equation(
        r"\frac{\text{different sequences of 8}}{\text{all}} = "
        rf"\frac{{{distinct[0] * count:.0f}}}{{{count}}} = {distinct[0]:.3f}",
        note=f"Greedy: {strategies.TEXTS} equal texts of {length} tokens. Surprisal is under the model as it "
        "is, before any filter." + missing,
    )
    remarks_on_all()
    low = names[min(range(len(names)), key=lambda i: distinct[i])]
    ui.check("Which text repeats itself most?", names, low, f"{min(distinct):.3f} of its 8-grams differ.")
    ui.source(strategies.continued, strategies.compare, references=REFERENCES)


BEGINNINGS = {
    "multi30k": ("a man", "two dogs", "a woman in", "the boy"),
    "Grammar": ("the", "the dog", "the cat", "the boy"),
    "pydocs": ("Return a ", "for i in ", "The ", "If "),
    "shakespeare": ("ROMEO:\n", "To be, or ", "the ", "KING"),
}


@ui.cached
def widened(name, alpha, strength, length):
    card, model = ui.card(name), loaded(name)
    coder = texts.tokenizer(card)
    chosen = BEGINNINGS.get(corpus_of(card), BEGINNINGS["shakespeare"])
    prompts = [texts.read(coder, text) for text in chosen]
    eos = getattr(model, "end", None)
    return chosen, strategies.widths(model, prompts, length, eos=eos, alpha=alpha, strength=strength)


def remarks_on_width():
    ui.notice(
        "On average a wider beam finds likelier texts, though not behind every beginning. Where texts can "
        "end, likelier means shorter; dividing by a power of the length holds against it. The texts of one "
        "beam share most of their words; a penalty makes groups choose apart."
    )
    ui.presets(
        {
            "Sentences that end": {"trained": "ngram-multi30k", "search": True, "most": 16},
            "Endless characters": {"trained": "ngram-shakespeare", "search": True, "most": 12},
        }
    )


def show_width():
    first, second, third = ui.columns(3)
    with first:
        alpha = ui.slider("Length power α", 0.0, 1.5, 1.0, key="power", step=0.1)
    with second:
        strength = ui.slider("Diversity λ", 0.0, 4.0, 1.0, key="spread", step=0.1)
    with third:
        length = ui.slider("At most new tokens", 4, 20, 12, key="most")
    if not ui.toggle("Search with 1, 2, 4 and 8 (some seconds)", False, key="search"):
        ui.caption("Four beginnings, four widths: is wider better, shorter, or only more of the same?")
        remarks_on_width()
        return
    try:
        chosen, rows = widened(name, alpha, strength, length)
    except (UserError, ValueError) as error:
        ui.stop(str(error))
    size = [row.width for row in rows]
    left, right = ui.columns(2)
    with left:
        best = {"best text found": [row.log_prob for row in rows]}
        ui.figure(
            basic.curves(best, x=size, markers=True, xlabel="beam B", ylabel="log P (nats)"), key="best",
            alt="Log-probability of the best text against the width", data={"B": size, **best},
        )  # fmt: skip
    with right:
        lengths = {"α = 0": [row.length for row in rows], f"α = {alpha:g}": [row.normalised for row in rows]}
        ui.figure(
            basic.curves(lengths, x=size, markers=True, xlabel="beam B", ylabel="tokens"), key="lengths",
            alt="Length of the best text against the width",
            data={"B": size, "sum": [row.length for row in rows],
                  "normalised": [row.normalised for row in rows]},
        )  # fmt: skip
    ui.table(
        {
            "B": size,
            "log P": [f"{row.log_prob:.3f}" for row in rows],
            "no worse than before": ["–", *(f"{row.better} of {len(chosen)}" for row in rows[1:])],
            "different pairs, beam": [f"{row.beam:.3f}" for row in rows],
            f"different pairs, groups, λ = {strength:g}": [f"{row.diverse:.3f}" for row in rows],
        },
        alt="What every width finds, and how much of it differs", key="widths",
    )  # fmt: skip
    last = rows[-1]
    ui.equation(
        rf"\overline{{\log P}}_{{B={size[0]}}} = {rows[0].log_prob:.3f} \;\to\; "
        rf"\overline{{\log P}}_{{B={last.width}}} = {last.log_prob:.3f}",
        note=f"Means over the beginnings {', '.join(map(repr, chosen))}. Different pairs: of neighbouring "
        f"tokens in all {last.width} texts, {last.beam:.3f} of a beam and {last.diverse:.3f} of groups.",
    )
    remarks_on_width()
    ui.check(
        "Does the widest beam find a likelier text than greedy, on average?",
        ["yes", "no"],
        "yes" if last.log_prob > rows[0].log_prob + 1e-9 else "no",
        f"{rows[0].log_prob:.3f} and {last.log_prob:.3f} nats.",
    )
    ui.source(strategies.widths, beam_trace, references=REFERENCES)


@ui.cached
def drifted(name, judge, length, places, seed):
    text, _ = held_out(name)
    if text is None:
        return None
    return strategies.drift(loaded(name), loaded(judge), text, 10, length, places, seed)


def remarks_on_drift():
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


def show_drift():
    same = texts.tokenizer(ui.card(name)).tokens
    judges = [n for n in known if texts.tokenizer(ui.card(n)).tokens == same]
    first, second, third = ui.columns(3)
    with first:
        judge = ui.choice("Judged by", judges, key="judge", default=name, as_list=True)
    with second:
        length = ui.slider("Tokens", 9, 60, 30, key="far", step=3)
    with third:
        places = ui.slider("Places in the text", 50, 1000, 200, key="places", step=50)
    if not ui.toggle("Let the model go on alone (seconds)", False, key="alone"):
        ui.caption("After true tokens it was trained on what comes; after its own it was never trained.")
        remarks_on_drift()
        return
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
    remarks_on_drift()
    above = float(gap.mean())
    ui.check(
        "Which text surprises this judge more?",
        ["the true one", "the model's own"],
        "the model's own" if above > 0 else "the true one",
        f"On average by {abs(above):.3f} nats a token.",
    )
    ui.source(strategies.drift, strategies.continued, references=REFERENCES)


SHOWN = (show_beam, show_next, show_duel, show_all, show_width, show_drift)
SHOWN[VIEWS.index(view)]()
