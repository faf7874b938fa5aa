"""Earth mover: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Earth mover",
    idea="What it costs to carry one heap to another is what the best prices earn.",
    place=80,
    minutes=5,
    words=(
        "optimal transport; Wasserstein; earth mover's distance; Kantorovich; dual; linear programming; "
        "Kantorovich-Rubinstein; transport plan"
    ),
    references=(
        "[UDL] §15.2.4, problem 15.3 (15.12–15.13 hold for the cost |i − j| alone, and with ≤ 1 for < 1)",
        "Villani 2009, Optimal transport: old and new",
    ),
)
