"""The field's words for what a page shows, where its own texts say them otherwise: for the menu's search."""

WORDS: dict[str, str] = {
    "autoregressive-parameters": (
        "curse of dimensionality; joint probability table; parameter sharing; chain rule"
    ),
    "autoregressive-chains": "Markov chain; Bayesian network; Markov random field; conditional independence",
    "autoregressive-gaussian-chain": "AR(1); autoregressive process; random walk; stationarity; chain rule",
    "autoregressive-fvsbn": (
        "fully visible sigmoid belief network; sigmoid belief network; logistic regression"
    ),
    "autoregressive-inspector": (
        "NADE; MADE; PixelCNN; PixelRNN; image completion; ancestral sampling; autoregressive model"
    ),
    "autoregressive-sharing": (
        "NADE; weight sharing; neural autoregressive distribution estimator; overfitting"
    ),
    "autoregressive-density": "RNADE; mixture density network; MDN; mixture of Gaussians",
    "autoregressive-autoencoder": "autoencoder; identity map; denoising; bottleneck; entropy",
    "autoregressive-masks": (
        "MADE; masked autoencoder; masked autoencoder for distribution estimation; autoregressive property"
    ),
    "autoregressive-orders": (
        "ordering; order-agnostic training; ensemble; mixture of orders; ordering of variables"
    ),
    "autoregressive-blind-spot": "PixelCNN; masked convolution; causal convolution; gated PixelCNN",
    "language-tokenizer-workbench": (
        "byte pair encoding; BPE; tokenization; subwords; WordPiece; unigram; SentencePiece; tokenizer"
    ),
    "language-vocabularies": "vocabulary; bits per character; bits per byte; tokenization",
    "language-perplexity": (
        "cross-entropy; cross entropy; KL divergence; Kullback-Leibler; perplexity; log-likelihood"
    ),
    "language-entropy-floor": "entropy rate; Shannon entropy; entropy; source coding; overfitting",
    "language-ngrams": (
        "n-gram; bigram; trigram; smoothing; Kneser-Ney; add-one smoothing; Laplace smoothing; backoff; "
        "language model; sparsity"
    ),
    "language-rare-words": "out of vocabulary; OOV; unknown token; UNK",
    "language-count-vectors": (
        "co-occurrence matrix; SVD; singular value decomposition; PPMI; pointwise mutual information; "
        "latent semantic analysis; LSA; truncated SVD"
    ),
    "language-word2vec": (
        "skip-gram; skipgram; negative sampling; CBOW; word embeddings; SGNS; stochastic gradient descent"
    ),
    "language-word-vectors": (
        "word embeddings; embedding; GloVe; cosine similarity; distributional hypothesis"
    ),
    "language-analogies": "king queen; analogy; word arithmetic; vector arithmetic; parallelogram",
    "language-packing": (
        "high dimensions; Johnson-Lindenstrauss; superposition; almost orthogonal; curse of dimensionality"
    ),
    "language-neural-lm": (
        "neural probabilistic language model; feed-forward language model; embedding layer; "
        "backpropagation; training loop; gradient descent; stochastic gradient descent; one-hot"
    ),
    "language-shared-strength": "generalization; generalisation; distributed representation; smoothing",
    "language-senses": "polysemy; contextual embeddings; word sense; BERT; contextualized representations",
    "language-truncation": "nucleus sampling; top-p; top-k; temperature; min-p; decoding; softmax",
    "language-beam-search": (
        "beam search; greedy decoding; length normalization; diverse beam search; decoding"
    ),
    "language-beam-width": "beam search curse; length penalty; length bias; decoding",
    "language-two-strategies": "ancestral sampling; greedy decoding; temperature; decoding",
    "language-all-strategies": "text degeneration; repetition; nucleus sampling; decoding",
    "language-own-mistakes": "exposure bias; teacher forcing; scheduled sampling",
    "transformer-attention": (
        "self-attention; multi-head attention; query key value; scaled dot-product attention; causal "
        "mask; transformer; GPT; induction head; softmax; positional encoding"
    ),
    "transformer-sampling": (
        "KV cache; key-value cache; greedy decoding; GPT; transformer; text generation; temperature"
    ),
    "convolution-kernel": (
        "convolution; stride; dilation; padding; filter; weight sharing; CNN; convolutional network"
    ),
    "convolution-own-stack": (
        "dilated convolution; receptive field; convolutional network; CNN; stride; WaveNet"
    ),
    "convolution-receptive-field": (
        "saliency; effective receptive field; CNN; convolutional network; gradient of a logit; "
        "backpropagation"
    ),
    "graph-messages": (
        "message passing; GCN; graph convolutional network; GNN; graph neural network; GAT; graph "
        "attention; over-smoothing; node classification; Cora"
    ),
    "latent-linear": (
        "factor analysis; PCA; principal component analysis; probabilistic PCA; pPCA; dimensionality "
        "reduction"
    ),
    "latent-eigen-digits": "PCA; principal components; eigenfaces; eigenvectors; reconstruction",
    "latent-hidden-markov": (
        "hidden Markov model; HMM; forward-backward; Viterbi; forward algorithm; backward algorithm; "
        "smoothing; filtering"
    ),
    "latent-letters": "Baum-Welch; hidden Markov model; HMM; expectation maximization; vowels and consonants",
    "latent-not-markov": "lumpability; hidden Markov process; Markov property; higher-order Markov",
    "latent-kalman": (
        "Kalman filter; Kalman smoother; linear dynamical system; state space model; Rauch-Tung-Striebel; "
        "tracking"
    ),
    "latent-taxonomy": (
        "generative models; taxonomy; implicit models; explicit density; unsupervised learning"
    ),
    "latent-curve-density": (
        "nonlinear latent variable model; marginal likelihood; intractable posterior; marginalization; "
        "manifold"
    ),
    "latent-bound-staircase": "EM; expectation maximization; variational EM; lower bound; coordinate ascent",
    "latent-mixture": (
        "Gaussian mixture model; GMM; EM algorithm; expectation maximization; k-means; responsibilities; "
        "clustering; singularities"
    ),
    "latent-capacity-wall": (
        "mixture of Gaussians; model capacity; GTM; generative topographic mapping; manifold"
    ),
    "latent-latent-space": "variational autoencoder; VAE; latent space; encoder; decoder; manifold",
    "latent-interpolation": "latent interpolation; slerp; spherical interpolation; linear interpolation",
    "latent-traversal": "latent traversal; disentanglement; factors of variation",
    "latent-arithmetic": "latent arithmetic; attribute vector; vector arithmetic; smile vector",
    "latent-bound": (
        "ELBO; evidence lower bound; variational lower bound; reconstruction error; KL term; VAE loss; "
        "rate distortion"
    ),
    "latent-importance": (
        "importance sampling; importance weights; log-sum-exp; marginal likelihood estimate; effective "
        "sample size"
    ),
    "latent-beta": "beta-VAE; rate-distortion; KL weight; posterior collapse; free bits",
    "latent-collapse": "posterior collapse; KL vanishing; KL annealing; free bits; PixelVAE; strong decoder",
    "latent-text-vae": (
        "text VAE; Bowman; posterior collapse; word dropout; KL annealing; sentence interpolation; GRU"
    ),
    "latent-conditional": "conditional VAE; CVAE; class-conditional; style and content",
    "latent-two-level": "ladder VAE; hierarchical VAE; LVAE; top-down inference",
    "latent-codebook": (
        "VQ-VAE; vector quantization; VQVAE; straight-through estimator; discrete latent; codebook collapse"
    ),
    "latent-prior-posterior": (
        "aggregate posterior; aggregated posterior; prior hole; VampPrior; holes in the prior; two-stage VAE"
    ),
    "latent-live-vae": (
        "variational autoencoder; VAE training; reparameterization trick; KL annealing; warm-up"
    ),
    "latent-disentanglement": (
        "disentangled representation; beta-VAE; FactorVAE; TC-VAE; total correlation; MIG; mutual "
        "information gap; dSprites"
    ),
    "latent-attributes": "attribute vector; attribute manipulation; conditional generation",
    "latent-denoising": "denoising autoencoder; autoencoder; DAE; reconstruction",
    "latent-information": (
        "KL divergence; Kullback-Leibler; entropy; cross-entropy; mutual information; relative entropy"
    ),
    "latent-elbo-bars": (
        "ELBO; evidence lower bound; variational inference; Jensen's inequality; variational gap; free energy"
    ),
    "latent-which-kl": (
        "reverse KL; forward KL; mode seeking; mode covering; mass covering; moment matching; inclusive "
        "and exclusive"
    ),
    "latent-exponential-gaussian": (
        "variational inference; evidence; marginal likelihood; closed form; conjugate"
    ),
    "latent-two-kls": "data entropy; maximum likelihood; joint KL; mutual information",
    "latent-gradients": (
        "reparameterization; reparameterisation trick; REINFORCE; score function estimator; pathwise "
        "gradient; control variate; variance reduction; log-derivative trick; baseline; Gumbel-softmax"
    ),
    "latent-iwae": (
        "IWAE; importance weighted autoencoder; importance weighted bound; DReG; signal-to-noise ratio; "
        "multi-sample bound"
    ),
    "latent-amortisation": (
        "amortization gap; amortized inference; approximation gap; amortised inference; inference "
        "network; stochastic variational inference; SVI"
    ),
    "latent-flow-posterior": (
        "normalizing flow posterior; IAF; inverse autoregressive flow; planar flow; richer posterior; "
        "Householder"
    ),
    "latent-outliers": "anomaly detection; outlier detection; out-of-distribution; OOD; novelty detection",
    "flow-change-of-variables": (
        "change of variables; Jacobian; pushforward; density transformation; normalizing flow; inverse CDF"
    ),
    "flow-monotone": (
        "monotone spline; rational-quadratic spline; invertible function; neural spline; inverse CDF"
    ),
    "flow-linear-flow": "LU decomposition; PLU; 1x1 convolution; determinant; linear flow; permutation",
    "flow-coupling": "RealNVP; NICE; coupling layer; affine coupling; triangular Jacobian",
    "flow-flow-bench": (
        "normalizing flow; RealNVP; neural spline flow; MAF; two moons; topology; base distribution"
    ),
    "flow-live-flow": (
        "normalizing flow training; maximum likelihood; RealNVP; gradient descent; learning rate"
    ),
    "flow-maf-iaf": "masked autoregressive flow; inverse autoregressive flow; MAF; IAF; sequential sampling",
    "flow-distillation": (
        "Parallel WaveNet; probability density distillation; knowledge distillation; teacher student; "
        "reverse KL"
    ),
    "flow-universality": (
        "universal approximation; coupling; autoregressive flow; permutation; expressiveness"
    ),
    "flow-planar-radial": "planar flow; radial flow; Rezende and Mohamed; matrix determinant lemma",
    "flow-reversible": (
        "RevNet; additive coupling; volume preserving; reversible network; memory saving; NICE"
    ),
    "flow-contraction": (
        "i-ResNet; invertible residual network; Banach fixed point; Lipschitz; fixed-point iteration; "
        "spectral normalization; invertible ResNet"
    ),
    "flow-log-det": (
        "Hutchinson trace estimator; residual flow; power series; log determinant; Russian roulette; "
        "trace estimator; i-ResNet"
    ),
    "flow-continuous": (
        "neural ODE; FFJORD; continuous normalizing flow; CNF; instantaneous change of variables; "
        "divergence of a field"
    ),
    "flow-image-flow": (
        "Glow; multi-scale architecture; squeeze; actnorm; invertible 1x1 convolution; RealNVP"
    ),
    "flow-dequantization": (
        "uniform dequantization; variational dequantization; bits per dimension; discrete data"
    ),
    "flow-temperature": "temperature sampling; reduced temperature; truncation; Glow samples",
    "flow-image-interpolation": "latent interpolation; Glow; face mixing; slerp; spherical interpolation",
    "flow-typicality": (
        "out-of-distribution detection; OOD; typical set; typicality; anomaly detection; likelihood ratio"
    ),
    "flow-unnormalised": (
        "Boltzmann generator; energy-based model; variational inference; reverse KL; unnormalized "
        "density; partition function; mode seeking"
    ),
    "flow-vae-or-flow": "VAE versus flow; exact likelihood; comparison of models",
    "adversarial-toy-gan": (
        "generative adversarial network; GAN; Dirac GAN; minimax; two-player game; generator; "
        "discriminator; Nash equilibrium; oscillation; convergence; R1 penalty"
    ),
    "adversarial-gan-bench": (
        "generative adversarial network; GAN; WGAN-GP; non-saturating loss; hinge loss; mode collapse; "
        "least squares GAN; LSGAN; eight Gaussians"
    ),
    "adversarial-live-gan": (
        "GAN training; mode collapse; two time-scale update rule; TTUR; learning rate; training "
        "instability; Adam"
    ),
    "adversarial-clinic": (
        "mode collapse; mode dropping; minibatch discrimination; minibatch standard deviation; PacGAN; "
        "label smoothing; unrolled GAN; missing modes; VEEGAN"
    ),
    "adversarial-dcgan": (
        "deep convolutional GAN; transposed convolution; batch normalization; batch norm; LeakyReLU; "
        "deconvolution; upsampling"
    ),
    "adversarial-growing": "progressive growing; ProGAN; PGGAN; equalized learning rate; fade in",
    "adversarial-divergences": (
        "Jensen-Shannon; JS divergence; Wasserstein; KL divergence; total variation; f-divergence; f-GAN"
    ),
    "adversarial-optimal-discriminator": (
        "optimal discriminator; density ratio; Jensen-Shannon; minimax; Bayes classifier; binary "
        "cross-entropy"
    ),
    "adversarial-vanishing": (
        "vanishing gradient; saturating loss; instance noise; non-saturating; perfect discriminator"
    ),
    "adversarial-earth-mover": (
        "optimal transport; Wasserstein; earth mover's distance; Kantorovich; dual; linear programming; "
        "Kantorovich-Rubinstein; transport plan"
    ),
    "adversarial-critic": (
        "WGAN; Wasserstein GAN; WGAN-GP; gradient penalty; weight clipping; spectral normalization; "
        "Lipschitz; 1-Lipschitz"
    ),
    "adversarial-conditional-bench": (
        "conditional GAN; cGAN; ACGAN; InfoGAN; projection discriminator; auxiliary classifier; "
        "class-conditional"
    ),
    "adversarial-judge": (
        "FID; Fréchet inception distance; inception score; precision and recall; IS; sample quality; "
        "evaluation of GANs"
    ),
    "adversarial-birthday": "birthday paradox; support size; diversity; mode collapse; memorization",
    "adversarial-ais": (
        "annealed importance sampling; AIS; likelihood of a decoder; Hamiltonian Monte Carlo; HMC; "
        "log-likelihood of a GAN"
    ),
    "adversarial-latent-pad": (
        "latent interpolation; truncation trick; BigGAN; slerp; spherical interpolation"
    ),
    "adversarial-translate": (
        "pix2pix; image-to-image translation; PatchGAN; paired translation; conditional GAN"
    ),
    "adversarial-cycle": (
        "CycleGAN; cycle consistency; unpaired translation; domain transfer; image-to-image translation"
    ),
    "adversarial-unpaired": (
        "CycleGAN; cycle consistency; identity loss; unpaired translation; identifiability"
    ),
    "adversarial-super-resolution": (
        "SRGAN; super resolution; upscaling; perceptual loss; PSNR; pixel shuffle; mean squared error"
    ),
    "adversarial-stylegan": (
        "StyleGAN; AdaIN; style mixing; mapping network; truncation trick; W space; noise injection"
    ),
    "adversarial-inversion": "GAN inversion; latent optimization; image editing; pivotal tuning; W+",
    "adversarial-property-table": (
        "comparison of models; trilemma; generative model properties; mode coverage"
    ),
    "diffusion-noising": (
        "forward process; diffusion; DDPM; noise schedule; Markov chain; signal-to-noise ratio"
    ),
    "diffusion-schedules": (
        "noise schedule; cosine schedule; linear schedule; SNR; signal-to-noise ratio; zero terminal SNR; "
        "beta schedule"
    ),
    "diffusion-posterior": (
        "forward posterior; Bayes; Gaussian conditioning; reverse process; product of Gaussians"
    ),
    "diffusion-reverse": (
        "DDPM; DDIM; DPM-Solver; Heun; sampler; reverse process; ancestral sampling; probability flow"
    ),
    "diffusion-diffusion-as-vae": "hierarchical VAE; ELBO; variational diffusion; posterior collapse; ladder",
    "diffusion-bound-terms": (
        "variational lower bound; ELBO; bits per dimension; VLB; improved DDPM; learned variance"
    ),
    "diffusion-four-views": (
        "epsilon prediction; v-prediction; noise prediction; score; x0 prediction; Tweedie; "
        "parameterization; parameterisation"
    ),
    "diffusion-denoise-digit": "DDPM; DDIM; denoising; sampling; denoising diffusion; SDEdit",
    "diffusion-unet-inside": "U-Net; skip connections; time embedding; UNet; feature maps; receptive field",
    "diffusion-averaging": (
        "EMA; exponential moving average; Polyak averaging; weight averaging; learning rate decay"
    ),
    "diffusion-inpainting": "inpainting; RePaint; image completion; conditional sampling; inverse problems",
    "diffusion-latent-noise": "DDIM inversion; latent interpolation; slerp; DDIM; encoding",
    "diffusion-latent-diffusion": (
        "stable diffusion; latent diffusion; LDM; autoencoder; compression; classifier-free guidance"
    ),
    "diffusion-score-field": (
        "score matching; Langevin dynamics; denoising score matching; sliced score matching; annealed "
        "Langevin; NCSN; score-based model"
    ),
    "diffusion-equations": (
        "SDE; stochastic differential equation; VP-SDE; VE-SDE; variance exploding; variance preserving; "
        "probability flow ODE; Fokker-Planck"
    ),
    "diffusion-ode-likelihood": "probability flow ODE; Hutchinson; exact likelihood; neural ODE; ODE solver",
    "diffusion-memorise": (
        "memorization; overfitting; generalization; optimal denoiser; training data extraction; empirical "
        "score"
    ),
    "diffusion-guidance": (
        "classifier-free guidance; CFG; classifier guidance; guidance scale; conditional diffusion; "
        "fidelity and diversity"
    ),
    "diffusion-flow-matching": (
        "rectified flow; flow matching; reflow; optimal transport; conditional flow matching; straight "
        "paths; stochastic interpolants"
    ),
}
