"""Each bench runs on tiny sizes and measures something; no test looks at a time."""

import asyncio
import importlib
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from lab import bench
from lab.bench import diffusion, flow, gcn, gpt, hmm, jobs, recording, server, timing
from lab.bench.server import apart
from lab.bench.timing import Row
from lab.errors import UserError
from lab.ui.server.client import Answer, Control, Session
from modules.transformer.attention import Attention
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name",
    [
        "generation",
        "recording",
        "made",
        "nade",
        "pixelcnn",
        "bpe",
        "ngram",
        "gcn",
        "graph-speed",
        "cnn-speed",
        "mixture",
        "gan",
        "recurrent",
    ],
)
def test_bench_measures_positive_ratios(name: str) -> None:
    rows = importlib.import_module(bench.BENCHES[name][0]).measure(quick=True)
    assert rows
    for row in rows:
        assert row.bench == name and row.case
        if row.note == gpt.INSTALL:  # its peer is not here
            assert math.isnan(row.ratio)
            continue
        for value in (row.ours, row.peer, row.ratio):
            assert math.isfinite(value) and value > 0
        assert row.met is not None or not row.target


def test_recall_bench_has_a_row_for_every_cell_start_and_lag() -> None:
    from lab.bench import recall

    torch.manual_seed(0)
    before = torch.get_rng_state()
    name = "RNN, orthogonal start"
    one = recall.train(name, 2, 0, steps=150)
    assert one == recall.train(name, 2, 0, steps=150) and one[0] <= 150 and one[1] >= recall.GOOD
    assert one != recall.train(name, 2, 1, steps=20) and torch.equal(torch.get_rng_state(), before)
    rows = recall.measure(quick=True)
    assert len(rows) == 2 * len(recall.STARTS) and all(0 <= row.ours <= 1 for row in rows)
    row = recall.row("LSTM, forget bias 5", 100, [(500, 1.0), (700, 0.97), (3000, 0.4)])
    assert row.ours == 2 and row.met is False and "40% to 100% right; median 600 steps" in row.note


def test_games_bench_has_a_row_for_every_loss_and_preset() -> None:
    from lab.bench import games

    one = games.play("ring8", games.LOSSES["hinge"], 2, 0)
    assert set(one) == {"modes", "quality", "kl"} and one == games.play("ring8", games.LOSSES["hinge"], 2, 0)
    rows = games.measure(quick=True)
    assert len(rows) == 2 * len(games.LOSSES) + len(games.PRESETS)
    for row in rows:
        assert 0 <= row.ours <= 25 and "quality" in row.note and row.unit == "modes"


def test_games_bench_judges_generators_of_mnist_beside_test_digits(real_data) -> None:
    from lab.bench import games

    real_data("MNIST")
    floor, *result = games.judged(200, games.JUDGED[:3])
    assert len(result) == 3 and "progressive-mnist" in result[1].case and "steps 10, eta 0" in result[2].case
    for row in (floor, *result):
        assert 0.3 < row.ours < floor.ours + 0.1 <= 1.1
        assert row.unit == "precision" and "recall 0." in row.note and "FD of cnn-mnist" in row.note


@pytest.mark.heavy
def test_games_on_mnist_have_a_row_for_every_case(real_data) -> None:
    from lab.bench import mnist_games

    real_data("MNIST")
    rows = mnist_games.measure(quick=True)
    names = [row.case.partition(":")[0] for row in rows]
    assert {name: names.count(name) for name in names} == {"recipe, mnist": 3, "classes": 2, "enlarged": 3}
    results = {row.case: row for row in rows}
    assert (
        results["enlarged: bicubic"].ours
        < results["enlarged: game"].ours
        < results["enlarged: squared error"].ours
    )
    assert all(0 <= results[f"classes: {c}"].ours < 0.5 for c in mnist_games.CONDITIONS)  # after one batch
    x = torch.zeros(4, 1, 2, 2)
    x[1], x[3] = 1.0, 0.5
    assert mnist_games.unlike(x, torch.tensor([0, 0, 1, 1])) == pytest.approx(1.5)


@pytest.mark.heavy
def test_variational_bench_has_a_row_for_every_case() -> None:
    from lab.bench import variational

    rows = variational.measure(quick=True)
    names = [row.case.partition(":")[0] for row in rows]
    assert {name: names.count(name) for name in names} == {
        "clusters": 5, "estimators": 5, "bits": 2, "noise": 4, "black box": 2, "proposals": 9,
        "two modes": 2,
    }  # fmt: skip
    assert all(math.isfinite(row.ours) and "seeds" in row.note for row in rows)
    results = {row.case: row.ours for row in rows}
    assert results["noise: vae-digits, mean"] < min(1, results["noise: vae-digits, with the decoder's noise"])
    flat = torch.ones(3, 1, 8, 8)
    board = (torch.arange(8)[:, None] + torch.arange(8)) % 2 * 2.0 - 1
    assert variational.high_frequency(flat) == pytest.approx(0.0, abs=1e-12)
    assert variational.high_frequency(board.expand(3, 1, 8, 8)) == pytest.approx(64.0)


@pytest.mark.soak
def test_annealing_finds_both_modes_and_direct_training_one() -> None:
    """FL-X17, of ten seeds: sixteen planar layers."""
    from lab.bench import variational

    results = {row.case: row for row in variational.two_modes(False)}
    assert int(results["two modes: annealed"].note.split("steps; ")[1].split()[0]) >= 8
    direct = results["two modes: directly"]
    assert "; 0 of 10 keep both modes" in direct.note and direct.ours == pytest.approx(math.log(2), abs=0.05)


def test_claims_bench_has_a_row_for_every_case() -> None:
    from lab.bench import claims, digit_games
    from lab.lenses import recipe
    from lab.lenses.games import LOSSES

    rows = claims.measure(quick=True)
    names = [row.case.partition(":")[0] for row in rows]
    assert {name: names.count(name) for name in names} == {
        "recipe": len(recipe.SWITCHES), "truncation": 1 + len(claims.TRUNCATIONS), "noise": 1,
        "birthday": 1 + len(claims.GENERATORS), "tricks": 1 + len(claims.HELP),
        "orthogonal": len(digit_games.BETAS) * len(digit_games.BOUNDS), "support": len(digit_games.WIDTHS),
        "loss": 1 + len(LOSSES), "codes": 1,
    }  # fmt: skip
    for row in rows:
        assert row.bench == "claims" and math.isfinite(row.ours) and row.ours >= 0 and row.note
    assert claims.of_seeds([1.0, 3.0]) == (2.0, "2.00 ± 1.41") and claims.of_seeds([2.0])[1] == "2.00 ± 0.00"


def test_claims_bench_leaves_lines_of_the_recipe_out_on_mnist(real_data) -> None:
    """After one batch nothing is near the digits: each line's game is far above the floor, and is another."""
    from lab.bench import claims

    real_data("MNIST")
    floor, *lines = claims.ablated_mnist(seeds=1, batches=1, count=70)
    assert [row.case.removeprefix("recipe, mnist: ") for row in lines] == list(claims.LINES)
    assert 0 < floor.ours < 0.3 < min(row.ours for row in lines)
    assert len({row.ours for row in lines}) == len(lines)


def test_a_d_of_another_kind_and_a_penalty_of_every_layer_but_the_last() -> None:
    """An energy is never below 0; the columns that are held apart are those of each input."""
    from lab.bench import digit_games
    from lab.lenses import recipe
    from modules.adversarial.diversity import orthogonal_penalty

    known = recipe.digits()[0][:64]
    energy = digit_games.trained(known, 0, 1, discriminator=digit_games.Errs, loss="energy")
    assert (energy.discriminate(2 * known - 1) >= 0).all()
    model, _ = recipe.game({}, 0)
    linear, first = model.generator[0].weight, model.generator[4].weight  # type: ignore[union-attr]
    assert linear.shape[1] == recipe.LATENT and first.shape[0] == recipe.CHANNELS[0]
    wanted = orthogonal_penalty(linear) + orthogonal_penalty(first.flatten(1).T)  # type: ignore[arg-type,operator]
    torch.testing.assert_close(digit_games.penalty_of(model), wanted)
    plain, held = (digit_games.trained(known, 0, 20, beta) for beta in (0.0, 1.0))
    assert digit_games.penalty_of(held) < 0.5 * digit_games.penalty_of(plain)
    assert digit_games.pairs_within(torch.zeros(5, 1, 8, 8), 0.1) == 10


def test_claims_of_one_noise_know_a_picture_that_ignores_it() -> None:
    from lab.bench import claims

    class Told:
        def __init__(self, share: float) -> None:
            self.share = share

        def translate(self, c: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
            return c + self.share * torch.randn(c.shape, generator=generator)

    outlines = torch.zeros(6, 1, 4, 4)
    assert claims.spread_over_noise(Told(0.0), outlines) == (0.0, 0.0)  # type: ignore[arg-type]
    over, _ = claims.spread_over_noise(Told(0.5), outlines, 200)  # type: ignore[arg-type]
    assert over == pytest.approx(0.5, rel=0.05)


def test_gpt_bench_measures_or_says_how_to_install_the_peer() -> None:
    rows = gpt.measure(quick=True)
    assert len(rows) == (2 if rows[0].note == gpt.INSTALL else 4)
    for row in rows:
        if row.note == gpt.INSTALL:
            assert math.isnan(row.ratio) and row.met is None
        else:
            assert math.isfinite(row.ratio) and row.ratio > 0


@pytest.mark.parametrize("name", ["MAF", "RealNVP", "spline MAF"])
def test_flows_of_normflows_have_our_shape(name: str) -> None:
    """As many numbers as ours, but for the scaling at a spline flow's end, and in the same direction."""
    pytest.importorskip("normflows")
    hidden = [8] * (3 if name == "spline MAF" else 2)
    torch.manual_seed(0)
    distribution, parameters = flow.normflows_of(name, 4, 2, hidden)
    mine = sum(p.numel() for p in flow.ours(name, 4, 2, hidden).parameters())
    assert mine - sum(len(p.flatten()) for p in parameters) == (2 * 4 if name == "spline MAF" else 0)
    x = distribution().sample((5,)).detach()
    assert x.shape == (5, 4) and distribution().log_prob(x).shape == (5,)


def test_flow_bench_measures_or_says_how_to_install_a_peer() -> None:
    rows = flow.measure(quick=True)
    assert len(rows) == 1 + 4 + 2 * 3 * 3
    assert {row.note.split(": ")[-1] for row in rows[5:] if row.met is not None} <= {"zuko", "normflows"}
    for row in rows[5:]:
        assert row.ours > 0 and (row.ratio > 0 or row.note.endswith(flow.INSTALL))


def test_diffusion_bench_measures_or_says_how_to_install_a_peer() -> None:
    rows = diffusion.measure(quick=True)
    assert len(rows) == 4
    for row in rows:
        assert row.ours > 0 and (row.ratio > 0 or row.note == diffusion.INSTALL)


def test_parts_bench_leaves_out_what_it_says() -> None:
    from lab.bench import denoiser_parts as parts

    *rows, floor = parts.measure(quick=True)
    assert [row.case.partition(": ")[2] for row in rows] == [
        "whole, last weights", "whole, averaged weights", "no attention, averaged weights",
        "no skips, averaged weights",
    ]  # fmt: skip
    assert all(0 < row.ours < 2 and "FD of cnn-digits" in row.note for row in rows) and floor.ours > 0
    x, t = torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(0)), torch.tensor([5, 900])
    texts = {}
    for part in parts.PARTS:
        torch.manual_seed(0)
        model = parts.built(part)
        torch.nn.init.normal_(model.net.unet.last.weight, std=0.1)  # type: ignore[union-attr, arg-type]
        with torch.no_grad():
            texts[part] = model.net(x, t)
        assert any(m for m in model.net.unet.modules() if "Attention" in type(m).__name__) == (  # type: ignore[union-attr]
            part != "no attention"
        )
    assert len({float(one.sum()) for one in texts.values()}) == 3
    h = torch.ones(1)
    assert not parts.no_skip("skip 0", h).any() and parts.no_skip("down 1", h) is h


def test_denoising_bench_tells_densities_and_distances_of_all_that_is_asked() -> None:
    from lab.bench import denoising
    from modules.diffusion.flow_matching import FlowMatching

    *rows, floor = denoising.measure(quick=True)
    assert [row.case for row in rows] == [f"moons: {name}" for name in denoising.ASKED]
    assert all(math.isfinite(row.ours) and "energy distance" in row.note for row in rows)
    assert ["bound" in row.note for row in rows] == [True] * 5 + [False] * 2 and "floor" in floor.case
    still = FlowMatching(scale=2.0)  # it does not move: the noise itself, twice as wide
    x = torch.tensor([[0.0, 0.0], [1.0, -2.0]])
    expected = torch.distributions.Normal(0.0, 2.0).log_prob(x).sum(1)
    torch.testing.assert_close(denoising.log_prob(still, x), expected)
    model = FlowMatching(scale=2.0)
    denoising.trained(model, torch.randn(100, 2, generator=torch.Generator().manual_seed(0)), 3)
    assert not torch.allclose(denoising.log_prob(model, x), expected, atol=1e-6)
    side = torch.linspace(-12, 12, 61)
    mass = denoising.log_prob(model, torch.cartesian_prod(side, side)).double().exp().sum() * 0.4**2
    assert float(mass) == pytest.approx(1, abs=2e-3)


def test_densities_bench_knows_the_gaussian_and_the_entropy() -> None:
    from lab.bench import densities

    rows = list(densities.measure(quick=True))
    assert len(rows) == 3 + 4 + 3 and all(math.isfinite(row.ours) for row in rows)
    draws = torch.randn(4000, 3, generator=torch.Generator().manual_seed(0))
    train, held, test = densities.standardized(draws * 5 + 100, 0)
    assert [len(part) for part in (train, held, test)] == [2400, 800, 800]
    torch.testing.assert_close(train.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    entropy = 1.5 * (1 + math.log(2 * math.pi))
    assert densities.gaussian(train, test) == pytest.approx(entropy, abs=0.15)
    torch.manual_seed(0)
    model = densities.RealNVP((3,), layers=2, hidden=[8])
    assert densities.stopped(model, (train, held, test), 0, 0) == pytest.approx(entropy, abs=0.3)


def test_mnist_bench_says_how_far_samples_of_one_class_lie_apart() -> None:
    from lab.bench import mnist_diffusion

    result = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0], [1.0, 1.0], [9.0, 9.0]])
    assert mnist_diffusion.apart(result, torch.tensor([0, 0, 1, 1, 2])) == pytest.approx(3.0)


@pytest.mark.heavy
@pytest.mark.real_data
def test_mnist_bench_measures_steps_guidance_and_schedules(real_data: Any) -> None:
    from lab.bench import mnist_diffusion

    real_data("MNIST")
    rows = list(mnist_diffusion.measure(quick=True))
    assert len(rows) == 2 + 3 + 4 and all(math.isfinite(row.ours) for row in rows)
    assert [row.case.split(":")[0] for row in rows[::4]] == ["steps", "guidance", "schedule"]


def test_hmm_bench_measures_or_says_how_to_install_the_peer() -> None:
    rows = hmm.measure(quick=True)
    assert len(rows) == 2
    for row in rows:
        if row.note == hmm.INSTALL:
            assert math.isnan(row.ratio) and row.met is None
        else:
            assert math.isfinite(row.ratio) and row.ratio > 0


@pytest.mark.heavy
@pytest.mark.browser
def test_dashboard_bench_measures_a_page(chromium: str) -> None:
    result = command("dashboard", "--only", "language-truncation")
    assert all(row["ours"] > 0 for row in result.values())
    assert {"first picture", "slider to picture", "server CPU of an answer"} <= set(result)
    assert result["first picture"]["p95"] >= result["first picture"]["ours"]


def command(name: str, *options: str) -> dict[str, Any]:
    """The rows of a bench that drives the whole dashboard, by what stands behind the page's title."""
    done = subprocess.run(
        [sys.executable, "-m", "lab", "bench", name, "--quick", "--json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {row["case"].rpartition(": ")[2]: row for row in json.loads(done.stdout)["rows"]}


@pytest.mark.soak
def test_server_bench_speaks_as_several_readers() -> None:
    result = command("server")
    assert (
        result["answer"]["ours"] > 0
        and result["runs"]["ours"] > 0
        and result["memory at the end"]["ours"] > 100
    )
    assert result["errors"]["ours"] == 0 and result["what others asked or typed"]["met"]


@pytest.mark.soak
def test_jobs_bench_measures_a_reader_beside_tabs_at_work() -> None:
    """It compares no time: on a machine that does other work too, only that all tabs worked is sure."""
    result = command("jobs")
    answer, alone = (
        result[f"an answer {where}"] for where in ("beside 3 tabs with heavy work", "without them")
    )
    assert answer["ratio"] == pytest.approx(answer["ours"] / alone["ours"])
    assert answer["note"] == "3 of 3 at work to the end"
    assert result["until the work of closed tabs has ended"]["ours"] < math.inf


@pytest.mark.parametrize(("share", "ends"), [(0.0, True), (0.01, True), (0.5, False)])
def test_jobs_bench_knows_a_server_that_does_not_rest(
    share: float, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LOOK", 0.01)
    monkeypatch.setattr(jobs, "LIMIT", 0.3)
    served = SimpleNamespace(cpu=lambda: share * time.monotonic())
    assert math.isfinite(apart(jobs.busy_until(served))) == ends  # type: ignore[arg-type]


def test_a_tab_asks_again_for_what_draws_itself_until_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(None)  # type: ignore[arg-type]
    begins, stops = ForwardMsg(), ForwardMsg()
    begins.auto_rerun.interval, begins.auto_rerun.fragment_id = 1e-3, "part"
    stops.stop_auto_rerun.fragment_ids.append("part")
    asked = []

    async def run(fragment: str) -> Answer:
        asked.append(fragment)
        if len(asked) == 3:
            session.hear(stops, Answer())
            raise asyncio.CancelledError
        return Answer()

    monkeypatch.setattr(session, "run", run)
    session.hear(begins, Answer())
    with pytest.raises(asyncio.CancelledError):
        apart(session.stay())
    assert asked == ["part"] * 3 and not session.live


def test_server_bench_knows_a_foreign_answer() -> None:
    slider = Element()
    slider.bidi_component.id, slider.bidi_component.component_name = "n", "lectern_slider"
    slider.bidi_component.json = json.dumps({"low": 2, "high": 8, "step": 1, "value": 5, "seq": 0})
    control = Control(slider, "fragment")
    result = server.Tally()
    reader = server.Reader(3, SimpleNamespace(page="masks"), result, ["masks"])  # type: ignore[arg-type]
    reader.asked += 1

    reader.recognise(Answer(sliders={"n": {"seq": 3_000_001}}), control)
    reader.recognise(Answer(sliders={"n": {"seq": 3_000_000}}), control)  # an older one of its own
    reader.judge(Answer(raw=bytearray(b"..reader-ad-typed..")), "masks")
    assert result.own == 1 and not result.foreign and not result.errors
    for seq in (2_000_001, 3_000_002, 4_000_001):
        reader.recognise(Answer(sliders={"n": {"seq": seq}}), control)
    reader.judge(Answer(raw=bytearray(b"reader-ad-typed reader-ab-typed"), errors=["stopped"]), "masks")
    assert sum(result.foreign.values()) == 4 and result.errors == {"masks: stopped": 1}

    results = json.loads(control.draw(Random(0), 7).json_value)["moved"]
    assert results["seq"] == 7 and results["value"] in range(2, 9)


def test_dashboard_bench_without_a_browser_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    from lab.bench import dashboard

    monkeypatch.setattr(dashboard, "chromium", lambda: None)
    (row,) = dashboard.measure(quick=True)
    assert row.note == dashboard.NEEDS and math.isnan(row.ours)


def test_command_prints_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(["made", "--quick"]) == 0
    table = capsys.readouterr().out
    assert "log_prob of 32 digits" in table and "×" in table

    assert bench.run(["made", "gcn", "--quick", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["bench"] for row in result["rows"]] == ["made", "gcn", "gcn"]
    assert result["rows"][0]["ratio"] > 0 and result["rows"][0]["p95"] is None
    assert result["machine"]["cores"] >= 1 and result["quick"] is True


def test_unknown_bench_is_one_sentence() -> None:
    with pytest.raises(UserError, match="no bench 'mad': choose from generation"):
        bench.run(["mad"])
    with pytest.raises(UserError, match="--minutes says nothing to made, nade: leave it out"):
        bench.run(["made", "nade", "--quick", "--minutes", "3"])
    with pytest.raises(UserError, match="--fast"):
        bench.run(["--fast"])


def test_both_sides_are_timed_in_turns() -> None:
    calls: list[str] = []
    pairs = timing.interleaved(lambda: calls.append("A"), lambda: calls.append("B"), repeats=4, warmup=1)
    assert "".join(calls) == "AB" + "ABBAABBA"
    assert len(pairs.first) == len(pairs.second) == 4


def test_ratio_is_the_median_of_pairs() -> None:
    pairs = timing.Pairs([1.0, 2.0, 90.0], [2.0, 1.0, 30.0])
    assert pairs.ratio == 2.0 or pairs.ratio == 3.0
    assert timing.Pairs([1.0, 8.0, 3.0], [2.0, 2.0, 3.0]).ratio == 1.0


def test_each_side_is_timed_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def takes(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(timing, "clock", lambda: now)
    pairs = timing.interleaved(lambda: takes(4.0), lambda: takes(1.0), repeats=3, calls=2)
    assert pairs == timing.Pairs([4.0] * 3, [1.0] * 3)


def test_a_busy_machine_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "clock", timing.clock)  # put back at the end
    assert timing.clock is time.perf_counter
    timing.use_cpu_time()
    assert timing.clock is time.process_time


def test_amounts() -> None:
    assert [bench.amount(v) for v in (1.234, 0.0045, math.nan)] == ["1.23 s", "4.5 ms", "–"]
    assert bench.amount(0.5, "/s") == "0.5 /s" and bench.amount(1130.2, "MiB") == "1,130 MiB"


def test_percentile() -> None:
    assert timing.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert timing.percentile([0.0, 10.0], 0.95) == pytest.approx(9.5)
    assert math.isnan(timing.percentile([], 0.5))


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Row("b", "c", 1.0, 2.0, 0.5, "≤ 1.05"), True),
        (Row("b", "c", 1.0, 2.0, 1.2, "≤ 1.05"), False),
        (Row("b", "c", 1.0, 2.0, 3.5, "≥ 3"), True),
        (Row("b", "c", 1.0, 2.0, 2.5, "≥ 3"), False),
        (Row("b", "c", 2.5, target="≤ 2 s"), False),
        (Row("b", "c", 1.5, target="≤ 2 s"), True),
        (Row("b", "c", math.nan, target="≤ 2 s"), None),
        (Row("b", "c", 1.0), None),
        (Row("b", "c", 0.1, target="≤ 0.15 s, 95 % ≤ 0.25 s", p95=0.2), True),
        (Row("b", "c", 0.1, target="≤ 0.15 s, 95 % ≤ 0.25 s", p95=0.3), False),
        (Row("b", "c", 0.2, target="≤ 0.15 s, 95 % ≤ 0.25 s", p95=0.2), False),
        (Row("b", "c", 0.1, target="95 % ≤ 0.25 s"), None),
        (Row("b", "c", 59.0, target="≥ 30 /s", unit="/s"), True),
    ],
)
def test_targets(row: Row, met: bool | None) -> None:
    assert row.met is met


def test_the_peer_without_hook_is_the_same_model_and_cannot_be_recorded() -> None:
    torch.manual_seed(0)
    model = GPT(vocab_size=5, context=6, layers=2, heads=2, width=8).eval()
    bare = recording.without_hook(model).eval()
    tokens = torch.randint(5, (2, 6))
    with record_attention() as seen:
        assert torch.allclose(model(tokens), bare(tokens), atol=1e-6)
    layers = [m for m in model.modules() if type(m) is Attention]
    assert len(layers) == 2 and set(seen.calls) == set(layers)


def test_graph_of_coras_size() -> None:
    graph = gcn.like_cora()
    assert graph.x.shape == (2708, 1433)
    assert [int(graph[f"{s}_mask"].sum()) for s in ("train", "val", "test")] == [140, 500, 1000]
    assert abs(graph.edge_index.shape[1] - 2 * 5278) < 50  # a few edges are drawn twice
