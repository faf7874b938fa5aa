"""Words of the page on fitted sizes."""

from pages.latent.own_table.lens import MODELS, Compared


def captions(result: Compared, kind: str, unit: str) -> list[str]:
    """A sentence for each size."""
    texts = []
    for size, row in enumerate(result.rows, 1):
        best = [
            word for word, key in (("BIC", "bic"), ("what is held out", "held")) if result.best(key) == size
        ]
        texts.append(
            f"{MODELS[kind].capitalize()}: {size}, {row['parameters']:,} parameters. Held out "
            f"{row['held']:.3f} nats {unit}, fitted {row['nll']:.3f}."
            + (f" Best by {' and '.join(best)}." if best else "")
        )
    return texts


def equations(result: Compared, count: int) -> list[str]:
    """BIC of each size with its numbers, LaTeX."""
    return [
        rf"\mathrm{{BIC}} = p \ln N - 2 \textstyle\sum_n \log p(x_n) = {row['parameters']} \ln {count} + "
        rf"2 \cdot {count} \cdot {row['nll']:.4f} = {row['bic']:.1f}"
        for row in result.rows
    ]
