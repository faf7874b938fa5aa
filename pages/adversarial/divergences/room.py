"""Divergences: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Divergences",
    idea="KL leaps, Jensen–Shannon stops at log 2, Wasserstein goes on telling the way.",
    place=30,
    minutes=5,
    words="Jensen-Shannon; JS divergence; Wasserstein; KL divergence; total variation; f-divergence; f-GAN",
    references=(
        "[UDL] §15.2.1–15.2.2, problems 15.4–15.5 (15.21 has −2√(σ₁σ₂) for −2σ₁σ₂)",
        "Arjovsky et al. 2017, Wasserstein GAN, arXiv:1701.07875",
    ),
)
