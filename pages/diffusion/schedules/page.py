"""Schedules: how fast the data drown, by β, by ᾱ and by the signal-to-noise ratio."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import schedule
from pages.diffusion.schedules import figures, lens
from pages.diffusion.schedules.room import COSINE, LINEAR, ROOM

stage = ui.stage(ROOM)

with stage.rail:
    now = ui.read(ROOM)
own = ui.compute(lens.chosen, now)
other_kind = COSINE if now.kind == LINEAR else LINEAR
other = lens.noise_schedule(other_kind, now.T, 0.02, 0.008, False)
times = lens.times(own)
film = ui.film_of(now, len(times), values=range(len(times)), names=times)
t = times[film.at]

with stage.picture:
    curves = {
        "alpha": (own.alpha_bar[1:], other.alpha_bar[1:], "ᾱ, what is left"),
        "snr": (lens.log_snr(own), lens.log_snr(other), "log₁₀ SNR"),
        "beta": (own.beta[1:], other.beta[1:], "β"),
    }
    left, right = ui.columns([2, 1])
    for key, (mine, theirs, label) in curves.items():
        fig = figures.pair(mine, theirs, (now.kind, other_kind), times, label)
        with left if key == "alpha" else right:
            share = 1.0 if key == "alpha" else 0.5
            ui.figure(fig, alt=f"{label} of both schedules over t/T", key=key, share=share, film=film)
with stage.foot:
    film.bar(captions=lens.captions(own), equations=lens.equations(own))
half, other_half = (float(each.alpha_bar[now.T // 2]) for each in (own, other))
stage.metrics(
    {
        "ᾱ at T/2": f"{half:.4f}",
        "ᾱ at T": f"{float(own.alpha_bar[-1]):.3g}",
    }
)
with stage.below:
    ui.notice(
        f"ᾱ is the product of all 1 − β so far. At T/2 the {now.kind} schedule leaves {half:.3f} of the "
        f"variance to the data, the {other_kind} one {other_half:.3f}; {lens.spent(own):.0%} of the steps "
        f"have an SNR below 0.01, and {lens.clipped(own)} have their β at its cap. After a cap on β ᾱ must "
        f"be made again, or the chain that noises is not the one that is inverted. {SAID}"
    )
    ui.check(
        "Which of the two keeps more of the data at T/2?",
        [now.kind, other_kind],
        now.kind if half > other_half else other_kind,
        "Compare the left curves in the middle.",
        wrong={
            now.kind: f"ᾱ is a product of all 1 − β so far: by T/2 the {now.kind} one has fallen further.",
            other_kind: "What counts is not the β of T/2: all those before have taken more from the "
            f"{other_kind} one.",
        },
        veils=("picture", "equation", "numbers"),
    )
    ui.program(
        f"""
        from pages.diffusion.schedules import lens

        bars = {lens.typed_bars(now.bars)}
        own = lens.noise_schedule({now.kind!r}, {now.T}, {now.top}, {now.s}, {now.zero}, bars)
        result = [float(own.alpha_bar[{t}]), float(own.snr[{t}])]
        """,
        shows=[float(own.alpha_bar[t]), float(own.snr[t])],
    )
    ui.source(schedule.linear, schedule.cosine, schedule.zero_terminal, references=ROOM.references)
