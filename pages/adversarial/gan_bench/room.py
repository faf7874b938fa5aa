"""GAN bench: what the room is."""

from lab.room import Room

ROOM = Room(
    title="GAN bench",
    idea="Two networks play: one makes points, the other tells them from the data.",
    place=50,
    minutes=4,
    words=(
        "generative adversarial network; GAN; WGAN-GP; non-saturating loss; hinge loss; mode collapse; "
        "least squares GAN; LSGAN; eight Gaussians"
    ),
    references=(
        "Goodfellow et al. 2014, arXiv:1406.2661; Gulrajani et al. 2017, arXiv:1704.00028",
        "Lin et al. 2018, PacGAN, arXiv:1712.04086; Karras et al. 2018, arXiv:1710.10196 (minibatch std)",
        "[UDL] §15.1–15.3",
    ),
    machine="gan",
)
