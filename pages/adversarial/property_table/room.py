"""Property table: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Property table",
    idea="No family keeps all six promises: what the text says of each, and what was measured.",
    place=230,
    minutes=2,
    words="comparison of models; trilemma; generative model properties; mode coverage",
    references=(
        "[UDL] §14.2, fig. 14.3; §16.5 and 17 (diffusion: a bound, though its ODE has an exact likelihood)",
    ),
)
