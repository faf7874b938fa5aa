"""Whole numbers as they are, and with noise: what a density may say of them."""

from typing import Any

from lab import ui
from modules.autoregressive import rnade
from modules.trace import Trace
from pages.autoregressive.density import figures, whole_numbers
from pages.autoregressive.density.room import ROOM


@ui.cached
def without_noise(components: int, seed: int) -> Trace:
    return whole_numbers.whole_numbers(components, seed)


def view(stage: Any) -> None:
    """Two trainings on whole numbers, side by side."""
    with stage.rail:
        components = ui.slider("Gaussians a variable, K", 1, 10, 10, key="k")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    trace = without_noise(components, seed)
    film = ui.film(len(trace), key="step", default=len(trace) - 1)
    now, steps, floor = trace[film.at], whole_numbers.column(trace, "steps"), trace.result
    nll = {"as they are": whole_numbers.column(trace, "nll_raw"),
           "with noise": whole_numbers.column(trace, "nll_noisy"),
           "entropy": [floor] * len(trace)}  # fmt: skip
    sigma = {"as they are": whole_numbers.column(trace, "log_sigma_raw"),
             "with noise": whole_numbers.column(trace, "log_sigma_noisy")}  # fmt: skip
    titles = {"−log p of two pixels, nats": nll, "log σ of the narrowest Gaussian": sigma}
    with stage.picture:
        for place, (title, lines) in zip(ui.columns(2), titles.items(), strict=True):
            with place:
                ui.figure(
                    figures.course(lines, steps, now.values["steps"], title), alt=f"{title}, by step",
                    key=f"course-{len(lines)}", data={"steps": steps, **lines}, share=1.0, film=film,
                    frames={f"layout.shapes.0.x{end}": steps for end in (0, 1)},
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=[one.caption for one in trace], equations=[one.equation for one in trace])
    below = now.values["nll_raw"] < floor
    with stage.below:
        ui.notice(
            "Without noise, Gaussians may shrink onto whole numbers, and −log p can fall below the entropy, "
            "where no probability of a level can be. With uniform noise over each level −log p is a bound "
            "on the probability of the levels. A single Gaussian per variable has none to shrink onto."
        )
        ui.caption("The equation: what one Gaussian gives a number it sits on, at the smallest σ, in levels.")
        ui.check(
            "At this step, is −log p without noise below the entropy of the levels?",
            ["yes", "no"],
            "yes" if below else "no",
            f"{now.values['nll_raw']:.2f} against {floor:.2f} nats.",
            wrong={
                "yes": "The spikes come with training: so early the density is still too wide for it.",
                "no": "The entropy bounds probabilities: a density on whole numbers may rise as high as it "
                "likes.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            """
            from pages.autoregressive.density import whole_numbers

            result = whole_numbers.entropy(whole_numbers.levels())
            """,
            shows=floor,
        )
        ui.source(whole_numbers.whole_numbers, rnade.RNADE.conditional_log_prob, references=ROOM.references)
