"""The menu of all pages: what its search knows, and going from page to page with it."""

import sys
from pathlib import Path
from typing import Any

import pytest
from browsing import Visit

from lab import lecture
from lab.room import Room
from lab.ui.navigation import search
from lab.ui.navigation.menu import MOVED, RENAMED, SPLIT, PageInfo, lectures, neighbours, pages, present_words

navigation = sys.modules[pages.__module__]

WIDE = {"width": 1600, "height": 900}
NARROW = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}


def entry(url: str) -> dict[str, Any]:
    return next(e for e in search.index() if e["url"] == url)


def test_every_page_can_be_found() -> None:
    talks = [text["link"] for text in lectures()]
    assert len(talks) == len(lecture.names())
    assert [e["url"] for e in search.index()] == [*(page.url for page in pages()), *talks, "teaching"]
    for known in search.index()[: -len(talks) - 1]:
        assert known["title"] and known["idea"] and known["references"] and known["words"], known["url"]


def test_symbols_models_and_references_are_read_from_the_room_and_its_lenses() -> None:
    attention = entry("transformer-attention")
    assert "α alpha" in attention["symbols"]  # of lab/lenses/attention.py
    assert {"gpt-shakespeare", "leakygpt-shakespeare"} <= set(attention["models"])
    assert any("Vaswani" in reference for reference in attention["references"])
    truncation = entry("language-truncation")
    assert "Temperature" in truncation["words"] and "Nucleus 0.9" in truncation["words"]
    assert any("Holtzman" in reference for reference in truncation["references"])  # a name of the file
    assert "ngram-shakespeare" in truncation["models"] and "gcn-cora" not in truncation["models"]


def test_a_changed_room_is_read_again(tmp_path: Path) -> None:
    room = tmp_path / "graph" / "walks"
    room.mkdir(parents=True)
    file = room / "page.py"
    cited = ("Perozzi 2014, DeepWalk",)
    page = PageInfo(file, Room("Walks", "An idea.", place=1, minutes=2, words="DeepWalk", references=cited))
    file.write_text(r'ui.equation(r"\lambda_1", note="of gcn-cora")')
    assert search.entry(page, 1)["symbols"] == ["λ lambda"]
    file.write_text(r'ui.slider("Length", 1, 9); r"\mathrm{KL}"; "gcn-cora"')
    assert search.entry(page, 1)["symbols"] == ["λ lambda"]
    result = search.entry(page, 2)
    assert result["symbols"] == ["KL"] and result["models"] == ["gcn-cora"]
    assert result["words"] == ["Length"]
    assert result["terms"] == ["DeepWalk"] and result["references"] == [*cited]
    (room / "lens.py").write_text('"""The width σ of a step."""')
    assert search.entry(page, 3)["symbols"] == ["KL", "σ sigma"]
    file.write_text("ui.equation(")  # no Python: what the other files say still counts
    assert search.entry(page, 4)["symbols"] == ["σ sigma"]


def test_the_fields_words_are_found() -> None:
    assert entry("adversarial-critic")["terms"][:2] == ["WGAN", "Wasserstein GAN"]


def test_a_room_that_cannot_be_read_is_still_in_the_menu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page says what is wrong; the others stand as they do."""
    read, known = navigation.load, pages()
    broken = next(page for page in known if page.url == "adversarial-toy-gan")

    def load(url: str) -> Room | None:
        return eval("1 +") if url == broken.url else read(url)

    monkeypatch.setattr(navigation, "load", load)
    now = pages()
    assert sorted(page.url for page in now) == sorted(page.url for page in known)
    assert next(page.title for page in now if page == broken) == "Toy gan"
    assert [page.room for page in now if page != broken] == [page.room for page in known if page != broken]


def test_the_course_goes_through_all_pages_forwards_and_backwards() -> None:
    known = pages()
    for step in (0, 1):
        at = known[0] if step else known[-1]
        results = [at.url]
        while following := neighbours(at.url)[step]:
            at = following
            results.append(at.url)
        assert results == [page.url for page in (known if step else reversed(known))]


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        ("autoregressive-fvsbn", {"row": "x3", "x": "0110"}, {"step": "2", "x": "0110"}),
        ("autoregressive-fvsbn", {"row": "x3", "order": "4 3 2 1"}, {"step": "1", "order": "4 3 2 1"}),
        ("autoregressive-fvsbn", {"row": "x3", "step": "0"}, {"step": "0"}),
        ("autoregressive-fvsbn", {"row": "x9"}, {"step": "x9"}),  # the film says what it takes
        ("adversarial-stylegan", {"show": "Layers", "layer": "3"}, {"show": "Layers", "maps": "3"}),
        ("adversarial-stylegan", {"show": "Noise", "layer": "5"}, {"show": "Noise", "layer": "5"}),
        ("language-senses", {"layer": "words and places"}, {"layer": "0"}),
        ("language-senses", {"layer": "after block 2", "n": "40"}, {"layer": "2", "n": "40"}),
        ("language-senses", {"layer": "1"}, {"layer": "1"}),
        ("language-senses", {"layer": "above"}, {"layer": "above"}),
        ("language-truncation", {"layer": "after block 2"}, {"layer": "after block 2"}),
    ],
)
def test_old_links_are_read_in_todays_words(page: str, old: dict[str, str], new: dict[str, str]) -> None:
    assert present_words(page, old) == new
    assert present_words(page, new) == new


def test_old_links_lead_to_pages_that_there_are() -> None:
    known = {page.url for page in pages()}
    assert {*RENAMED, *SPLIT} <= known and not known & set(MOVED)
    ends = [*MOVED.values(), *(views for _, views in SPLIT.values())]
    assert {url for end in ends for url in (end.values() if isinstance(end, dict) else [end])} <= known


# Words of the field -> a page that is to be among the first three found.
FIELD = {
    "autoregressive-parameters": "curse of dimensionality",
    "autoregressive-chains": "Markov chain",
    "autoregressive-gaussian-chain": "random walk",
    "autoregressive-fvsbn": "sigmoid belief network",
    "autoregressive-inspector": "NADE; PixelRNN",
    "autoregressive-blind-spot": "PixelCNN",
    "autoregressive-density": "mixture density network",
    "autoregressive-masks": "MADE",
    "autoregressive-orders": "order-agnostic",
    "autoregressive-sharing": "weight sharing",
    "language-tokenizer-workbench": "byte pair encoding; BPE",
    "language-perplexity": "cross-entropy",
    "language-entropy-floor": "entropy rate",
    "language-ngrams": "bigram; Kneser-Ney",
    "language-rare-words": "out of vocabulary",
    "language-count-vectors": "co-occurrence",
    "language-word2vec": "negative sampling; skip-gram",
    "language-word-vectors": "word embeddings; cosine similarity",
    "language-packing": "superposition",
    "language-neural-lm": "backpropagation",
    "language-senses": "polysemy",
    "language-truncation": "nucleus sampling; top-k",
    "language-beam-search": "beam search",
    "language-beam-width": "length penalty",
    "language-all-strategies": "repetition",
    "language-own-mistakes": "exposure bias; teacher forcing",
    "transformer-attention": "self-attention; multi-head attention; induction head",
    "transformer-sampling": "KV cache",
    "convolution-kernel": "stride",
    "convolution-own-stack": "dilated convolution",
    "convolution-receptive-field": "saliency",
    "graph-messages": "message passing; GCN; graph neural network",
    "latent-linear": "factor analysis; principal component analysis",
    "latent-eigen-digits": "PCA",
    "latent-hidden-markov": "hidden Markov model; Viterbi",
    "latent-letters": "Baum-Welch",
    "latent-kalman": "Kalman",
    "latent-taxonomy": "implicit models",
    "latent-mixture": "expectation maximization; Gaussian mixture; k-means",
    "latent-latent-space": "variational autoencoder",
    "latent-interpolation": "slerp",
    "latent-elbo-bars": "ELBO",
    "latent-bound": "evidence lower bound",
    "latent-importance": "importance sampling",
    "latent-beta": "beta-VAE",
    "latent-collapse": "posterior collapse",
    "latent-text-vae": "KL annealing",
    "latent-conditional": "conditional VAE",
    "latent-two-level": "hierarchical VAE",
    "latent-codebook": "VQ-VAE; vector quantization; straight-through",
    "latent-prior-posterior": "aggregated posterior",
    "latent-disentanglement": "total correlation",
    "latent-denoising": "denoising autoencoder",
    "latent-information": "KL divergence",
    "latent-which-kl": "mode seeking",
    "latent-gradients": "reparameterization; reparameterisation trick; REINFORCE",
    "latent-iwae": "IWAE",
    "latent-amortisation": "amortization gap",
    "latent-flow-posterior": "inverse autoregressive flow",
    "latent-outliers": "anomaly detection",
    "flow-change-of-variables": "Jacobian",
    "flow-monotone": "neural spline",
    "flow-linear-flow": "LU decomposition",
    "flow-coupling": "RealNVP; coupling layer",
    "flow-flow-bench": "normalizing flow",
    "flow-maf-iaf": "MAF",
    "flow-distillation": "Parallel WaveNet",
    "flow-planar-radial": "planar flow",
    "flow-reversible": "additive coupling",
    "flow-contraction": "invertible ResNet",
    "flow-log-det": "Hutchinson",
    "flow-continuous": "neural ODE; FFJORD",
    "flow-image-flow": "Glow",
    "flow-dequantization": "bits per dimension",
    "flow-typicality": "out-of-distribution",
    "flow-unnormalised": "energy-based",
    "adversarial-toy-gan": "GAN; minimax",
    "adversarial-critic": "WGAN; Wasserstein; gradient penalty; spectral normalization",
    "adversarial-earth-mover": "Wasserstein distance; optimal transport",
    "adversarial-clinic": "mode collapse; minibatch discrimination",
    "adversarial-live-gan": "TTUR",
    "adversarial-dcgan": "batch norm; transposed convolution",
    "adversarial-growing": "progressive growing",
    "adversarial-divergences": "Jensen-Shannon; f-GAN",
    "adversarial-optimal-discriminator": "density ratio",
    "adversarial-vanishing": "vanishing gradient",
    "adversarial-judge": "FID; inception score",
    "adversarial-conditional-bench": "conditional GAN; InfoGAN",
    "adversarial-birthday": "birthday paradox",
    "adversarial-ais": "annealed importance sampling",
    "adversarial-latent-pad": "truncation trick",
    "adversarial-translate": "pix2pix",
    "adversarial-cycle": "cycle consistency",
    "adversarial-super-resolution": "SRGAN",
    "adversarial-stylegan": "AdaIN",
    "adversarial-inversion": "GAN inversion",
    "diffusion-noising": "forward process; DDPM",
    "diffusion-schedules": "cosine schedule",
    "diffusion-reverse": "DDIM",
    "diffusion-four-views": "v-prediction",
    "diffusion-bound-terms": "variational lower bound",
    "diffusion-unet-inside": "U-Net",
    "diffusion-averaging": "EMA",
    "diffusion-inpainting": "RePaint",
    "diffusion-latent-diffusion": "stable diffusion",
    "diffusion-score-field": "score matching; Langevin",
    "diffusion-equations": "stochastic differential equation",
    "diffusion-ode-likelihood": "probability flow ODE",
    "diffusion-memorise": "memorization",
    "diffusion-guidance": "classifier-free guidance; CFG",
    "diffusion-flow-matching": "rectified flow",
    "recurrent-bptt": "backpropagation through time; BPTT",
    "recurrent-gradients": "exploding gradient; gradient clipping",
    "recurrent-hard-attention": "REINFORCE; hard attention",
    "recurrent-cost": "critical path",
    "recurrent-decoding-tree": "length bias; search error",
    "recurrent-encoder-decoder": "thought vector; linear probe",
    "recurrent-translation": "align and translate; RNNsearch",
    "recurrent-learning-to-align": "alignment error rate; attention is not alignment",
    "recurrent-captioning": "pointing game; image captioning",
}

# --- In the browser ---------------------------------------------------------------------------------


def seek(tab: Any, query: str) -> list[str]:
    """Type into the search; the titles found."""
    tab.keyboard.press("/")
    tab.keyboard.type(query)
    tab.wait_for_function("!document.querySelector('.lectern-nav .found').hidden")
    tab.wait_for_timeout(300)
    return list(tab.locator(".lectern-nav .found b").all_inner_texts())


@pytest.mark.browser
def test_the_fields_words_find_their_pages(page_visit: Visit) -> None:
    """In whatever case they are typed, with and without hyphens."""
    pairs = [(word, url) for url, words in FIELD.items() for word in words.split("; ")]
    assert len(pairs) >= 100 and {page.family for page in pages()} == {url.split("-")[0] for url in FIELD}
    find = """async (queries) => {
      const {find} = await import("/lectern/js/search.js");
      const first = async (query) => (await find(query)).slice(0, 3).map(({entry}) => entry.url);
      return Promise.all(queries.map(first));
    }"""
    tab = page_visit.open("models")
    for spell in (str, str.lower, lambda word: word.replace("-", " ")):
        result = tab.evaluate(find, [spell(word) for word, _ in pairs])
        missed = [(word, hits) for (word, url), hits in zip(pairs, result, strict=True) if url not in hits]
        assert not missed


@pytest.mark.browser
def test_lectures_are_opened_from_home_menu_and_search_and_say_their_minutes(visit: Visit) -> None:
    read = lecture.read("flow")
    tab = visit.open("?open=lectures")
    rows = tab.locator(".lectern-map .rows a")
    assert rows.count() == len(lecture.names())
    assert all(
        f"{lecture.read(name).minutes:g} minutes" in " ".join(rows.all_inner_texts())
        for name in lecture.names()
    )
    rows.filter(has_text=read.title).click()
    visit.arrive(read.link(0))
    visit.settle()
    assert tab.locator(".lectern-mark").inner_text() == f"1 / {len(read.entries)}"
    tab = visit.open("language-packing")
    tab.get_by_role("button", name="All pages", exact=True).click()
    tab.locator(".lectern-nav summary").filter(has_text="Lectures").click()
    (talk,) = tab.locator(".lectern-nav .talk").filter(has_text=read.title).all()
    assert f"{read.minutes:g} min" in talk.inner_text()
    talk.click()
    visit.arrive(read.link(0))
    visit.settle()
    tab = visit.open("language-packing")
    assert read.title in seek(tab, "lecture flows")
    item = tab.locator(".lectern-nav .found li").filter(has_text=read.title)
    assert f"{read.minutes:g} minutes" in item.inner_text()
    item.click()
    visit.arrive(read.link(0))
    visit.settle()


@pytest.mark.browser
def test_a_pages_foot_leads_to_the_page_before_and_the_next(visit: Visit) -> None:
    tab = visit.open("language-tokenizer-workbench")
    tab.evaluate("window.mark = 'here'")
    before, following = tab.locator(".lectern-ways a").all()
    assert "Blind spot" in before.inner_text() and "Vocabulary size" in following.inner_text()
    following.click()
    visit.arrive("language-vocabularies")
    visit.settle()
    tab.locator(".lectern-ways .prev").click()
    visit.arrive("language-tokenizer-workbench")
    visit.settle()
    tab.locator(".lectern-ways .prev").click()
    visit.arrive("autoregressive-blind-spot")  # across families
    visit.settle()
    assert tab.evaluate("window.mark") == "here"
    assert not visit.open("models").locator(".lectern-ways").count()


@pytest.mark.browser
@pytest.mark.parametrize("visit", [NARROW], indirect=True, ids=["narrow"])
def test_pages_are_searched_and_opened_without_a_reload(visit: Visit) -> None:
    tab = visit.open("language-truncation?p=0.5")
    tab.evaluate("window.mark = 'here'")
    assert not tab.locator(".lectern-nav .panel:visible").count()
    assert tab.locator(".lectern-nav").bounding_box()["width"] == 48
    result = seek(tab, "beam")
    assert result[0] == "Beam search" and "Attention" not in result
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    visit.arrive("language-beam-search")
    visit.settle()
    assert tab.locator("h1").inner_text() == "Beam search"
    assert not tab.locator(".lectern-nav .panel:visible").count()  # the page is free again
    assert tab.locator(".lectern-nav input").input_value() == "beam"
    tab.go_back()
    visit.arrive("language-truncation?p=0.5")
    visit.settle()
    assert tab.locator("h1").inner_text() == "Truncation"
    assert tab.get_by_role("slider", name="Top-p").input_value() == "0.5"
    assert tab.evaluate("window.mark") == "here"  # nothing was loaded anew
    tab.keyboard.press("/")
    tab.locator(".lectern-nav input").fill("zzzz")
    tab.get_by_text("No page speaks of “zzzz”.").wait_for()
    tab.keyboard.press("Escape")  # once for the words, once for the menu
    tab.keyboard.press("Escape")
    assert not tab.locator(".lectern-nav .panel:visible").count()


@pytest.mark.browser
@pytest.mark.heavy
@pytest.mark.parametrize("visit", [WIDE], indirect=True, ids=["wide"])
def test_families_fold_and_the_search_stays_from_page_to_page(visit: Visit) -> None:
    tab = visit.open("language-truncation")
    opened = (
        "[...document.querySelectorAll('.lectern-nav details[open] summary')].map((s) => s.firstChild.data)"
    )
    assert tab.evaluate(opened) == ["language"]
    assert tab.locator(".lectern-nav [aria-current=page]").all_inner_texts() == ["Truncation"]
    assert tab.locator(".lectern-nav [aria-current=page]").evaluate(
        "(a) => a.getBoundingClientRect().bottom <= innerHeight && a.checkVisibility()"
    )
    assert "Attention" in seek(tab, "vaswani 2017")
    tab.keyboard.press("Enter")
    visit.settle()
    assert tab.evaluate("document.activeElement.value") == "vaswani 2017"
    tab.keyboard.press("Escape")
    tab.locator("[data-page=train]").click()
    visit.arrive("train")
    visit.settle()
    assert tab.locator(".lectern-nav [aria-current=page]").all_inner_texts() == ["Train"]


@pytest.mark.browser
@pytest.mark.heavy
@pytest.mark.parametrize("visit", [PHONE], indirect=True, ids=["phone"])
def test_a_phone_has_the_menu_behind_one_sign(visit: Visit) -> None:
    tab = visit.open("language-truncation")
    sign, title = (tab.locator(s).bounding_box() for s in (".lectern-nav .strip", "h1"))
    assert sign["x"] + sign["width"] <= title["x"] + 1
    tab.get_by_role("button", name="All pages", exact=True).tap()
    tab.locator("[data-page=models]").tap()
    visit.arrive("models")
