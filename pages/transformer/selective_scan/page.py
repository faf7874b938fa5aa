"""Selective scan: gates and states of a trained Mamba and its LTI twin, the scan tree, the input held."""

from lab import ui
from lab.figures import scan_trees
from lab.lenses import scan_rounds
from modules.transformer import scan
from pages.transformer.selective_scan import figures, lens
from pages.transformer.selective_scan.room import GATE, HOLD, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == HOLD:
    held = ui.compute(lens.held, now)
    film = ui.film_of(now, len(held.x), values=range(1, len(held.x) + 1))
    pair = (
        (
            figures.held(held),
            "held",
            "Input, and states by zero-order hold and by the shortcut, over the steps",
        ),
        (figures.gate_of_z(held), "gates", "Gate and step size over the steps"),
    )
    captions, equations = lens.held_captions(held), lens.held_equations(held)
    words = (
        "One state, A = −1, B = 1. With Δ = softplus(z) zero-order hold is the gate of a GRU: z far below 0 "
        "keeps the state, z far above 0 replaces it by the input. The shortcut B̄ = ΔB writes Δ times the "
        "input: about the same for a short step, too much for a long one. The published code of Mamba takes "
        "the shortcut; a trained model makes up for it by its B."
    )
    code = f"result = lens.held(lens.gates({now.z!r}), lens.inputs({now.x!r})).zoh.tolist()"
    shows = held.zoh.tolist()
else:
    found = ui.compute(lens.watched, now)
    if now.view == GATE:
        film = ui.film_of(now, len(found.names), values=range(1, len(found.names) + 1))
        pair = (
            (figures.gates(found, now.channel), "gates", "Gate of each channel at each token"),
            (figures.states(found, now.channel), "states", "States of the channel over the tokens so far"),
        )
        captions, equations = lens.captions(found, now.channel), lens.equations(found, now.channel)
        right = [ui.card(name)["metrics"]["test/acc"] for name in (now.mamba, now.twin)]
        words = (
            f"{lens.right(found)} On new sequences the selective model is right in {right[0]:.2%} of its "
            f"answers, the LTI twin in {right[1]:.0%}. Channels stand in the order of how much farther their "
            "gates open behind data than at noise. A gate near 1 forgets the state and writes the token, one "
            "near 0 lets it pass by. The convolution before the gate has four taps, and this model opens as "
            "the last of them brings a data token, three tokens behind it; the first tokens have nothing "
            "before them, and it opens there, too. In the LTI twin no gate moves: all tokens are alike."
        )
    else:
        turns = lens.rounds(found, now.channel)
        film = ui.film_of(now, turns.count + 1, values=range(turns.count + 1))
        pair = (
            (scan_trees.tree(turns), "tree", "Elements over tokens and rounds, with the steps each composed"),
            (scan_trees.found_states(turns), "states", "What each element adds, beside the loop's states"),
        )
        captions, equations = scan_rounds.scan_captions(turns), scan_rounds.scan_equations(turns)
        words = (
            "Selection makes the system vary in time: no convolution computes it, the scan does. Each "
            "token is a map h → a h + b with a factor of its own, and the composition of two maps is one "
            "again: brackets are free, the order is not. The last round differs from the loop by at most "
            f"{lens.apart(turns):.0e}. Shown is the first state of channel {now.channel}, over eight tokens."
        )
    code = (
        "from lab import experiments, weights\n\n"
        f"names = ({now.mamba!r}, {now.twin!r})\n"
        "both = [weights.load(experiments.find(name).weights).eval() for name in names]\n"
        f"tokens = lens.sequence({now.tokens!r})\n"
        f"found = lens.watched(tokens, {now.selective}, {now.layer}, *both)\n"
        f"result = found.gate[:, {now.channel - 1}].tolist()"
    )
    shows = found.gate[:, now.channel - 1].tolist()

with stage.picture:
    for column, (fig, key, alt) in zip(ui.columns([2, 1]), pair, strict=True):
        with column:
            ui.figure(fig, key=key, share=1.0, film=film, alt=alt)
with stage.foot:
    film.bar(captions=captions, equations=equations)
with stage.below:
    ui.notice(words)
    ui.check(
        "What does a state do whose gate is 0?", lens.OPTIONS, lens.OPTIONS[0],
        "h_t = (1 − 0) h_{t−1} + 0 x_t: the token passes by.",
        wrong=("", "That is a gate of 1.", "That is a gate of one half."), veils=(),
    )  # fmt: skip
    ui.program(f"from pages.transformer.selective_scan import lens\n\n{code}", shows=shows)
    ui.source(*lens.SOURCES, scan.combine, scan.rounds, references=ROOM.references)
