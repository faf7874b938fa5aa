"""HMM learns letters: Baum–Welch finds vowels in a text that nobody has marked."""

from lab import ui
from modules.latent.emissions import Categorical
from modules.latent.hmm import HMM
from pages.latent.letters import figures, lens
from pages.latent.letters.room import ROOM

DOCS, OWN = "Python documentation", "Own text"
TYPED = (
    "Type or paste a text here, in any language written with the letters a to z. The model sees "
    "nothing but one letter after the other. It has two states, and is asked which of them wrote a letter, "
    "so that the whole text becomes as likely as it can. The longer the text is, the clearer the answer."
)

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Learned": ui.scene("Nobody named vowels: space, a, e, i, o and u share the first state."),
        "Start": ui.scene("Before the first step: two random states, dearer than the frequencies.",
                          step=0),
        "Five steps": ui.scene("After five steps nothing is gained on the frequencies: a plateau.", step=5),
        "Stuck": ui.scene("Another start, another maximum: hardly below the dotted line, vowels apart.",
                          seed=0),
        "Three states": ui.scene("Three states share the letters: cheaper than two.", k=3),
        "Restarts": ui.scene("Eight starts end at several heights: the lowest is kept.", view="Restarts"),
    }
)  # fmt: skip


@ui.cached
def learned(text: str, states: int, seed: int) -> lens.Run:
    return lens.learn(lens.sequences(text), states, seed)


with stage.rail:
    view = ui.choice("View", ["One start", "Restarts"], key="view")
    source = ui.choice("Text", [DOCS, OWN], key="source", as_list=True)
    if source == OWN:
        text = ui.text("Your text", TYPED, key="text", max_chars=lens.MOST, area=True)
        ui.upload("A text file", into="text")
    else:
        text = lens.corpus()
    k = ui.slider("States", 2, 4, 2, key="k")
    seed = ui.number("Seed of the start" if view == "One start" else "First seed", 0, 999, 1, key="seed")
try:
    x = lens.sequences(text)
except ValueError as error:
    ui.stop(str(error))
floor, count = lens.unigram(x), int((x >= 0).sum())


def one_start() -> None:
    run = learned(text, k, seed)
    ui.prefetch(
        learned, *((text, each, seed) for each in (2, 3, 4) if each != k), (text, k, min(999, seed + 1))
    )
    order = lens.order_of(run)
    symbols = [lens.visible(lens.letters.ALPHABET[i]) for i in order]
    film = ui.film(len(run.rates), key="step", default=lens.STEPS, seconds=0.15)
    shown = run.emissions[:, :, order]
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.emissions(shown[film.at], symbols, 1.05 * float(shown[5:].max())), key="emissions",
                alt="How often each state shows each letter, by the step of EM", share=1.0, film=film,
                frames={f"data.{i}.y": figures.signed(shown)[:, i] for i in range(k)},
                data={"letter": symbols, **{f"state {i + 1}": shown[film.at, i] for i in range(k)}},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.rates([run.rates], 0, floor, film.at), key="rates", share=1.0, film=film,
                alt="Nats per letter after each step of EM, and those of the letters' frequencies",
                data={"step": range(len(run.rates)), "nats": run.rates},
                frames={f"layout.shapes.0.x{end}": list(range(len(run.rates))) for end in (0, 1)},
            )  # fmt: skip
    a = run.transitions
    with stage.foot:
        film.bar(
            captions=[
                f"After {f} steps {rate:.4f} nats per letter; the frequencies take {floor:.4f}. State 1 is "
                f"ahead at {lens.visible(run.prefers(f, 0)) or 'no letter'}."
                for f, rate in enumerate(run.rates)
            ],
            equations=[
                r"A=\begin{pmatrix}" + r"\\".join("&".join(f"{v:.3f}" for v in row) for row in m.tolist())
                + r"\end{pmatrix}"
                for m in a
            ],
        )  # fmt: skip
    end = run.prefers(lens.STEPS, 0)
    with stage.below:
        ui.notice(
            f"{count:,} letters and spaces, and no word of what a vowel is. At the end state 1 is ahead at "
            f"{lens.visible(end)}, and is followed by itself with probability {float(a[-1, 0, 0]):.3f}: what "
            "the states find is who may stand beside whom. EM never makes the text less likely, and stops at "
            "a maximum that depends on the start."
        )
        vowels = sum(v in end for v in "aeiou")
        ui.check(
            "At the end, at how many of a, e, i, o, u is state 1 ahead?",
            ["all five", "three or four", "two or fewer"],
            "all five" if vowels == 5 else "three or four" if vowels > 2 else "two or fewer",
            f"At {vowels}.",
            wrong=(
                "Nobody said vowel: EM sorts by who may stand beside whom, and may end at another maximum.",
                "EM sorts by who may stand beside whom: here that keeps the vowels together, or parts them.",
                "Vowels stand beside consonants: that is the plainest order in the text, and this state "
                "found it.",
            ),
            veils=("picture", "equation"),
        )
        if source == DOCS:
            ui.program(
                f"""
                from pages.latent.letters import lens

                x = lens.sequences(lens.corpus())
                run = lens.learn(x, {k}, seed={seed})
                result = [run.rates[{film.at}], lens.unigram(x)]
                """,
                shows=[run.rates[film.at], floor],
            )
        ui.source(HMM.e_step, HMM.m_step, Categorical.m_step, lens.learn, references=ROOM.references)


def restarts() -> None:
    def so_far(runs: list[lens.Run]) -> None:
        lines = [run.rates for run in runs]
        best = min(range(len(runs)), key=lambda i: lines[i][-1])
        ui.figure(figures.rates(lines, best, floor), key="starts", share=1.0,
                  alt="Nats per letter after each step of EM, a line for each start",
                  data={f"seed {seed + i}": line for i, line in enumerate(lines)})  # fmt: skip

    with stage.picture:
        runs = ui.job(
            f"Try {lens.STARTS} starts", lambda: lens.starts(x, k, seed), key="starts", at_once=True,
            of=(text, k, seed), show=so_far,
        )  # fmt: skip
        if runs is not None:
            so_far(runs)
    if runs is None:
        with stage.below:
            ui.notice("EM begins at random states and climbs from there: where does each start end?")
        return
    ends = [run.rates[-1] for run in runs]
    best, worst = ends.index(min(ends)), ends.index(max(ends))
    stage.metrics(
        {
            "Best": f"{ends[best]:.4f} nats, seed {seed + best}",
            "Worst": f"{ends[worst]:.4f} nats, seed {seed + worst}",
            "Frequencies": f"{floor:.4f} nats",
        }
    )
    with stage.below:
        ui.notice(
            f"The best of {lens.STARTS} starts ends with state 1 ahead at "
            f"{lens.visible(runs[best].prefers(lens.STEPS, 0))}; the worst, at "
            f"{lens.visible(runs[worst].prefers(lens.STEPS, 0))}. The likelihood says which to keep."
        )
        ui.table(
            {
                "seed": [seed + i for i in range(len(runs))],
                "nats per letter": [f"{v:.4f}" for v in ends],
                "state 1": [lens.visible(run.prefers(lens.STEPS, 0)) for run in runs],
            }
        )
        ui.source(lens.starts, HMM.initialize, references=ROOM.references)


{"One start": one_start, "Restarts": restarts}[view]()
