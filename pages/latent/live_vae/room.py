"""VAE live: what the room is."""

from lab.room import Room

ROOM = Room(
    title="VAE live",
    idea="Watch the ELBO split into its terms; turn β and σ² while it trains.",
    place=260,
    minutes=5,
    words="variational autoencoder; VAE training; reparameterization trick; KL annealing; warm-up",
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "Higgins et al. 2017, beta-VAE",
        "Lucas et al. 2019, Don't blame the ELBO!, arXiv:1911.02469 (collapse and σ²)",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.4-17.8",
    ),
    machine="vae",
)
