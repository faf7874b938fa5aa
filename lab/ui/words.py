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
    "diffusion-denoise-digit": "DDPM; DDIM; denoising; sampling; denoising diffusion; SDEdit",
}
