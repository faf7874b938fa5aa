"""Choose between two KLs: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Which KL",
    idea="One direction of the divergence seeks a mode, the other covers them all.",
    place=320,
    minutes=5,
    words=(
        "reverse KL; forward KL; mode seeking; mode covering; mass covering; moment matching; inclusive "
        "and exclusive"
    ),
    references=(
        "[UDL] §17.5; [GM] §3.4.2, which gives P to the posterior in KL(P‖Q) and then minimises KL(Q‖P)",
        "Minka 2005, Divergence measures and message passing",
    ),
)
