"""Linear probes: what a logistic regression reads in frozen vectors."""

from torch import Tensor


def logistic_accuracy(x: Tensor, y: Tensor, held_x: Tensor, held_y: Tensor) -> float:
    """Share of held-out labels that is right, of a regression on standardised vectors.

    Args:
        x, y: (N, C) vectors and (N,) labels to fit on; held_x, held_y: to score on.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)).fit(x.numpy(), y.numpy())
    return float(fitted.score(held_x.numpy(), held_y.numpy()))
