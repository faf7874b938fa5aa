"""Parts that the views of chains share."""

from modules.autoregressive import markov
from pages.autoregressive.chains import lens

FIVE = lens.spelled_matrix(markov.FIVE_STATES)
