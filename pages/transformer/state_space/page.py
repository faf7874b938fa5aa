"""State space: one system by three forms, its step size, HiPPO's memory, and a scan in rounds."""

from lab import ui
from lab.figures import scan_trees
from lab.lenses import scan_rounds
from modules.transformer import s4, scan, state_space
from pages.transformer.state_space import figures, hippo, lens
from pages.transformer.state_space.room import DELTAS, FORMS, MEMORY, ROOM, STEP

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def forms() -> None:
    found = ui.compute(lens.forms, now)
    T = len(found.x)
    film = ui.film_of(now, T, values=range(1, T + 1))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.outputs(found), key="outputs", share=1.0, film=film,
                alt="Input, and the output by recurrence, convolution and FFT, over the tokens",
                data={"x": found.x, "recurrence": found.by_recurrence, "convolution": found.by_convolution,
                      "FFT": found.by_fft},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.response(found), key="response", share=1.0, film=film,
                alt="Weight of each token so far in the output: the impulse response, turned round",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.form_captions(found), equations=lens.form_equations(found))
    with stage.below:
        ui.notice(
            "The recurrence keeps one state and reads token by token; the convolution has all outputs at "
            "once, by the impulse response. The FFT differs from the recurrence by at most "
            f"{found.apart:.1e}: "
            "an FFT of T points takes the response to be periodic, so that what should lie behind the end is "
            "added to the beginning. On 2T − 1 points or more nothing wraps around."
        )
        ui.check(
            f"From how many points on is an FFT of {T} tokens right for every input?",
            sorted({T, 2 * T - 1, 2 * T + 1}),
            2 * T - 1,
            "The response and the input together reach over T + T − 1 places.",
            wrong={
                T: "The response to the last tokens lies behind point T: it wraps around to the beginning.",
                2 * T + 1: f"Only T + T − 1 = {2 * T - 1} places are reached: two of these stay empty.",
            },
            veils=("picture",),
        )
        ui.program(
            f"""
            from pages.transformer.state_space import lens

            x = lens.signal({now.signal!r})
            found = lens.forms(x, {now.system!r}, {now.delta}, {now.padded})
            result = found.by_fft.tolist()
            """,
            shows=found.by_fft.tolist(),
        )
        ui.source(state_space.zero_order_hold, state_space.kernel, state_space.recurrence,
                  state_space.fft_convolution, references=ROOM.references)  # fmt: skip


def step_size() -> None:
    found = ui.compute(lens.steps, now)
    film = ui.film_of(now, len(DELTAS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.held(found), key="held", share=1.0, film=film,
                alt="Exact output over time, and the outputs of three methods at the ends of their steps",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.poles(found), key="poles", share=1.0, film=film,
                alt="Eigenvalues of the discrete state matrix by method, beside the unit circle",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.step_captions(found), equations=lens.step_equations(found))
    with stage.below:
        ui.notice(
            "Zero-order hold is exact at every step size, since the input is held over each step. Euler "
            "moves along the slope at the beginning of a step: a pole at λ becomes 1 + Δλ, outside of the "
            "unit circle once Δ > 2/|λ| for a real pole. The bilinear rule keeps stable poles inside, but "
            "not at their places. Outputs that have run away are not drawn."
        )
        ui.source(*state_space.METHODS.values(), references=ROOM.references)


def memory() -> None:
    found = ui.compute(hippo.memory, now)
    film = ui.film_of(now, hippo.PARTS, values=range(1, hippo.PARTS + 1))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.past(found), key="past", share=1.0, film=film,
                alt="The signal, and its past as the coefficients hold it",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.coefficients(found), key="coefficients", share=1.0, film=film,
                alt="Coefficients of the Legendre polynomials, by their degree",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=hippo.captions(found), equations=hippo.equations(found))
    with stage.below:
        ui.notice(
            f"The state has {now.states} numbers, whatever the length of the past. They are the coefficients "
            "of the best polynomial for the past as a whole: old and new count alike, and details fade as "
            f"the past gets longer. At the end the error is {float(found.errors[-1]):.3f}."
        )
        ui.source(s4.hippo_legs, hippo.memory, references=ROOM.references)


def rounds() -> None:
    found = ui.compute(lens.scan, now)
    film = ui.film_of(now, found.count + 1, values=range(found.count + 1))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                scan_trees.tree(found), key="tree", share=1.0, film=film,
                alt="Elements over tokens and rounds, each with the number of steps that it has composed",
            )  # fmt: skip
        with right:
            ui.figure(
                scan_trees.found_states(found), key="states", share=1.0, film=film,
                alt="What each element adds to the state, beside the states that a loop finds",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=scan_rounds.scan_captions(found), equations=scan_rounds.scan_equations(found))
    with stage.below:
        ui.notice(
            "Each step is a map h → a h + b, and two of them make one again: the order of the brackets is "
            "free, that of the steps is not. An orange element has composed all steps up to its token: its b "
            f"is the state. {found.a.shape[1]} tokens take {found.count} rounds. The loop does less "
            "arithmetic, and on a processor of few cores it is the faster for wide states."
        )
        ui.source(scan.combine, scan.rounds, scan.fastest, references=ROOM.references)


{FORMS: forms, STEP: step_size, MEMORY: memory}.get(now.view, rounds)()
