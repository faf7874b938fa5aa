"""What the views of chains share."""

from modules.autoregressive import markov
from pages.autoregressive.chains import lens

REFERENCES = ["[GM] §1.2.1, §1.2.2", "[BB] §5.1, example 5.10", "Pearl 1988; Norris 1997"]
FIVE = lens.spelled_matrix(markov.FIVE_STATES)
