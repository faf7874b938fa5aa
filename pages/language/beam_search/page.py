"""Beam search: the tree of what is kept and what is cut, step by step."""

from lab import ui
from lab.errors import UserError
from lab.figures import beam_trees
from lab.lenses import beam_tree
from lab.lenses import text as texts
from modules.language.beam import beam_trace, exhaustive_search
from pages.language.beam_search import lens
from pages.language.beam_search.room import ROOM

TOY = "Toy table"
TABLES = {
    "Greedy fails": ": .6 .4\na: .55 .45\nb: .95 .05",
    "Wider is worse": ": .4 .35 .25\na: .34 .33 .33\nb: .5 .5 0\naa: 1 0 0",
    "Short texts win": "ends: a\n: .4 .6\nb: .3 .7\nbb: .75 .25",
}
WORSE = {"table": TABLES["Wider is worse"], "length": 3, "beside": True}
SHORT = {"table": TABLES["Short texts win"], "length": 3, "b": 2}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Greedy": ui.scene("Greedy takes a and ends at 0.33; the best text, ba, has 0.38."),
        "B = 2 finds it": ui.scene("Two beginnings stay, and b is one of them: ba is found.", b=2),
        "B = 2 is worse": ui.scene(
            "B = 1 reaches 0.136; B = 2 drops that beginning for two that end at 0.058.", b=2, **WORSE
        ),
        "B = 3": ui.scene("With B = 3 aa stays beside ba and bb, and 0.136 is back.", b=3, **WORSE),
        "Sum": ui.scene("a ends a text. By the sum of log P the shortest wins: a with 0.4.", **SHORT),
        "Mean": ui.scene("Divided by its length bba wins, though its P is 0.315.", alpha=1.0, **SHORT),
        "Groups": ui.scene("Two greedy searches: the second pays λ for each token of the first.", g=2),
        "Characters": ui.scene(
            "A trained model: three beginnings of “ROMEO:” stay, all others are cut.",
            model="ngram-shakespeare", b=3, length=5,
        ),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

table, prompt = "", lens.start()
with stage.rail:
    width = ui.slider("Beam B", 1, 6, 1, key="b")
    length = ui.slider("New tokens", 1, 6, 2, key="length")
    beside = ui.toggle("B = 1 beside it", False, key="beside")
    name = ui.choice("Model", [TOY, *ui.language_models()], key="model", default=TOY, as_list=True)
    if name == TOY:
        table = ui.text(
            "Probabilities of a, b, … after a prefix", TABLES["Greedy fails"], key="table", max_chars=600,
            help="One prefix a line. 'ends: a' lets token a end a text.", says=lens.commas,
        )  # fmt: skip
    else:
        prompt, _ = ui.beginning(name)
    alpha = ui.slider("Length power α", 0.0, 1.5, 0.0, key="alpha", step=0.1)
    groups = ui.slider("Groups G", 1, 3, 1, key="g")
    strength = ui.slider(
        "Diversity λ", 0.0, 4.0, 0.5, key="lambda", step=0.1, disabled=groups == 1,
        help="What a token costs that an earlier group has chosen: it takes 2 groups or more.",
    )  # fmt: skip


@ui.cached
def search(name, table, prompt, length, width, groups, strength, alpha):
    """The trace of a beam search, the names of the tokens, and the best of all texts of a toy."""
    if name != TOY:
        model = ui.next_token_model(name)
        names = texts.shown(texts.tokenizer(ui.card(name)).tokens)
        eos = getattr(model, "eos", None)
        return beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names), names, None
    model, names, eos = lens.table(table, length)
    results = beam_trace(model, prompt, length, width, eos, alpha, groups, strength, names)
    return results, names, exhaustive_search(model, prompt, length, eos, alpha)


try:
    trace, names, best = search(name, table, prompt, length, width, groups, strength, alpha)
    greedy, _, _ = search(name, table, prompt, length, 1, 1, 0.0, alpha)
except (UserError, ValueError) as error:
    ui.stop(str(error))


def read(tokens):
    return "".join(names[i] for i in tokens)


# --- Picture ------------------------------------------------------------------------------------


def draw(trace, film, key, title=""):
    """The tree of a search, as large as its place."""
    tree = beam_tree.tree(trace, beam_trees.ROWS)
    if best:
        lens.lead(tree, lens.table(table, length)[0], best.tokens)
    tokens = ["", *(names[i] for i in tree.tokens[1:])]
    labels = beam_trees.fitting(
        tokens, [beam_tree.probability(p) for p in tree.log_prob], max(tree.depth), title
    )
    hover = [
        f"{read(text)}: log P = {p:.4f}, P = {beam_tree.probability(p)}"
        for text, p in zip(tree.text, tree.log_prob, strict=True)
    ]
    fig = beam_trees.tree(
        tree.depth, tree.place, tree.parent, labels, hover, tree.state, tree.group,
        beam_tree.along(tree, best.tokens if best else None), title=title,
    )  # fmt: skip
    ui.figure(
        fig, key=key, share=1.0, film=film, frames=beam_trees.growing(fig, film.count),
        alt=f"The search {title}: branches that stay, branches cut, texts that have ended",
        data={"text": [read(t) for t in tree.text], "log P": tree.log_prob, "state": tree.state,
              "group": tree.group},
    )  # fmt: skip


count = max(len(trace), len(greedy) if beside else 1)
film = ui.film(count, key="step", seconds=0.8, default=count - 1)
with stage.picture:
    if beside:
        one, other = ui.columns(2)
        with one:
            draw(greedy, film, "greedy", "B = 1")
        with other:
            draw(trace, film, "tree", f"B = {width}" + (f", {groups} groups" if groups > 1 else ""))
    else:
        draw(trace, film, "tree")


def label(text):
    return f"{read(text.tokens)} {beam_tree.probability(text.log_prob)}"


top = trace.result[0]
numbers = {f"B = {width} finds": label(top), "Greedy": label(greedy.result[0])}
stage.metrics(numbers | ({"Best": label(best)} if best else {}))
steps = [trace[min(t, len(trace) - 1)] for t in range(count)]
with stage.foot:
    film.bar(
        captions=[f"{step.caption} The best of them:" for step in steps],
        equations=[r"\log P = " + step.equation for step in steps],
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.markdown("##### What the search has found at its end, best first")
    ui.table(
        {
            "text": [read(h.tokens) for h in trace.result],
            "log P": [f"{h.log_prob:.4f}" for h in trace.result],
            "P": [beam_tree.probability(h.log_prob) for h in trace.result],
            "tokens": [len(h.tokens) for h in trace.result],
            f"score = log P / T^{alpha:g}": [f"{h.score:.4f}" for h in trace.result],
            "finished": ["yes" if h.finished else "cut off" for h in trace.result],
            "group": [h.group + 1 for h in trace.result],
        },
        alt="What the search has found, best first", key="found",
    )  # fmt: skip
    if best is not None:
        ui.caption(
            f"Of all texts the best is {read(best.tokens)!r} with P = "
            f"{beam_tree.probability(best.log_prob)}; "
            f"the search found {read(top.tokens)!r} with {beam_tree.probability(top.log_prob)}."
        )
    ui.notice(
        "A beam of one is greedy. A wider beam sees more, yet can end worse: in *B = 2 is worse* a second "
        "prefix that looks good for one token pushes the best one out. Scores only fall with length, so "
        "without the power α the shortest finished text tends to win; groups with a penalty λ choose apart."
    )
    if best is not None:
        result = abs(top.score - best.score) < 1e-9
        ui.check(
            f"Does the search with B = {width} find the best of all texts?",
            ["yes", "no"],
            "yes" if result else "no",
            f"Best of all: score {best.score:.4f}; found: {top.score:.4f}.",
            wrong={
                "yes": "The beginning of the best text was cut: look for the grey node on its way.",
                "no": "Its beginnings were among those that stay at every step.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from modules.language.beam import beam_trace
            from pages.language.beam_search import lens
            model, names, eos = lens.table({table!r}, {length})
            trace = beam_trace(model, lens.start(), {length}, {width}, eos, alpha={alpha}, groups={groups},
                               strength={strength})
            result = [text.log_prob for text in trace.result]
            """,
            shows=[h.log_prob for h in trace.result],
        )
    ui.source(beam_trace, exhaustive_search, references=ROOM.references)
