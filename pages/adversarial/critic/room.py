"""Critic constraint: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Critic constraint",
    idea="Only a critic of slope 1 measures W₁: three ways to hold it, and how near each comes.",
    place=90,
    minutes=5,
    words=(
        "WGAN; Wasserstein GAN; WGAN-GP; gradient penalty; weight clipping; spectral normalization; "
        "Lipschitz; 1-Lipschitz"
    ),
    references=(
        (
            "Arjovsky et al. 2017, arXiv:1701.07875 (clipping); "
            "Gulrajani et al. 2017, arXiv:1704.00028 (penalty)"
        ),
        "Miyato et al. 2018, arXiv:1802.05957 (spectral norm)",
        "[UDL] §15.2.5–15.2.6 (clipping to ±0.01 does not bound the slope by 1, but by far less)",
    ),
)
