"""Beam search: the tree of what is kept and what is cut, step by step."""

from lab import ui
from lab.errors import UserError
from lab.lenses import text as texts
from modules.language.beam import beam_trace, exhaustive
from pages.language.beam_search import figures, lens

TOY = "Toy table"
TABLES = {
    "Greedy fails": ": .6 .4\na: .55 .45\nb: .95 .05",
    "Wider is worse": ": .4 .35 .25\na: .34 .33 .33\nb: .5 .5 0\naa: 1 0 0",
    "Short texts win": "ends: a\n: .4 .6\nb: .3 .7\nbb: .75 .25",
}
REFERENCES = [
    "[UDL] §12.7.3 (where beam search finds 'the overall most likely' text: it need not)",
    "Vijayakumar et al. 2016, Diverse beam search, arXiv:1610.02424",
]

ui.header(
    "Beam search",
    "Keep the B best beginnings and go on with each: often likelier than greedy, not always the likeliest.",
    lenses=("sampling",),
)

known = ui.language_models()
name = ui.choice("Model", [TOY, *known], key="model", default=TOY, as_list=True)


@ui.cached
def search(name, table, prompt, length, width, groups, strength, alpha):
    """The trace of a beam search, the names of the tokens, and the best of all texts of a toy."""
    if name != TOY:
        model = ui.next_token_model(name)
        names = texts.shown(texts.tokenizer(ui.card(name)).tokens)
        eos = getattr(model, "eos", None)
        return beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names), names, None
    model, names, eos = lens.table(table, length)
    found = beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names)
    return found, names, exhaustive(model, prompt, length, eos, alpha)


def toy(table, width, length):
    """A preset: controls of the toy."""
    return {"model": TOY, "table": TABLES[table], "b": width, "length": length, "g": 1, "alpha": 0.0}


table, prompt = "", lens.start()
if name == TOY:
    table = ui.text(
        "Probabilities of a, b, … after each prefix", TABLES["Greedy fails"], key="table",
        examples=TABLES, max_chars=600, help="One prefix a line. 'ends: a' lets token a end a text.",
    )  # fmt: skip
else:
    prompt, _ = ui.beginning(name)
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
    strength = ui.slider("Diversity λ", 0.0, 4.0, 0.5, key="lambda", step=0.1, help="with 2 groups or more")
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
    figures.tree(found.depth, found.place, found.parent, labels, hover, found.state, found.group, on_best),
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
