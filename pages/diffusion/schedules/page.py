"""Schedules: how fast the data drown, by β, by ᾱ and by the signal-to-noise ratio."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from lab.lenses.diffusion import SAID
from modules.diffusion import schedule
from pages.diffusion.schedules import figures, lens
from pages.diffusion.schedules.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Linear": ui.scene("Half-way hardly anything of the data is left: the second half learns little."),
        "Cosine": ui.scene("In the middle the cosine still has ᾱ = ½, the linear schedule nearly nothing.",
                           kind="cosine", step=20),
        "The clip": ui.scene("The last step is capped at β = 0.999: see the last point.",
                             kind="cosine", step=40),
        "Ten steps": ui.scene("Few steps must be large: β reaches its cap, and the first takes 1 %.", T=10,
                              step=9),
        "Gentle": ui.scene("A small β never drowns the data: some is left at T.", top=0.004,
                           step=40),
        "Zero at the end": ui.scene("Rescaled, nothing is left at T: there ε says nothing of the data.",
                                    zero=True, step=40),
        "Your own": ui.scene("Type what is left after equal stretches: where it falls tenfold, β is largest.",
                             kind="own", step=20),
    }
)  # fmt: skip

with stage.rail:
    kind = ui.choice("Schedule", ["linear", "cosine", "own"], key="kind")
    T = ui.choice("Steps T", [10, 100, 1000], key="T", default=1000)
    top = ui.slider("Last β at T = 1000", 0.002, 0.04, 0.02, key="top", step=0.002, disabled=kind != "linear")
    s = ui.slider("Offset s", 0.0, 0.1, 0.008, key="s", step=0.004, disabled=kind != "cosine")
    bars: list[float] = []
    if kind == "own":
        words = ui.text("ᾱ after each of equal stretches", lens.OWN, key="bars", max_chars=80)
        bars, wrong = typed.named(words, lens.MOST, 1e-9, 1.0)
        if wrong:
            ui.warning(wrong)
        try:
            bars = lens.falling(bars)
        except UserError as error:
            ui.stop(str(error))
    zero = ui.toggle("Zero SNR at T", False, key="zero")
own = lens.made(kind, T, top, s, zero, bars)
other_kind = "cosine" if kind == "linear" else "linear"
other = lens.made(other_kind, T, 0.02, 0.008, False)
times = lens.times(own)
film = ui.film(
    len(times), key="step", values=range(len(times)), default=len(times) // 2, label="t =", names=times
)
t = times[film.at]
names = (kind, other_kind)
share = [v / T for v in times]

with stage.picture:
    columns = ui.columns([1, 1, 1])
    log_snr = lens.log_snr(own)
    for column, key, mine, theirs, label in (
        (columns[0], "alpha", own.alpha_bar[1:], other.alpha_bar[1:], "ᾱ, what is left"),
        (columns[1], "snr", log_snr, lens.log_snr(other), "log₁₀ SNR"),
        (columns[2], "beta", own.beta[1:], other.beta[1:], "β"),
    ):
        with column:
            values = [float(mine[i - 1]) for i in times]
            ui.figure(
                figures.pair(mine, theirs, names, (share[film.at], values[film.at]), label),
                alt=f"{label} of both schedules over t/T", key=key, share=1.0, film=film,
                frames={"data.2.x": [[v] for v in share], "data.2.y": [[v] for v in values]},
                data={"t": list(range(1, T + 1)), kind: mine, other_kind: theirs},
            )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(own), equations=lens.equations(own))
half = float(own.alpha_bar[T // 2])
stage.metrics(
    {
        "ᾱ at T/2": f"{half:.4f}",
        "ᾱ at T": f"{float(own.alpha_bar[-1]):.3g}",
        "Steps with SNR < 0.01": f"{100 * lens.spent(own):.0f} %",
        "Steps with β at its cap": str(lens.clipped(own)),
    }
)
with stage.below:
    ui.notice(
        f"ᾱ is the product of all 1 − β so far. At T/2 the {kind} schedule leaves {half:.3f} of the "
        f"variance to the data, the {other_kind} one {float(other.alpha_bar[T // 2]):.3f}. After a cap on β "
        f"ᾱ must be made again, or the chain that noises is not the one that is inverted. {SAID}"
    )
    ui.check(
        "Which of the two keeps more of the data at T/2?",
        [kind, other_kind],
        kind if half > float(other.alpha_bar[T // 2]) else other_kind,
        "Compare the left curves in the middle.",
        wrong={
            kind: f"ᾱ is a product of all 1 − β so far: by T/2 the {kind} one has fallen further.",
            other_kind: "What counts is not the β of T/2: all those before have taken more from the "
            f"{other_kind} one.",
        },
        veils=("picture", "equation", "numbers"),
    )
    ui.program(
        f"""
        from pages.diffusion.schedules import lens

        own = lens.made({kind!r}, {T}, {top}, {s}, {zero}, {bars})
        result = [float(own.alpha_bar[{t}]), float(own.snr[{t}])]
        """,
        shows=[float(own.alpha_bar[t]), float(own.snr[t])],
    )
    ui.source(schedule.linear, schedule.cosine, schedule.zero_terminal, references=ROOM.references)
