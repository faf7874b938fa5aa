"""A planted corpus: 8 animals × 3 roles, told apart by the company that their words keep.

A sentence has five words,

    entity's own   role's own   WORD   role's own   entity's own

where WORD names an animal in a role ("mare": horse, female) and its neighbours are drawn, each of
four with equal probability, from words that go with that animal or with that role alone. So
P(neighbour | WORD) is a mixture of an entity part and a role part, "mare" − "stallion" means the
same as "cow" − "bull", and every analogy has a right answer that nobody had to judge.

V = 24 + 8·4 + 3·4 = 68 words; 3·2 ordered pairs of roles × 8·7 of animals = 336 analogies.
"""

import torch
from torch import Tensor

ROLES = ("male", "female", "young")
ENTITIES = {
    "horse": ("stallion", "mare", "foal"), "cattle": ("bull", "cow", "calf"),
    "sheep": ("ram", "ewe", "lamb"), "pig": ("boar", "sow", "piglet"),
    "chicken": ("rooster", "hen", "chick"), "deer": ("stag", "doe", "fawn"),
    "goose": ("gander", "goose", "gosling"), "goat": ("billy", "nanny", "kid"),
}  # fmt: skip
ENTITY_WORDS = {
    "horse": ("saddle", "gallops", "hooves", "stable"), "cattle": ("grazes", "moos", "pasture", "barn"),
    "sheep": ("wool", "bleats", "flock", "meadow"), "pig": ("mud", "grunts", "sty", "trough"),
    "chicken": ("feathers", "pecks", "coop", "grain"), "deer": ("forest", "leaps", "antlers", "glade"),
    "goose": ("pond", "honks", "swims", "reeds"), "goat": ("cliff", "climbs", "beard", "horns"),
}  # fmt: skip
ROLE_WORDS = {
    "male": ("he", "his", "father", "fights"), "female": ("she", "her", "mother", "nurses"),
    "young": ("it", "its", "newborn", "plays"),
}  # fmt: skip

WORDS = [w for names in ENTITIES.values() for w in names]  # 8·3, entity by entity
VOCABULARY = [
    *WORDS,
    *(w for e in ENTITIES for w in ENTITY_WORDS[e]),
    *(w for r in ROLES for w in ROLE_WORDS[r]),
]


def sentences(n: int = 6000, seed: int = 0, subsample: float = 1.0, role: int = 2) -> Tensor:
    """Draw n sentences: (n, 5) int64, numbers of `VOCABULARY`.

    Args:
        subsample: how often `role` occurs relative to another role; 1 makes all equally frequent.

    Raises:
        ValueError: no sentence, or subsample outside [0, 1].
    """
    if n < 1 or not 0 <= subsample <= 1:
        raise ValueError(f"{n} sentences, subsample {subsample}: draw at least one, by a factor in [0, 1].")
    generator = torch.Generator().manual_seed(seed)
    weights = torch.ones(len(ROLES))
    weights[role] = subsample
    e = torch.randint(len(ENTITIES), (n,), generator=generator)
    r = torch.multinomial(weights, n, replacement=True, generator=generator)
    own = torch.randint(4, (4, n), generator=generator)
    entity = len(WORDS) + 4 * e + own[:2]  # (2, n)
    roles = len(WORDS) + 4 * len(ENTITIES) + 4 * r + own[2:]  # (2, n)
    word = len(ROLES) * e + r
    return torch.stack([entity[0], roles[0], word, roles[1], entity[1]], dim=1)


def pairs() -> dict[str, list[tuple[str, str]]]:
    """The pairs of each relation: "male → female" -> [("stallion", "mare"), …]; all six directions."""
    return {
        f"{ROLES[a]} → {ROLES[b]}": [(names[a], names[b]) for names in ENTITIES.values()]
        for a in range(3)
        for b in range(3)
        if a != b
    }
