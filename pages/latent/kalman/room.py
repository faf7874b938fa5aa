"""Kalman filter: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Kalman filter",
    idea="A moving state seen through noise: predict, correct, and in the end look back.",
    place=60,
    minutes=6,
    words=(
        "Kalman filter; Kalman smoother; linear dynamical system; state space model; Rauch-Tung-Striebel; "
        "tracking"
    ),
    references=(
        "Kalman 1960, A new approach to linear filtering and prediction problems",
        "Rauch, Tung, Striebel 1965, Maximum likelihood estimates of linear dynamic systems",
        "[DGM], list of models",
    ),
)
