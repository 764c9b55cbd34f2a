"""Looks at pages of slowpath in headless Chromium: check.py CHECK FOLDER

FOLDER holds the pages, which the tests in crates/slowpath-report/tests/browser.rs and crates/slowpath-cli/tests/it/browser.rs
make. Exits with 0 where the check holds, 1 where it does not, and 77 with a reason where it cannot be made here.
"""
import json
import os
import re
import shutil
import struct
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from contextlib import contextmanager
from pathlib import Path

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    print("Playwright is not installed; scripts/setup installs it")
    sys.exit(77)

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 412, "height": 915}


def chromium():
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not found:
        print("there is no Chromium; scripts/setup installs it, or CHROMIUM=/path/to/it names it")
        sys.exit(77)
    return found


class Looked:
    """A page with what went wrong in it."""

    def __init__(self, page):
        self.page, self.wrong, self.fetched = page, [], []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.wrong.append(said.text))
        page.on("request", lambda request: self.fetched.append(request.url))

    def opened(self, path):
        self.page.goto(path.absolute().as_uri())
        return self.page

    def sound(self):
        assert not self.wrong, self.wrong
        others = [url for url in self.fetched if not url.startswith(("file:", "data:", "blob:"))]
        assert not others, f"fetched from elsewhere: {others}"
        assert sum(url.startswith("file:") for url in self.fetched) == 1, self.fetched


@contextmanager
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield running
        running.close()


@contextmanager
def looking(path, **options):
    with browser() as running:
        context = running.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
        looked = Looked(context.new_page())
        page = looked.opened(path)
        yield page
        looked.sound()


def drawn(page, which=0):
    """Brings a set of graphs into view, waits until it is drawn, and gives it."""
    graphs = page.locator(".graphs").nth(which)
    graphs.scroll_into_view_if_needed()
    page.wait_for_function("i => document.querySelectorAll('.graphs')[i].querySelectorAll('.plot canvas').length >= 4", arg=which)
    frames(page, 3)
    return graphs


def frames(page, count):
    page.evaluate("n => new Promise(done => { const step = () => n-- ? requestAnimationFrame(step) : done(); step(); })", count)


def ink(page, which=0):
    """For each graph, how many of its pixels differ from its first one: nothing is drawn where none does."""
    return page.evaluate(
        """i => [...document.querySelectorAll('.graphs')[i].querySelectorAll('.plot canvas')].map(canvas => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const words = new Uint32Array(data.buffer);
          return words.reduce((sum, word) => sum + (word !== words[0]), 0);
        })""",
        which,
    )


def where(graphs):
    return graphs.locator(".where").inner_text()


def span(page, which=0):
    return page.evaluate("i => { const { x0, x1 } = document.querySelectorAll('.graphs')[i].group; return [x0, x1]; }", which)


def overflow(page):
    return page.evaluate(
        """() => {
          const wide = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= wide) return [];
          return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > wide + 1 && !e.closest('.scroll, .code, nav, .strip'))
            .slice(0, 5).map(e => e.tagName + '.' + e.className);
        }"""
    )


# ---------------------------------------------------------------- checks


def desktop(folder):
    """Everything is drawn, nothing fetched, nothing sticks out."""
    for name in ("report.html", "explain.html"):
        with looking(folder / name) as page:
            assert page.locator("h1").count() == 1
            for which in range(page.locator(".graphs").count()):
                drawn(page, which)
                blank = [many for many in ink(page, which) if many < 200]
                assert not blank, f"{name}: a graph is blank: {ink(page, which)}"
            assert not overflow(page), overflow(page)


def phone(folder):
    """Nothing is wider than the screen, graphs stand below each other, and fingers zoom."""
    for name in ("report.html", "explain.html"):
        with looking(folder / name, viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2) as page:
            drawn(page)
            assert not overflow(page), f"{name}: {overflow(page)}"
            boxes = [box.bounding_box() for box in page.locator(".graphs").first.locator("figure.graph").all()]
            assert all(above["y"] + above["height"] <= below["y"] + 1 for above, below in zip(boxes, boxes[1:])), boxes
            small = page.evaluate("[...document.querySelectorAll('main p, main td, main dd')].filter(e => e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 11).length")
            assert small == 0, f"{small} texts are smaller than 11 px"


def contrast(page, selector):
    """The least contrast of the text of these elements with what is behind it (WCAG 2)."""
    return page.evaluate(
        """selector => {
          const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const c = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true }), known = {};
          const rgb = text => known[text] ??= (c.clearRect(0, 0, 1, 1), c.fillStyle = text, c.fillRect(0, 0, 1, 1), [...c.getImageData(0, 0, 1, 1).data]);
          const behind = e => { for (; e; e = e.parentElement) { const found = rgb(getComputedStyle(e).backgroundColor); if (found[3] > 250) return found; } return [255, 255, 255]; };
          let least = [99, ''];
          for (const e of document.querySelectorAll(selector)) {
            if (!e.offsetParent || !e.textContent.trim()) continue;
            const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
            const c = (a + 0.05) / (b + 0.05);
            if (c < least[0]) least = [c, e.tagName + '.' + e.className + ' ' + e.textContent.trim().slice(0, 40)];
          }
          return least;
        }""",
        selector,
    )


TEXTS = "main h1, main h2, main h3, main p, main td, main th, main dt, main dd, main .limit, main .tag, main a, main button, main figcaption"


def dark(folder):
    """Light and dark: by the system's wish, by the button, and readable in both."""
    for scheme in ("light", "dark"):
        with looking(folder / "report.html", color_scheme=scheme) as page:
            drawn(page)
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            bright = sum(map(int, re.findall(r"\d+", paper)[:3])) > 384
            assert bright == (scheme == "light"), paper
            least, whose = contrast(page, TEXTS)
            assert least >= 4.5, f"{scheme}: {whose}: contrast {least:.2f}"
            page.locator(".theme").click()
            frames(page, 3)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
            least, whose = contrast(page, TEXTS)
            assert least >= 4.5, f"{scheme}, switched: {whose}: contrast {least:.2f}"


def printed(folder):
    """On paper: light, without controls, with graphs, all details open."""
    with looking(folder / "report.html", color_scheme="dark") as page:
        page.wait_for_function("() => document.querySelectorAll('.graphs .plot canvas').length >= 4 * document.querySelectorAll('.graphs').length")
        pdf = page.pdf(format="A4", print_background=True)
        assert pdf.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3, "few pages"
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--surface').trim()") == "#ffffff"
        for control in (".bar", ".theme", ".buttons", ".save", ".plain", ".how", ".code button"):
            visible = page.locator(control).evaluate_all("all => all.filter(e => e.offsetParent).length")
            assert visible == 0, f"{control} is printed"
        assert all(many > 200 for many in ink(page)), ink(page)


def keyboard(folder):
    """Everything can be reached and done without a mouse, and it shows where one is."""
    with looking(folder / "report.html") as page:
        reached = []
        for _ in range(400):
            page.keyboard.press("Tab")
            at = page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e);
                return [e.tagName, e.className || '', e.getAttribute('aria-label') || e.textContent.trim().slice(0, 30), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0]; }"""
            )
            if at[0] == "BODY":
                break
            reached.append(at)
        unseen = [at for at in reached if not at[3]]
        assert not unseen, f"focus cannot be seen: {unseen[:3]}"
        kinds = {at[1].split(" ")[0] for at in reached} | {at[0] for at in reached}
        for wanted in ("theme", "lane", "plain", "card", "key", "SELECT", "SUMMARY", "INPUT"):
            assert wanted in kinds, f"{wanted} is not reached: {kinds}"
        graphs = drawn(page)
        graphs.focus()
        whole = span(page)
        page.keyboard.press("+")
        frames(page, 3)
        near = span(page)
        assert near[1] - near[0] < 0.6 * (whole[1] - whole[0]), (whole, near)
        page.keyboard.press("ArrowRight")
        frames(page, 3)
        assert span(page)[0] > near[0]
        page.keyboard.press("-")
        page.keyboard.press("0")
        frames(page, 3)
        assert span(page) == whole and "all of" in where(graphs)
        key = graphs.locator(".key").first
        key.focus()
        page.keyboard.press("Enter")
        assert key.get_attribute("aria-pressed") == "false"


def alternatives(folder):
    """Every picture says what it shows, every control what it does."""
    for name in ("report.html", "explain.html"):
        with looking(folder / name) as page:
            drawn(page)
            assert page.evaluate("document.documentElement.lang") == "en"
            # Level by level: no heading is skipped.
            levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1])")
            assert levels[0] == 1 and all(b - a <= 1 or b == 4 for a, b in zip(levels, levels[1:])), levels
            nameless = page.evaluate(
                """() => [...document.querySelectorAll('button, input, select, a[href]')].filter(e =>
                  !(e.getAttribute('aria-label') || e.textContent.trim() || e.title || (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 90))"""
            )
            assert not nameless, nameless
            mute = page.evaluate(
                """() => [...document.querySelectorAll('main svg')].filter(e =>
                  !e.closest('[aria-hidden]') && !(e.getAttribute('role') === 'img' && e.getAttribute('aria-label')) && !e.querySelector('title')).map(e => e.outerHTML.slice(0, 90))"""
            )
            assert not mute, mute
            plots = page.evaluate("[...document.querySelector('.graphs').querySelectorAll('figure > .plot, .pair > .plot')].map(e => [e.getAttribute('role'), e.getAttribute('aria-label')])")
            assert len(plots) == 5
            for role, label in plots:
                assert role == "img" and re.search(r"\d", label), (role, label)
            # It says what is to be seen now, not what was.
            before = plots[0][1]
            page.locator(".graphs").first.locator("[data-act=in]").click()
            page.wait_for_function("old => document.querySelector('.graphs .plot').getAttribute('aria-label') !== old", arg=before)


def copied(page, button):
    """What the clipboard holds once a button says that it copied."""
    button.click()
    expect(button).to_have_text("copied")
    page.evaluate("() => { const area = document.createElement('textarea'); area.id = 'paste'; document.body.append(area); area.focus(); }")
    page.keyboard.press("Control+V")
    text = page.locator("#paste").input_value()
    page.evaluate("document.querySelector('#paste').remove()")
    return text


def buttons(folder):
    """Buttons do what they say: zoom, lines, copies, pictures."""
    with looking(folder / "report.html") as page:
        graphs = drawn(page)
        whole = span(page)
        for act, holds in (
            ("in", lambda a, b: b[1] - b[0] < a[1] - a[0]),
            ("right", lambda a, b: b[0] > a[0]),
            ("left", lambda a, b: b[0] < a[0]),
            ("out", lambda a, b: b[1] - b[0] > a[1] - a[0]),
            ("rounds", lambda a, b: b[1] - b[0] < a[1] - a[0]),
            ("all", lambda a, b: b == whole),
        ):
            before = span(page)
            graphs.locator(f"[data-act={act}]").click()
            frames(page, 3)
            assert holds(before, span(page)), (act, before, span(page))
        # A line that is switched off is not drawn.
        before = ink(page)
        graphs.locator(".key").nth(2).click()
        frames(page, 3)
        assert ink(page)[0] < before[0]
        graphs.locator(".key").nth(2).click()
        text = copied(page, page.locator(".plain"))
        assert text == page.evaluate("document.querySelector('#as-text').content.textContent") and len(text) > 100, text
        assert max(map(len, text.splitlines())) <= 110, "a line is too long to paste"
        code = page.locator(".code").first
        assert copied(page, code.locator("button")) == code.locator("code").text_content()
        for which in range(5):
            figure = graphs.locator("figure.graph").nth(which)
            with page.expect_download() as loading:
                figure.locator("[data-save=svg]").click()
            picture(loading.value, figure.locator("h4").evaluate("e => e.firstChild.textContent.trim()"), graphs.get_attribute("data-caption"))
        with page.expect_download() as loading:
            graphs.locator("figure.graph").first.locator("[data-save=png]").click()
        data = Path(loading.value.path()).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
        width, height = struct.unpack(">II", data[16:24])
        assert width == 1920 and height > 600 and len(data) > 20_000, (width, height, len(data))


def picture(download, title, caption):
    """A saved graph stands alone: title, legend, axes, curves; nothing from elsewhere; fonts that any system has."""
    assert download.suggested_filename.endswith(".svg"), download.suggested_filename
    source = Path(download.path()).read_text()
    tree = ElementTree.fromstring(source)
    svg = "{http://www.w3.org/2000/svg}"
    words = [text.text for text in tree.iter(f"{svg}text")]
    assert words[0] == f"{caption}: {title}", words[0]
    assert any(word.endswith(" s") for word in words[3:]), words
    assert any(word.startswith("limited by ") for word in words), words
    assert tree.find(f"{svg}title").text == words[0]
    assert len(list(tree.iter(f"{svg}path"))) >= 1
    assert tree.get("font-family").endswith("sans-serif")
    assert not re.search(r"href|url\((?!#)|@import|<image|<script", source)


def interval(folder):
    """Another interval of the I/O graph shows the same bytes."""
    with looking(folder / "report.html") as page:
        graphs = drawn(page)
        choice = graphs.locator("[data-interval]")
        values = choice.evaluate("e => [...e.options].map(o => +o.value)")
        own = page.evaluate("document.querySelector('.graphs').group.bin")
        assert own in values and min(values) < own < max(values) and len(values) >= 5, values
        sums = {}
        for value in values:
            choice.select_option(str(value if value % 1 else int(value)))
            frames(page, 2)
            # Bits per second times seconds, each way.
            sums[value] = page.evaluate(
                """w => { const { series } = document.querySelector('.graphs').group.charts.find(c => c.element.dataset.plot === 'io');
                return [series[0].n, ...series.slice(0, 2).map(s => s.levels[0].hi.reduce((a, v) => a + v, 0) * w / 8)]; }""",
                value,
            )
        for value, (bins, *both) in sums.items():
            for got, wanted in zip(both, sums[own][1:]):
                assert abs(got - wanted) <= 1e-6 * wanted, f"{value} s: {got} bytes, {wanted} in intervals of {own} s"
            expected = (span(page)[1] - span(page)[0]) / value
            assert expected * 0.9 - 2 <= bins <= expected * 1.1 + 2, (value, bins, expected)


def search(folder):
    """The search finds variants and runs, however their letters are typed."""
    with looking(folder / "many.html") as page:
        field, found = page.locator(".find input"), page.locator(".find .found")
        lanes = lambda: page.locator("a.lane").evaluate_all("all => all.filter(e => !e.hidden).map(e => e.querySelector('b').textContent)")
        sections = lambda: page.locator("section.variant[data-item]").evaluate_all("all => all.filter(e => !e.hidden).length")
        every = lanes()
        wanted = every[42]
        wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in wanted.upper())
        assert unicodedata.normalize("NFKC", wide) == wanted.upper() and wide != wanted.upper()
        for typed in (wanted, wide, f"  {wanted.upper()} "):
            field.fill(typed)
            frames(page, 3)
            assert lanes() == [wanted] and sections() == 1, (typed, lanes())
            assert found.inner_text().startswith(f"1 of {len(every)}"), found.inner_text()
        # Words in any order; a limit; a single run of one variant.
        field.fill("window " + every[7])
        frames(page, 3)
        assert every[7] in lanes()
        row = page.locator(f"section.variant").nth(7).locator("tbody[data-row]")
        duration = row.nth(1).locator("td").nth(1).inner_text()
        field.fill(f"{every[7]} {duration}")
        frames(page, 3)
        assert lanes() == [every[7]] and [r.is_hidden() for r in row.all()].count(False) >= 1
        field.fill("ｎｏ ｓｕｃｈ ｔｈｉｎｇ")
        frames(page, 3)
        assert lanes() == [] and found.inner_text().startswith("0 of")
        field.press("Escape")
        frames(page, 3)
        assert lanes() == every and found.inner_text() == ""


# What happens in a page while frames pass: the times between them, milliseconds.
MEASURED = """async ([count, act]) => {
  const step = new Function('i', act), times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < count; i++) {
    step(i);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times.sort((a, b) => a - b);
}"""
# As a wheel does it: in and out of the middle, then along.
MOVING = """const { group } = document.querySelector('.graphs');
if (i % 60 < 20) group.zoom(0.8); else if (i % 60 < 40) group.pan(0.07); else group.zoom(1.25);"""


def middle(times):
    return times[len(times) // 2]


# A browser shows whole frames: half of them is twice the time, but for its own rounding.
MOST = 2.05


def compared(path, act, prepare, most=MOST, count=90, tries=6):
    """Has a page move and an empty one do nothing, in turn; the best of some tries must not take more than `most` times as long."""
    seen = []
    with browser() as running:
        empty = running.new_page(viewport=DESKTOP, reduced_motion="reduce")
        empty.goto("about:blank")
        looked = Looked(running.new_page(viewport=DESKTOP, reduced_motion="reduce"))
        page = looked.opened(path)
        prepare(page)
        for _ in range(tries):
            empty.bring_to_front()
            idle = middle(empty.evaluate(MEASURED, [count, ""]))
            page.bring_to_front()
            busy = page.evaluate(MEASURED, [count, act])
            seen.append((middle(busy) / idle, idle, middle(busy), busy[int(0.95 * len(busy))]))
            if seen[-1][0] <= most:
                break
        looked.sound()
    ratio, idle, busy, slow = min(seen)
    print(f"an empty page {idle:.1f} ms a frame, {path.name} {busy:.1f} ms ({slow:.1f} ms in 95 %): {ratio:.2f} times")
    assert ratio <= most, seen


def million(folder):
    """A million segments: the page is below 25 MB, and moves with at least half the frames of an empty page: 30 of 60 a second."""
    path = folder / "million.html"
    size = path.stat().st_size / 1e6
    print(f"{path.name}: {size:.1f} MB")
    assert size < 25

    def prepare(page):
        drawn(page)
        segments = page.evaluate("document.querySelector('.graphs').group.charts[0].series.find(s => s.name === 'sent').n")
        assert segments >= 1_000_000, segments

    compared(path, MOVING, prepare)


def many(folder):
    """300 runs: scrolling through all of them keeps at least half the frames of an empty page, and few graphs are alive at a time."""
    path = folder / "many.html"
    alive = "document.querySelectorAll('.plot canvas').length"

    def prepare(page):
        runs = page.locator("tbody[data-row]").count()
        assert runs >= 300, runs

    compared(path, "scrollBy(0, 400); if (scrollY + innerHeight >= document.documentElement.scrollHeight - 5) scrollTo(0, 0);", prepare)
    with looking(path) as page:
        for share in range(0, 6):
            page.evaluate("share => scrollTo(0, share / 5 * document.documentElement.scrollHeight)", share)
            frames(page, 6)
            assert page.evaluate(alive) <= 20 * 6, page.evaluate(alive)
        # Graphs that were given back come again.
        page.evaluate("scrollTo(0, 0)")
        drawn(page)
        assert all(many > 200 for many in ink(page)), ink(page)


# ---------------------------------------------------------------- numbers

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "bit": 1 / 8, "kbit": 125, "Mbit": 125e3, "Gbit": 125e6, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def quantity(text):
    """A number with its unit in bytes, bytes per second or seconds, and half of its last digit."""
    found = re.fullmatch(r"([\d,]+(?:\.(\d+))?)\s*([A-Za-zµ]+)(/s)?", text.strip())
    assert found, f"not a quantity: {text!r}"
    unit = UNITS[found[3]]
    return float(found[1].replace(",", "")) * unit, 0.5 * 10 ** -len(found[2] or "") * unit * 1.001


def same(text, value, what):
    shown, half = quantity(text)
    assert abs(shown - value) <= max(half, 1e-9 * abs(value)), f"{what}: {text} on the page, {value} in result.json"


def numbers(folder):
    """What the page shows is what result.json says: rates, times, bytes, runs, ledgers, proofs."""
    result = json.loads((folder / "result.json").read_text())
    compared = 0
    with looking(folder / "report.html") as page:
        sections = page.locator("section.variant[data-item]").all()
        assert len(sections) == len(result["variants"]) > 0
        bars = iter(page.locator(".times .run").all())
        for section, lane, variant in zip(sections, page.locator("a.lane").all(), result["variants"]):
            assert section.locator("h2").evaluate("e => e.firstChild.textContent.trim()").split(" (")[0] == variant["name"]
            mean = variant["goodput_byte_per_s"]["mean"]
            same(section.locator(".facts b").first.text_content(), mean, variant["name"])
            same(lane.locator(".result b").text_content(), mean, variant["name"])
            limit = variant["verdict"] and variant["verdict"]["limit"]
            if limit:
                assert section.locator("header .limit").first.text_content() == limit
            rows = section.locator("tbody[data-row] tr:first-child").all()
            assert len(rows) == len(variant["runs"])
            for row, run in zip(rows, variant["runs"]):
                cells = row.locator("td").all_text_contents()
                same(cells[1], run["duration_s"], "a run's time")
                same(cells[2], run["goodput_byte_per_s"], "a run's rate")
                if run["retransmitted_segments"] is not None:
                    assert int(cells[3].replace(",", "")) == run["retransmitted_segments"]
                assert cells[5].strip() == run["health"]["state"]
                compared += 4
                ledger = run.get("ledger")
                if ledger and ledger["entries"]:
                    bar = next(bars)
                    label = bar.locator(".spent").get_attribute("aria-label")
                    same(label.split(":")[0], ledger["duration_s"], "a bar's length")
                    shown = {}
                    for part in label.split(": ")[1].split(", "):
                        cause, seconds = part.split(" ", 1)
                        shown[cause] = quantity(seconds)
                    whole = sum(value for value, _ in shown.values())
                    assert abs(whole - ledger["duration_s"]) <= sum(half for _, half in shown.values()) + 0.011 * ledger["duration_s"], (shown, ledger["duration_s"])
                    compared += 1 + len(shown)
            compared += 2
        # One scale for all bars.
        widths = page.locator(".times .run").evaluate_all("all => all.map(e => [[...e.querySelectorAll('.spent i')].reduce((sum, i) => sum + parseFloat(i.style.width), 0), e.querySelector('.took').firstChild.textContent])")
        scale = [quantity(took)[0] / width for width, took in widths]
        assert widths and max(scale) / min(scale) < 1.02, widths
        proofs = page.locator(".proof").all()
        assert len(proofs) == len(result.get("proofs") or [p for v in result["variants"] for p in v.get("proofs", [])])
        for shown, proof in zip(proofs, result.get("proofs", [])):
            before, predicted, measured = re.search("before (.*?), predicted (.*?), measured (.*)", shown.locator("svg").first.get_attribute("aria-label")).groups()
            same(before, proof["before_byte_per_s"], "a proof's rate before")
            same(predicted.replace("at least ", "").split(" to ")[0], proof["predicted_byte_per_s"]["low"], "a prediction")
            if proof["measured_byte_per_s"] is not None:
                same(measured, proof["measured_byte_per_s"], "a proof's measurement")
            compared += 3
    print(f"{compared} figures of the page are those of result.json")
    assert compared > 10


def simulated(page):
    """Waits until the sliders show what they are set to, and gives what they show: the numbers themselves."""
    page.wait_for_function("() => { const card = document.querySelector('.sliders'), own = card.sliders; return card.dataset.state === 'ready' && own && !own.busy && !own.wanted && card.dataset.shown === own.changes().join(' and '); }", timeout=60_000)
    return page.evaluate(
        """() => {
          const card = document.querySelector('.sliders');
          return { changes: card.sliders.changes(), took: +card.dataset.took,
            ...Object.fromEntries([...card.querySelectorAll('[data-of]')].map(e => [e.dataset.of, e.value])) };
        }"""
    )


def slid(page, key, steps):
    """Moves a slider so many steps from the fitted value, or a choice to its option of that number."""
    page.evaluate(
        """([key, steps]) => {
          const lever = document.querySelector('.sliders').sliders.levers.find(l => l.key === key), { control } = lever;
          if (control.tagName === 'SELECT') control.selectedIndex = steps; else control.value = lever.fitted + steps;
          control.dispatchEvent(new Event('input', { bubbles: true }));
        }""",
        [key, steps],
    )


MOVES = [
    {"rate": 8}, {"rate": -10}, {"delay": 9}, {"loss": 12}, {"queue": -6}, {"queue": 6}, {"window": -30}, {"congestion-control": 1},
    {"congestion-control": 2}, {"congestion-control": 3}, {"rate": 5, "delay": 4, "queue": 3, "loss": 9, "congestion-control": 2},
]


def sliders(folder):
    """Sliders simulate the transfer again in the page. What they show is left in seen.json: the test compares it with native runs."""
    seen = []
    with looking(folder / "page.html") as page:
        card = page.locator(".sliders")
        card.scroll_into_view_if_needed()
        seen.append(simulated(page))
        assert seen[0]["changes"] == [] and seen[0]["now duration"] == seen[0]["fitted duration"]
        canvas = "() => { const c = document.querySelector('.sliders canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return new Uint32Array(d.buffer).reduce((sum, word, i) => (sum * 31 + word + i) >>> 0, 7); }"
        before = page.evaluate(canvas)
        # By the keyboard, as everything else.
        rate = page.get_by_role("slider", name="Rate of the slowest link")
        rate.focus()
        text = rate.get_attribute("aria-valuetext")
        page.keyboard.press("ArrowRight")
        once = simulated(page)
        assert once["changes"] and once["changes"][0] == "rate=" + rate.get_attribute("aria-valuetext") and rate.get_attribute("aria-valuetext") != text
        assert page.evaluate(canvas) != before, "the curve was not drawn again"
        assert once["changes"][0] in card.locator("code").inner_text()
        seen.append(once)
        card.get_by_role("button", name="All as fitted").click()
        again = simulated(page)
        assert {k: v for k, v in again.items() if k != "took"} == {k: v for k, v in seen[0].items() if k != "took"}
        assert page.evaluate(canvas) == before
        for move in MOVES:
            for key, steps in move.items():
                slid(page, key, steps)
            seen.append(simulated(page))
            for key in move:
                slid(page, key, 0)
            simulated(page)
        # Many at once: the last one counts.
        for steps in range(1, 20):
            slid(page, "rate", steps)
        last = simulated(page)
        assert last["changes"] == ["rate=" + rate.get_attribute("aria-valuetext")]
        seen.append(last)
        unnamed = page.evaluate("[...document.querySelectorAll('.sliders :is(input, select, button)')].filter(e => !(e.labels?.length || e.textContent.trim())).map(e => e.outerHTML)")
        assert not unnamed, unnamed
        label = card.locator(".plot").get_attribute("aria-label")
        assert "Now" in label and re.search(r"\d", label), label
        shot(page, folder, "sliders-desktop")
    for scheme in ("light", "dark"):
        with looking(folder / "page.html", viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2, color_scheme=scheme) as page:
            page.locator(".sliders").scroll_into_view_if_needed()
            simulated(page)
            slid(page, "rate", 6)
            simulated(page)
            assert not overflow(page), overflow(page)
            cut = page.evaluate("() => { const box = document.querySelector('.outcome .scroll'); return box.scrollWidth - box.clientWidth; }")
            assert cut <= 0, f"{cut} px of the figures are cut off"
            least, whose = contrast(page, ".what-if :is(p, span, b, label, output, th, td, data, button, h3, code)")
            assert least >= 4.5, f"{scheme}: {whose}: contrast {least:.2f}"
            shot(page, folder, f"sliders-phone-{scheme}")
            page.emulate_media(media="print")
            assert page.locator(".lever input").evaluate_all("all => all.filter(e => e.offsetParent).length") == 0
            assert page.locator(".lever output").first.is_visible()
    with looking(folder / "report.html") as page:
        page.locator(".sliders").scroll_into_view_if_needed()
        shown = simulated(page)
        assert not overflow(page), overflow(page)
        seen.append({**shown, "report": True})
    # Without the script and where the browser lacks something, figures stay and it is said.
    with browser() as running:
        page = running.new_page(viewport=DESKTOP)
        page.add_init_script("delete window.DecompressionStream")
        page.goto((folder / "page.html").absolute().as_uri())
        page.wait_for_function("() => document.querySelector('.sliders').dataset.state === 'broken'")
        assert "cannot run the simulator" in page.locator(".sliders .said").inner_text()
    (folder / "seen.json").write_text(json.dumps(seen))
    print(f"{len(seen)} settings of sliders; the page shows the next in {middle(sorted(one['took'] for one in seen)):.0f} ms")


def ui(folder):
    """The page of `slowpath ui`: a capture, a form, a mistake, a run, a reload, a comparison, Japanese, a phone."""
    address = (folder / "address").read_text()
    own = address.split("/?")[0]
    with browser() as running:
        context = running.new_context(viewport=DESKTOP, reduced_motion="reduce", locale="en-GB")
        page = context.new_page()
        looked = Looked(page)
        page.goto(address)
        assert page.url == f"{own}/", page.url
        expect(page.get_by_role("heading", name="Explain a capture")).to_be_visible()

        # A capture, and its report in a frame that may ask nothing of the page.
        page.locator("#files").set_input_files(folder / "narrow.pcapng")
        entry = page.locator("#entries li").first
        expect(entry).to_have_class("done", timeout=60_000)
        expect(entry.locator(".words")).to_contain_text("window")
        entry.get_by_role("link", name="Report").click()
        frame = page.frame_locator("#frame")
        expect(frame.locator("h1").first).to_be_visible(timeout=30_000)
        inside = next(f for f in page.frames if f.url.endswith("/report"))
        assert inside.evaluate("self.origin") == "null", "the report counts as the page itself"
        asked = inside.evaluate("fetch('/api/entries').then(r => r.status, error => 'refused')")
        assert asked == "refused", asked
        # That attempt is the one complaint of the browser's that is wanted.
        looked.wrong = [wrong for wrong in looked.wrong if "Content Security Policy" not in wrong and "/api/entries" not in wrong]
        page.get_by_role("link", name="Back").click()

        # A form writes the file; a mistake is told with its line, and cannot be run.
        run = page.get_by_role("button", name="Run", exact=True)
        expect(run).to_be_enabled()
        page.locator("[name=rate]").fill("20 Mbt/s")
        expect(page.locator("#messages")).to_contain_text("write a rate such as")
        expect(run).to_be_disabled()
        expect(page.locator("#gutter b").first).to_be_visible()
        page.locator("[name=rate]").fill("20 Mbit/s")
        page.locator("[name=size]").fill("4 MB")
        expect(run).to_be_enabled()
        expect(page.locator("#text")).to_have_value(re.compile("20 Mbit/s.*4 MB", re.S))
        # What is typed by hand counts, and is checked as well.
        text = page.locator("#text").input_value()
        page.locator("#text").fill(text + "\nnonsense = 1\n")
        expect(run).to_be_disabled()
        expect(page.locator("#messages")).to_contain_text("nonsense")
        page.locator("#text").fill(text)
        expect(run).to_be_enabled()
        expect(page.locator("#variants input")).to_have_count(2)
        run.click()
        first = page.locator("#entries li").first
        expect(first).to_have_class("done", timeout=60_000)
        expect(page.locator("#entries li")).to_have_count(2)

        # A built-in one with one variant; the page is loaded again while it runs or waits.
        page.locator("#which").select_option("cisco-ftp")
        expect(page.locator("#question")).not_to_be_empty()
        page.locator("#variants-box summary").click()
        for box in page.locator("#variants input").all()[1:]:
            box.uncheck()
        run.click()
        expect(page.locator("#entries li")).to_have_count(3)
        page.reload()
        expect(page.locator("#entries li")).to_have_count(3)
        expect(page.locator("#entries li").first).to_have_class("done", timeout=60_000)
        expect(page.locator("#entries li").first.locator(".what")).to_contain_text("cisco-ftp")

        # Two are compared.
        for which in (0, 1):
            page.locator("#entries li input").nth(which).check()
        page.get_by_role("button", name="Compare").click()
        expect(page.locator("#view-text")).to_be_visible()
        assert len(page.locator("#view-text").inner_text()) > 40
        page.get_by_role("link", name="Back").click()

        # The keyboard reaches everything; nothing is wider than the page.
        names = page.evaluate("[...document.querySelectorAll('#start :is(button, input, select, textarea, a)')].filter(e => e.offsetParent && e.tabIndex < 0).map(e => e.id)")
        assert not names, names
        unnamed = page.evaluate("[...document.querySelectorAll('#start :is(button, input, select, textarea, a)')].filter(e => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map(e => e.outerHTML)")
        assert not unnamed, unnamed
        assert not overflow(page), overflow(page)
        shot(page, folder, "desktop")
        page.set_viewport_size(PHONE)
        assert not overflow(page), overflow(page)
        shot(page, folder, "phone")
        page.set_viewport_size(DESKTOP)

        # Japanese: nothing that can be read stays English, and it is kept.
        page.locator("#language").select_option("ja")
        expect(page.get_by_role("button", name="実行", exact=True)).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="実行", exact=True)).to_be_visible()
        english = page.evaluate("[...document.querySelectorAll('[data-t]')].map(e => e.textContent).filter(t => /[a-z]+ [a-z]+ [a-z]+/i.test(t))")
        assert not english, english
        shot(page, folder, "japanese")

        # Removed is removed, after a question.
        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("#entries li").last.get_by_role("button", name="削除").click()
        expect(page.locator("#entries li")).to_have_count(2)

        assert not looked.wrong, looked.wrong
        others = [url for url in looked.fetched if not url.startswith((own, "data:", "blob:"))]
        assert not others, f"fetched from elsewhere: {others}"


def shot(page, folder, name):
    """A picture where somebody wants to see it."""
    wanted = os.environ.get("SHOTS")
    if wanted:
        page.screenshot(path=str(Path(wanted) / f"ui-{name}.png"), full_page=True)


CHECKS = {check.__name__: check for check in (
    desktop, phone, dark, printed, keyboard, alternatives, buttons, interval, search, million, many, numbers, sliders, ui)}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: check.py {'|'.join(CHECKS)} FOLDER")
    try:
        CHECKS[sys.argv[1]](Path(sys.argv[2]))
    except AssertionError as error:
        import traceback
        traceback.print_exc()
        sys.exit(1)
