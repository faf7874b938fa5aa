"""The order of the counts as an axis, and the GPT on it."""

from typing import Any

from lab import ui
from lab.errors import UserError
from pages.language.ngrams import figures, held_out


@ui.cached
def splits() -> tuple:
    return held_out.splits()


def view(stage: Any) -> None:
    """Nats per character of the test split, order by order."""
    counts, gpt = ui.card(held_out.COUNTS), ui.card(held_out.GPT)
    if not held_out.comparable(counts, gpt):
        ui.stop(f"{held_out.COUNTS} and {held_out.GPT} are of different texts: train both on the same one.")
    order, context = (
        card["config"][part]["init_args"][key]
        for card, part, key in ((counts, "model", "order"), (gpt, "data", "context"))
    )
    known, level = counts["metrics"]["test/nll"], gpt["metrics"]["test/nll"]

    def draw(result: list[float]) -> None:
        ui.figure(
            figures.by_order(result, (order, known), (context, level)), key="by-order", share=1.0,
            alt="Nats per character of held-out Shakespeare by the order of the counts, and of the GPT",
            data={"n": range(1, len(result) + 1), "nats per character": result},
        )  # fmt: skip

    with stage.picture:
        try:
            train, test, size = splits()
        except UserError as error:
            draw([])
            ui.caption(str(error))
            return
        result = ui.job(
            "Count orders 1 to 8", lambda: held_out.by_order(train, test, size), key="held-out", of=(),
            show=draw, before=lambda: draw([]),
        )  # fmt: skip
        if result is not None:
            draw(result)
    with stage.below:
        ui.caption(
            f"The same {len(test):,} held-out characters for both. What differs: the counts look n − 1 "
            f"characters back everywhere; the GPT reads windows of {context}, at their beginning less, and "
            "was trained by gradient for a limited number of steps."
        )
