"""HMM strip: a hidden chain behind a typed sequence; forward, backward, smoothing, Viterbi step by step."""

from lab import ui
from lab.lenses.typed import square_commas
from lab.ui.rooms import trained_rows
from modules.latent import forward_backward
from pages.latent.hidden_markov import figures, lens, long, steps
from pages.latent.hidden_markov.room import ROOM

KNOWN, LETTERS = ("Casino", "Weather", "Restless weather"), "Letters (learned)"
TYPED = {
    "Casino": "124531626666466651324153",
    "Weather": "wsc",
    "Restless weather": "www",
    LETTERS: "the hidden chain",
}
SYMBOLS = {
    "Casino": "A die, changed in secret: 1 to 6; the loaded one shows 6 half of the time.",
    "Weather": "What a friend does: w walks, s shops, c cleans.",
    "Restless weather": "The friend again, under weather that changes nearly every day.",
    LETTERS: "Letters and spaces; two states found in the Python documentation.",
}
KEYS = {"Casino": "c", "Weather": "w", "Restless weather": "r", LETTERS: "l"}
TITLES = {
    "forward": "α: what was seen so far, and this state",
    "backward": "β: what comes after this state",
    "smoothing": "γ: this state, by all that was seen",
    "Viterbi": "δ: the best path to this state",
}
LONG = {"view": "Long sequences"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Smoothing": ui.scene("γ: amid the sixes the loaded die is likelier, before and after the fair one."),
        "Forward": ui.scene(
            "α at t = 2 adds up two ways in: the sum stands below.", run="forward", world="Weather", step=1
        ),
        "Backward": ui.scene(
            "β runs from the end: what is still to come, from each state.", run="backward", world="Weather",
            step=1,
        ),
        "Viterbi": ui.scene(
            "The best way into each state is kept; read back, they are the best path.", run="Viterbi", step=47
        ),
        "γ ≠ Viterbi": ui.scene("Day by day rain is never likelier; the best path rains on day 2.",
                                world="Restless weather", run="Viterbi", step=5),
        "Vowels": ui.scene("Two states that nobody named: spaces and vowels share one.", world=LETTERS),
        "Underflow": ui.scene("Unscaled, α is exactly 0 from t = 641 on; scaled it never ends.",
                              world="Weather", **LONG),
    }
)  # fmt: skip


@ui.cached
def endless(name: str, typed: str, x: list[int]) -> long.Long:
    return long.repeated(changed(name, typed).model, lens.numbers(x))


def changed(name: str, typed: str) -> lens.World:
    """The world, with the reader's transitions if there are some."""
    world = lens.learned(ui.load("hmm-letters")) if name == LETTERS else lens.world(name)
    return lens.replaced(world, typed) if typed.strip() else world


# --- Controls -----------------------------------------------------------------------------------

truth = None
with stage.rail:
    view = ui.choice("View", ["Trellis", "Long sequences", "Numbers"], key="view", as_list=True)
if view == "Numbers":
    trained_rows.view(stage, "HMM")
    ui.wait("A trellis with all its numbers is drawn of symbols, in the view Trellis.")
with stage.rail:
    name = ui.choice("World", [*KNOWN, LETTERS], key="world", as_list=True, help=" ".join(SYMBOLS.values()))
    source = ui.choice("Sequence", ["typed", "drawn"], key="source")
    if source == "typed":
        typed = ui.text(SYMBOLS[name], TYPED[name], key=f"x{KEYS[name]}", max_chars=200, area=False)
    else:
        seed, length = ui.number("Seed", 0, 999, 0, key="seed"), ui.slider("Length", 2, 40, 20, key="t")
    matrix = ui.text("Transitions A", "", key="a", max_chars=80, area=False, says=square_commas,
                     help="Rows parted by ; as in 0.95 0.05; 0.1 0.9. Empty: the world's own.")  # fmt: skip
try:
    world = changed(name, matrix)
except ValueError as error:
    with stage.rail:
        ui.caption(f"{error} Now the world's own are used.")
    matrix, world = "", changed(name, "")
try:
    if source == "typed":
        x, left_out = world.read(typed)
        with stage.rail:
            ui.caption(left_out)
    else:
        truth, x = lens.drawn(world.model, length, seed)
    infer = lens.infer(world.model, x)
except ValueError as error:
    ui.stop(str(error))
k, t, result = world.model.states, len(x), lens.symbols_of(x, world.symbols)
states = world.states


def trellis_view() -> None:
    with stage.rail:
        run = ui.choice("Algorithm", list(TITLES), key="run", default="smoothing")
    film_of = steps.film(infer, run, states)
    film = ui.film(len(film_of.captions), key="step", default=len(film_of.captions) - 1, seconds=0.7)
    with stage.picture:
        left, right = ui.columns([3, 1]) if t > 1 else (stage.picture, None)
        with left:
            ui.figure(
                figures.trellis(film_of, film.at, states, result, TITLES[run]), key="trellis", share=0.58,
                alt="The trellis of states over time, filled in by the algorithm", film=film,
                frames=figures.filling(film_of),
                data={"seen": result, **lens.by_state(infer, run, states)},
            )  # fmt: skip
        if right is not None:
            with right:
                at = lens.steps_into(film.count, t, run)
                ui.figure(
                    figures.cell(infer.xi[at[film.at]], states), share=0.58,
                    key="xi", alt="Probability of each transition of this step, given all that was seen",
                    film=film, frames={"data.0.z": infer.xi[at]},
                    data={"from": [a for a in states for _ in states], "to": states * k,
                          "probability": infer.xi[at[film.at]]},
                )  # fmt: skip
        rows = lens.strip(infer, states, truth)
        ui.figure(figures.strip(rows, result), key="strip", share=0.42, data={"seen": result, **rows},
                  alt="What is known of the states: γ, the likeliest, the best path")  # fmt: skip
    with stage.foot:
        film.bar(captions=film_of.captions, equations=film_of.equations)
    differ = int((infer.path != infer.likeliest).sum())
    together = infer.joint(infer.likeliest)
    with stage.below:
        ui.notice(
            f"p(x) = {infer.total:.4g} sums over {lens.paths(k, t):,} paths; a forward pass needs "
            f"{lens.products(k, t):,} products. The best path has p(x, z) = {infer.best:.4g}, "
            f"{infer.best / infer.total:.1%} of the sum. The likeliest state of each frame makes another "
            f"question: it differs from the best path at {differ} of {t} places, and as a path has "
            f"{together:.4g}. ξ adds up to γ: its rows to that of the step before, its columns to that of "
            "this one."
            + (f" Of the drawn states the best path has {lens.right(infer.path, truth)} of {t} right, the "
               f"likeliest states {lens.right(infer.likeliest, truth)}." if truth is not None else "")
        )  # fmt: skip
        ui.check(
            "At how many places does the likeliest state differ from the best path?",
            ["none", "one", "two or more"],
            ["none", "one", "two or more"][min(differ, 2)],
            f"At {differ}.",
            wrong=(
                "The likeliest state is chosen place by place, the best path as a whole: they need not "
                "agree.",
                "A place hangs together with its neighbours: how many differ depends on how unclear they "
                "are.",
                "Where observations are clear, both choose the same states.",
            ),
            veils=("picture", "equation"),
        )
        if name in KNOWN:
            ui.program(
                f"""
                import torch
                from pages.latent.hidden_markov import lens

                model = lens.replaced(lens.world({name!r}), {matrix!r}).model
                x = torch.tensor([{x.tolist()}])
                path, log_p = model.viterbi(x)
                result = [float(model.log_prob(x).exp()), float(log_p.exp()), *path[0].tolist()]
                """,
                shows=[infer.total, infer.best, *infer.path.tolist()],
            )
        ui.source(
            forward_backward.log_forward, forward_backward.log_backward, forward_backward.viterbi,
            forward_backward.expected_transitions, references=ROOM.references,
        )  # fmt: skip


def long_view() -> None:
    falls = endless(name, matrix, x.tolist())
    ends = {kind: long.Long.end(sums) for kind, sums in (("64", falls.plain), ("32", falls.single))}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.sinking(*falls.tens().values()), key="sinking", share=1.0,
                alt="log p of ever longer sequences: scaled, and unscaled in two precisions",
                data={"t": range(1, 2001), **falls.tens()},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.work(100, k), key="work", share=1.0,
                alt="Number of paths and of products, by the length of the sequence",
            )  # fmt: skip
    words = {bits: "never in 2,000" if end is None else f"from t = {end}" for bits, end in ends.items()}
    stage.metrics(
        {
            "α = 0 in float64": words["64"],
            "α = 0 in float32": words["32"],
            "log p(x), T = 2,000": f"{float(falls.log_p[-1]):.6f}",
            f"Paths, T = {t}": f"{lens.paths(k, t):,}",
            "Products": f"{lens.products(k, t):,}",
        }
    )
    with stage.below:
        ui.notice(
            "The sequence is repeated up to 2,000 observations. Each one multiplies α by numbers below 1, so "
            "it falls like a power and ends at exactly 0, and log 0 is no answer. Divide every α by its sum "
            "and add up the logarithms of the sums: nothing is lost. On the right: what enumeration would "
            "cost, and what the recursion costs."
        )
        ui.check(
            "Twice as many observations: a forward pass takes …",
            ["as long", "twice as long", "the square"],
            "twice as long",
            "It grows with T; only the number of paths is multiplied by itself.",
            wrong={
                "as long": "Every observation takes one more step, of K² products.",
                "the square": "That is the number of paths: K²ᵀ is the square of Kᵀ.",
            },
            veils=("work", "numbers"),
        )
        ui.source(forward_backward.forward_sweep, long.repeated, references=ROOM.references)


{"Trellis": trellis_view, "Long sequences": long_view}[view]()
