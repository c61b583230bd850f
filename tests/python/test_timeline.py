"""A run's timeline as a page, and its trace: what is in them, against what is known of the kernels."""

import base64
import html
import json
import pathlib
import re
import shutil
import subprocess
import zlib

import numpy as np
import pytest
import tilescope as ts

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "assets/page"


@pytest.fixture(scope="module")
def pipeline():
    """A warp-specialised product: copies in by TMA, tcgen05.mma, 4 CTAs of 128 x 128."""
    return ts.run("hgemm_v7", m=256, n=256, k=256, record=True)


def data_of(page):
    kind, text = re.search(r'<script type="([^"]*)" id="record">(.*?)</script>', page, re.S).groups()
    return json.loads(text if kind == "application/json" else zlib.decompress(base64.b64decode(text)))


def events_of(data):
    """(track, begin, length, kind, amount) of each, as viz/timeline/timeline_data.h has them."""
    columns, at = data["events"], 0
    for track in data["tracks"]:
        begin = 0
        for i in range(at, at + track["events"]):
            begin += columns["begin"][i]
            yield track, begin, columns["length"][i], data["kinds"][columns["kind"][i]], columns["amount"][i]
        at += track["events"]


def test_a_row_for_each_warp_with_all_its_instructions(module):
    x = np.zeros(100, np.float32)
    run = module.launch(4, 64, [x, 1.5, 100], entry="add", record=True)
    data = data_of(run.timeline().html)
    warps = [track for track in data["tracks"] if track["unit"] == "warp"]
    assert sorted(track["name"] for track in warps) == [f"CTA {b} warp {w}" for b in range(4) for w in range(2)]
    assert sum(amount for track, *_, kind, amount in events_of(data) if kind == "run") == run.stats()["all"]["issued"]
    assert data["title"] == "add" and "NVIDIA B200" in data["about"]


def test_copies_have_the_bytes_that_the_tiles_have(pipeline):
    data = data_of(pipeline.timeline().html)
    copied = sum(amount for track, *_, kind, amount in events_of(data) if kind == "operation" and track["unit"] == "copies in")
    # Each CTA takes 128 rows of A and 128 of B over all of K, f16.
    assert copied == 4 * 256 * (128 + 128) * 2
    labels = [track["label"] for track in data["tracks"]]
    assert {"MMAs: warp 4", "copies in: warp 7", "full[0]", "empty[1]", "tensor core"} <= set(labels)


def test_one_page_and_no_network(pipeline, tmp_path):
    timeline = pipeline.timeline()
    timeline.save(tmp_path / "f.html")
    page = (tmp_path / "f.html").read_text()
    assert page == timeline.html and page.startswith("<!doctype html>")
    assert "default-src 'none'" in page  # whatever a kernel's names hold, nothing is fetched
    assert not re.search(r"""\b(src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest""", page)
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="[^"]*" style="[^"]*height: (\d+)px[^"]*"></iframe>', timeline._repr_html_())
    assert html.unescape(frame[1]) == page and 240 <= int(frame[2]) <= 720
    assert "height: 300px" in pipeline.timeline(height=300)._repr_html_()
    assert 'data-theme="dark"' in pipeline.timeline(theme="dark").html


def test_names_are_text(tmp_path):
    """What a kernel is called does not become part of the page."""
    ptx = (HERE / "add.ptx").read_text().replace("// Adds", "// </script> Adds")
    run = ts.launch(ptx, 1, 32, [np.zeros(32, np.float32), 1, 32], entry="add", record=True)
    assert run.timeline().html.count("</script>") == 2


def test_a_fault_is_in_it(module):
    with pytest.raises(ts.Fault) as fault:
        module.launch(4, 32, [np.zeros(50, np.float32), 1.5, 100], entry="add", record=True)
    data = data_of(fault.value.run.timeline().html)
    (report,) = data["reports"]
    assert report["weight"] == "fault" and report["sentence"] == fault.value.run.reports[-1].sentence
    events = list(events_of(data))
    assert events[report["event"]][3] == "report"


def test_what_is_refused(module, pipeline, tmp_path):
    run = module.launch(1, 32, [np.zeros(32, np.float32), 1, 32], entry="add")
    for ask in (run.timeline, lambda: run.trace(tmp_path / "t.json"), run.step, lambda: run.memory(0, 0), run.window):
        with pytest.raises(ts.Error, match="record=True"):
            ask()
    for words in ({"theme": "pink"}, {"height": 3}, {"height": "tall"}, {"events": 3}):
        with pytest.raises((ts.Error, TypeError)):
            pipeline.timeline(**words)
    kept = tmp_path / "kept.html"
    kept.mkdir()
    for write in (pipeline.timeline().save, pipeline.trace):
        for place in (tmp_path / "nowhere/f.html", kept):
            with pytest.raises(ts.Error):
                write(place)
        with pytest.raises((ts.Error, TypeError)):
            write(3)
    assert sorted(tmp_path.iterdir()) == [kept] and not list(kept.iterdir())


def test_large_records_are_taken_together():
    run = ts.run("hgemm_v7", m=512, n=512, k=512, record=True)
    whole, small = data_of(run.timeline().html), data_of(run.timeline(events=1000).html)
    events = list(events_of(whole))
    assert len(events) > 1000 and whole["together"] == 0
    kept = list(events_of(small))
    assert len(kept) < len(events)
    assert sum(amount if kind == "folded" else 1 for *_, kind, amount in kept) == len(events)
    assert [group["label"] for group in small["groups"]] == [group["label"] for group in whole["groups"]]


def test_a_run_without_time_counts_instructions(module):
    x = np.zeros(100, np.float32)
    run = module.launch(4, 32, [x, 1.5, 100], entry="add", record=True, schedule=7)
    data = data_of(run.timeline().html)
    assert data["unit"] == "instruction" and data["clock"] == 0


def test_the_trace(pipeline, tmp_path):
    pipeline.trace(tmp_path / "t.json")
    trace = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in trace if event["ph"] == "M" and event["name"] == "process_name"}
    assert {f"CTA ({x},0,0)" for x in range(4)} <= {re.sub(r"(CTA \([^)]*\)).*", r"\1", name) for name in names}
    assert {event["ph"] for event in trace} >= {"X", "s", "f"}


@pytest.fixture(scope="module")
def read(pipeline, tmp_path_factory):
    """What the page's script makes of the data."""
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node here: the page's script is not tried")
    file = tmp_path_factory.mktemp("page") / "data.json"
    file.write_text(json.dumps(data_of(pipeline.timeline().html)))
    done = subprocess.run([node, HERE / "timeline_page.js", PAGE, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_script_reads_what_is_written(read, pipeline):
    assert read["lost"] == 0 and read["both"]
    assert read["ran"] == pipeline.stats()["all"]["issued"]
    assert read["copied"] == 4 * 256 * (128 + 128) * 2
    for by_events, by_pieces in read["shares"]:
        assert by_pieces == pytest.approx(by_events, abs=0.002)


def test_who_waits_for_whom(read):
    """The warp of the MMAs waits for copies, the warp of the copies for MMAs: through the mbarriers between them."""
    def completers(row):
        return {chain[1] for label, chain in read["chains"] if label == row and len(chain) > 1 and chain[0] == "mbarrier"}

    assert completers("MMAs: warp 4") == {"copies in"}
    assert completers("copies in: warp 7") == {"commits"}


def test_what_the_script_says(read):
    assert read["words"] == ["1,234,567", "617 ns", "0.5 ns", "2.50 ms", "16 KiB", "100 bytes"]
    assert read["ticks"] == ["0", "200", "400", "600", "800", "1,000"]
    assert read["zoomed"] == [187.5, 437.5] and read["ends"] == [600, 1000]
    assert read["found"] > 10 and read["nothing"] == 0
    wait = next(lines for lines in read["inspected"] if lines.get("barrier", "").startswith("full[0]") and "waits for" in lines)
    assert wait["waits for"] == "copies in (mbarrier)" and wait["row"] == "CTA 0 warp 4 (MMAs)"
    assert re.fullmatch(r"[\d,]+ \(\d+ ns\)", wait["began at cycle"]) and wait["source"].startswith("kernels/blackwell/hgemm_v7.cu:")


def test_the_scripts_are_scripts():
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node here: the page's script is not tried")
    for script in sorted(PAGE.glob("*.js")):
        assert subprocess.run([node, "--check", script]).returncode == 0, script
