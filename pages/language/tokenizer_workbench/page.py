"""Tokenizer workbench: one text in six ways, byte pair encoding merge by merge, vocabulary against length."""

from lab import ui
from lab.figures import basic, trees
from modules.language import subwords
from modules.language.tokenization import BPE, Kind, PairCounts
from pages.language.tokenizer_workbench import figures, lens
from pages.language.tokenizer_workbench.room import ROOM

RHYME = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see see see "
    "was the bottom of the deep blue sea sea sea"
)
TRAINING = {
    "Rhyme": RHYME,
    "low": "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3,
    "Runs": "aaa aaaaa aa aaa",
    "Code": "for i in range(10):\n    total = total + i\n    print(total, i)\n" * 3,
}
OWN = {"Sea": "see the deep sea", "Unseen": "the seashore was blue, unseen!", "lowest": "lowest newer wide",
       "Accents": "a café costs 3 € 😀"}  # fmt: skip
NEWEST = "the newest"
MERGES = "Merge by merge"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Six ways": ui.scene("One text under six tokenizers: from 4 words to 16 letters."),
        "First merge": ui.scene("The pair most often side by side, s + e, becomes one token.",
                                view=MERGES, step=0),
        "Fifth merge": ui.scene("Merge 5 makes sea one token. Turn the merges with the arrow keys.",
                                   view=MERGES, step=4),
        "Its tree": ui.scene("Merge 17 joins t to he·, made by merges 2 and 7.", view="Merge tree"),
        "Never seen": ui.scene("Unseen words fall into known pieces; whole, they are unknown.",
                                     train=TRAINING["low"], text=OWN["lowest"], step=9),
        "Bytes": ui.scene("Only bytes know é, € and 😀: nothing is unknown to them.",
                                    text=OWN["Accents"], base="bytes"),
        "Length": ui.scene("The vocabulary only grows; the kinds in use rise and fall.",
                                          view="Vocabulary and length"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice(
        "View", ["Side by side", MERGES, "Merge tree", "Vocabulary and length"],
        key="view", as_list=True,
    )  # fmt: skip
    training = ui.text("Training text", RHYME, key="train", examples=TRAINING, max_chars=2000)
    text = ui.text("Text to encode", OWN["Sea"], key="text", examples=OWN, max_chars=500)
    base = ui.choice("BPE starts from", ["characters", "bytes"], key="base")
    tied = ui.choice("Of pairs equally frequent", ["first in the text", "smaller ids"], key="tie",
                     as_list=True)  # fmt: skip
kind: Kind = "word" if base == "characters" else "byte"
tie = {"first in the text": "first", "smaller ids": "id"}[tied]
if not training.strip() or not text.strip():
    ui.stop("There is no text: type at least one word into both fields.")


@ui.cached
def learn(training, kind, tie):
    return lens.learn(training, lens.MERGES, kind, tie)


@ui.cached
def merged(training, kind, tie):
    return lens.merged(training, learn(training, kind, tie).result)


@ui.cached
def encode(training, text, kind, tie, merges):
    return lens.Bench(training, learn(training, kind, tie).result.first(merges)).encode(text)


trace = learn(training, kind, tie)
if not len(trace):
    ui.stop("There is nothing to merge in this training text: give it a word of two letters.")
film = ui.film(len(trace), key="step", default=16, label="Merge")
step = film.at
full: BPE = trace.result
bpe, steps = full.first(step + 1), [s.values for s in trace.steps]
coded = encode(training, text, kind, tie, step + 1)


def named(units):
    return [lens.readable(u, kind) for u in units]


# --- Views --------------------------------------------------------------------------------------


def show_lanes():
    with stage.rail:
        library = ui.toggle("And as the library learns", False, key="library",
                            help="WordPiece and unigram as the tokenizers library learns them")  # fmt: skip
    shown = [one for one in coded if library or one.name not in lens.LIBRARY]
    ui.figure(
        figures.lanes(shown), key="lanes", share=1.0,
        alt="The text as tokens with their ids under each tokenizer, a row or two each",
        data={"tokenizer": [one.name for one in shown for _ in one.tokens],
              "token": [t for one in shown for t in one.tokens], "id": [i for one in shown for i in one.ids]},
    )  # fmt: skip


def pieces(share):
    """The training text as a film; a click on a piece asks where it comes from."""
    done = merged(training, kind, tie)
    fig, frames = figures.merging(done, step)

    def press(x, y):
        at = figures.pressed(done, step, x, y)
        return {} if at is None else {"token": done[step].units[at]}

    ui.button_figure(
        fig, key="piece", alt="The training text after each merge, the new token in strong colour",
        on_press=press, share=share, film=film, frames=frames,
        data={"token": done[step].tokens, "new": done[step].new},
    )  # fmt: skip


def show_merges():
    left, right = ui.columns([5, 3])
    with left:
        pieces(1.0)
    tables = [
        ([" + ".join(named(p)) for p, _ in s["table"]], [count for _, count in s["table"]], s["after"])
        for s in steps
    ]
    with right:
        fig, frames = figures.pairs(tables, step)
        ui.figure(
            fig, alt="The most frequent pairs before and after each merge", key="pairs", share=1.0,
            film=film, frames=frames,
            data=dict(zip(("pair", "before", "after"), tables[step], strict=True)),
        )  # fmt: skip


def show_tree():
    learned = list(dict.fromkeys(reversed(["".join(p) for p in bpe.merges])))
    with stage.rail:
        token = ui.choice(
            "Where from?", [NEWEST, *learned, *bpe.base], key="token", as_list=True,
            format=lambda t: t if t == NEWEST else lens.readable(t, kind),
        )  # fmt: skip
    pieces(0.45)
    merge_tree = lens.merge_tree(bpe, learned[0] if token == NEWEST else token)
    names = named(merge_tree.tokens)
    how = [f"{n}: merge {m}" if m else f"{n}: a unit of the beginning"
           for n, m in zip(names, merge_tree.merge, strict=True)]  # fmt: skip
    ui.figure(
        trees.tree(
            merge_tree.x, merge_tree.y, merge_tree.parent,
            [f"{n} · merge {m}" if m else n for n, m in zip(names, merge_tree.merge, strict=True)],
            how, [True] * len(names), beside=["top left" if m else "bottom center" for m in merge_tree.merge],
        ),
        key="merge-tree", alt=f"The merges that made {names[0]}, units at the bottom", share=0.55,
        data={"token": names, "merge": merge_tree.merge, "parent": merge_tree.parent},
    )  # fmt: skip


def show_sizes():
    merges = list(range(1, len(trace) + 1))
    lines = {
        "vocabulary": [s["vocabulary"] for s in steps],
        "kinds in the text": [s["types"] for s in steps],
        "its length in tokens": [s["tokens"] for s in steps],
    }
    ui.figure(
        basic.curves(lines, x=merges, mark=step + 1, xlabel="merges", ylabel="count"),
        alt="Vocabulary, occurring types and length against the number of merges", key="sizes", share=1.0,
        data={"merges": merges, **lines}, film=film,
        frames={"layout.shapes.0.x0": merges, "layout.shapes.0.x1": merges},
    )  # fmt: skip


views = {"Side by side": show_lanes, MERGES: show_merges, "Merge tree": show_tree,
         "Vocabulary and length": show_sizes}  # fmt: skip
with stage.picture:
    views[view]()
units, size = len(bpe.base), len(training.encode())
with stage.foot:
    film.bar(
        captions=[
            f"{' + '.join(named(s['pair']))} → {lens.readable(''.join(s['pair']), kind)}, "
            f"{s['count']} times side by side; {s['types']} kinds of tokens are in the text now."
            for s in steps
        ],
        equations=[
            rf"|V| = {units} + {m} = {s['vocabulary']},\quad \frac{{\text{{bytes}}}}{{\text{{tokens}}}}"
            rf" = \frac{{{size}}}{{{s['tokens']}}} = {size / s['tokens']:.3f}"
            for m, s in enumerate(steps, start=1)
        ],
    )

# --- Words --------------------------------------------------------------------------------------

lengths = {one.name: len(one.tokens) for one in coded}
with stage.below:
    width = len(text.encode())
    ui.table(
        {
            "tokenizer": [one.name for one in coded],
            "tokens": [len(one.tokens) for one in coded],
            "vocabulary": [one.vocabulary for one in coded],
            "unknown": [one.unknown for one in coded],
            "bytes a token": [f"{width / len(one.tokens):.3f}" for one in coded],
        },
        alt="Length, vocabulary and unknown tokens under each tokenizer", key="counts",
    )  # fmt: skip
    ui.notice(
        "The vocabulary only grows. The kinds of tokens that occur in the text rise and fall: a piece that "
        "was merged away everywhere stays in the vocabulary unused. Only bytes are never unknown: an unseen "
        "letter stops characters, an unseen word stops words. BPE replays its merges in the order they were "
        "learned; WordPiece takes the longest piece from the left; unigram the most probable cut. The "
        "library encodes as ours does, but learns its pieces otherwise."
    )
    more = lengths["BPE"] - lengths["unigram"]
    ui.check(
        "Does BPE need fewer tokens for the text to encode than unigram?",
        ["fewer", "as many", "more"],
        "fewer" if more < 0 else "more" if more else "as many",
        f"BPE needs {lengths['BPE']}, unigram {lengths['unigram']} (unknown tokens count, and say nothing).",
        wrong={
            "fewer": "BPE replays its merges in their order: a longer piece that would fit may be out of "
            "its reach.",
            "as many": "They learn other pieces of the same text: equal lengths are chance.",
            "more": "Unigram takes the likeliest cut, which need not be the shortest.",
        },
        veils=("lanes", "counts"),
    )
    ui.program(
        f"""
        from modules.language.tokenization import BPE

        training = {training!r}
        bpe = BPE.train(training, {step + 1}, {kind!r}, {tie!r})
        tokens = bpe.encode({text!r})
        result = [len(tokens), len(bpe.vocabulary), len(bpe.encode(training)), *bpe.ids(tokens)]
        """,
        shows=[lengths["BPE"], steps[step]["vocabulary"], steps[step]["tokens"],
               *next(one.ids for one in coded if one.name == "BPE")],
    )  # fmt: skip
    ui.source(
        PairCounts.best, PairCounts.merge, BPE.encode_word, subwords.wordpiece_encode, subwords.viterbi,
        references=ROOM.references,
    )  # fmt: skip
