"""Hidden chain is not Markov: the next symbol depends on all that was seen, not on the last symbol alone."""

from lab import ui
from lab.lenses.typed import square_commas
from modules.latent.hmm import HMM
from pages.latent.not_markov import figures, lens
from pages.latent.not_markov.room import ROOM

OWN, COUNT = "Own chain", 10_000

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Longer memory": ui.scene("Always a 1 was seen last, and each symbol before it moves the chance."),
        "After 2, 1": ui.scene("After 2, 1 the next is a 1 with 5/6.", past="21", h=2),
        "After 2, 1, 1": ui.scene("One 1 more, and it is 4/5.", past="211", h=3),
        "After 1, 2": ui.scene("After 1, 2 a 1 never follows.", past="12", h=2),
        "After 2, 2": ui.scene("The last symbol is a 2 again, but now a 1 follows half of the time.",
                               past="22", h=2),
        "Markov": ui.scene("Where every state has a symbol of its own, one symbol of memory says all.",
                           chain="One state a symbol"),
        "Alike": ui.scene("Two states behind the 1 go on alike: still a Markov chain.",
                          chain="Alike behind a symbol"),
        "Own chain": ui.scene("Type your own: here a slow switch behind two look-alike states.", chain=OWN),
    }
)  # fmt: skip


def chosen(name: str, transitions: str, shown: str) -> HMM:
    return lens.typed_chain(transitions, shown) if name == OWN else lens.CHAINS[name]()


@ui.cached
def drawn(name: str, transitions: str, shown: str, seed: int):
    return lens.draw(chosen(name, transitions, shown), COUNT, seed)


# --- Controls -----------------------------------------------------------------------------------

transitions, shown = "", ""
with stage.rail:
    name = ui.choice("Chain", [*lens.CHAINS, OWN], key="chain", as_list=True)
    if name == OWN:
        transitions = ui.text(
            "Transitions", "0.9 0.05 0.05; 0.1 0.1 0.8; 0 0.2 0.8", key="law", max_chars=200, area=False,
            says=square_commas,
        )  # fmt: skip
        shown = ui.text("What each state shows", "1 1 2", key="shows", max_chars=20, area=False)
    typed = ui.text("What was seen, the latest last", "21111", key="past", max_chars=40, area=False)
    seed = ui.number("Seed of the counted draw", 0, 999, 0, key="seed")
try:
    model = chosen(name, transitions, shown)
    history, left_out = lens.read(typed)
except ValueError as error:
    ui.stop(str(error))
with stage.rail:
    ui.caption(left_out or f"Counted in {COUNT:,} drawn symbols.")
memory = lens.remember(model, history, drawn(name, transitions, shown, seed))
others = [each for each in lens.CHAINS if each != name]
ui.prefetch(drawn, (name, transitions, shown, min(999, seed + 1)), *((each, "", "", seed) for each in others))
pasts = ["–", *(lens.spelled(history[-h:], "") for h in range(1, len(history) + 1))]
symbols = [lens.SYMBOLS[s] for s in model.emission.probs.argmax(1).tolist()]

# --- Picture ------------------------------------------------------------------------------------

film = ui.film(len(pasts), key="h", default=len(history), label="Memory", seconds=0.8)
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.chances(memory.chances, memory.counted, film.at, pasts), key="chances", share=1.0,
            alt="The chance that a 1 is next, by how much is remembered: exact and counted", film=film,
            frames=figures.growing(memory.chances, memory.counted),
            data={"memory": pasts, "exact": memory.chances, "counted": memory.counted,
                  "places": memory.places},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.beliefs(memory.states[film.at], symbols), key="beliefs", share=1.0, film=film,
            alt="What this much memory says of the hidden state", frames={"data.0.y": memory.states},
            data={"state": range(1, model.states + 1), "probability": memory.states[film.at]},
        )  # fmt: skip
captions, equations = lens.captions_and_equations(model, history, memory)
with stage.foot:
    film.bar(captions=captions, equations=equations)

# --- Words --------------------------------------------------------------------------------------

spread = lens.moves(memory)
with stage.below:
    ui.notice(
        "The hidden state is Markov: given it, the past says nothing more. What it shows is in general not: "
        "the last symbol leaves several states possible, and older symbols tell them apart. "
        + (
            f"With this history the chance of a 1 moves by {spread:.4f} once the last symbol is known."
            if spread > 1e-9
            else "With this history nothing moves once the last symbol is known."
        )
    )
    ui.check(
        "Does the chance of a 1 here depend on more than the last symbol?",
        ["yes", "no"],
        "yes" if spread > 1e-9 else "no",
        f"It moves by {spread:.4f} between memories of one symbol and of {len(history)}.",
        wrong={
            "yes": "After this history the last symbol tells all that older ones could: the chance stays.",
            "no": "The state is hidden and remembers: older symbols tell of it too.",
        },
        veils=("picture", "equation"),
    )
    if name == "Five states":
        ui.table(
            {
                "line of the printed matrix": ["1", "2", "3", "4", "5"],
                "sum of the row": [f"{sum(row):.1f}" for row in lens.PRINTED],
                "sum of the column": [f"{sum(column):.1f}" for column in zip(*lens.PRINTED, strict=True)],
                "stationary, by columns": [f"{p:.6f}" for p in model.initial.tolist()],
            },
            alt="Sums of the printed matrix by rows and by columns, and the stationary distribution",
        )
        ui.caption("No row of the printed matrix sums to 1; its columns do, and they are used here.")
    if name != OWN:
        ui.program(
            f"""
            import torch
            from pages.latent.not_markov import lens

            model = lens.CHAINS[{name!r}]()
            past = torch.tensor([{history}])  # 0 is a 1, 1 is a 2
            result = float((model.forecast(past) @ model.emission.probs)[0, 0])
            """,
            shows=float(memory.chances[-1]),
        )
    ui.source(HMM.filtered, HMM.forecast, lens.remember, references=ROOM.references)
