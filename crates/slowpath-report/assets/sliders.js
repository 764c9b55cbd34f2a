/* Sliders of a slowpath report: the fitted transfer, simulated again in the page. Needs uPlot, the program in the element
   "simulator", and what report.js leaves in document.slowpath. */
(() => {
"use strict";
const { told, colour, si, whole, UNITS, axisTicks, repaints } = document.slowpath;

// ---------------------------------------------------------------- the simulator

// It goes to a worker as text, and so names nothing outside of itself.
const simulator = () => {
  let compiled = null, running = null;
  const start = async () => { running = (await WebAssembly.instantiate(compiled, {})).exports; };
  return {
    async load(bytes) { compiled = await WebAssembly.compile(bytes); await start(); },
    async ask(question) {
      const text = new TextEncoder().encode(question);
      try {
        const at = running.room(text.length);
        new Uint8Array(running.memory.buffer, at, text.length).set(text);
        const length = running.answer();
        return new TextDecoder().decode(new Uint8Array(running.memory.buffer, running.place(), length));
      } catch (error) {
        // A program that stopped in the middle is begun anew.
        await start();
        return JSON.stringify({ error: String(error) });
      }
    },
  };
};

async function program() {
  const coded = atob(document.getElementById("simulator").textContent);
  const bytes = Uint8Array.from(coded, c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

// What answers questions: beside the page where the browser lets it, so that a long run holds nothing up.
async function engine() {
  const bytes = await program();
  try {
    const text = `const own = (${simulator})();
      onmessage = async ({ data }) => postMessage(await (data.question ? own.ask(data.question) : own.load(data.bytes).then(() => "ready", String)));`;
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    const ask = asked => new Promise((done, failed) => {
      worker.onmessage = ev => done(ev.data);
      worker.onerror = failed;
      worker.postMessage(asked);
    });
    const said = await ask({ bytes });
    if (said !== "ready") throw new Error(said);
    return question => ask({ question });
  } catch {
    const own = simulator();
    await own.load(bytes);
    return question => own.ask(question);
  }
}

// ---------------------------------------------------------------- one transfer

class Sliders {
  constructor(card) {
    this.card = card;
    this.given = JSON.parse(card.querySelector(".sliders-data").textContent);
    this.said = card.querySelector(".said");
    this.box = card.querySelector(".plot");
    this.reset = card.querySelector("[data-act=fitted]");
    this.command = card.querySelector(".asked code");
    this.cells = new Map([...card.querySelectorAll("[data-of]")].map(e => [e.dataset.of, e]));
    const { levers, choices } = this.given;
    this.levers = [...card.querySelectorAll(".lever")].map(element => {
      const { key } = element.dataset;
      const lever = levers.find(l => l.key === key), choice = choices.find(c => c.key === key);
      return lever ? new Lever(element, lever) : new Chosen(element, choice);
    });
    this.busy = false;
    this.wanted = null;
  }

  async begin() {
    for (const lever of this.levers) lever.control.disabled = true;
    this.tell();
    try {
      this.ask = await engine();
      this.fitted = await this.answer([]);
      if (this.fitted.error) throw new Error(this.fitted.error);
    } catch {
      this.card.dataset.state = "broken";
      this.said.textContent = told("This browser cannot run the simulator; it needs WebAssembly and DecompressionStream (2023 or newer).");
      return;
    }
    this.fill("fitted", this.fitted);
    this.draw(this.fitted);
    for (const lever of this.levers) {
      lever.control.disabled = false;
      lever.control.addEventListener("input", () => this.changed());
    }
    this.reset.addEventListener("click", () => {
      for (const lever of this.levers) lever.restore();
      this.changed();
    });
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(this.box);
    repaints.push(() => this.plot.redraw(false, true));
    this.card.dataset.state = "ready";
    this.changed();
  }

  async answer(changes) {
    const { experiment, variant, seed, at_sender, bytes } = this.given;
    return JSON.parse(await this.ask(JSON.stringify({ experiment, variant, seed, at_sender, bytes, changes })));
  }

  // One question at a time; of those that came meanwhile the last.
  async changed() {
    for (const lever of this.levers) lever.show();
    this.tell();
    this.wanted = { at: performance.now(), changes: this.changes() };
    if (this.busy) return;
    this.busy = true;
    while (this.wanted) {
      const { at, changes } = this.wanted;
      this.wanted = null;
      const answer = changes.length ? await this.answer(changes) : this.fitted;
      this.show(answer);
      this.card.dataset.took = (performance.now() - at).toFixed(1);
      this.card.dataset.shown = changes.join(" and ");
    }
    this.busy = false;
  }

  changes() { return this.levers.flatMap(lever => lever.change()); }

  // What gives an interval for the present values.
  tell() {
    const changes = this.changes();
    const quoted = text => /^[\w.\/-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
    this.command.textContent = `slowpath explain ${quoted(this.given.capture)} --what-if ${quoted(changes.join(" and ") || "usual")}`;
    this.reset.disabled = !changes.length || this.card.dataset.state !== "ready";
  }

  show(answer) {
    if (answer.error) {
      this.said.textContent = answer.error;
      return;
    }
    this.draw(answer);
    const ended = `${told("Duration")} ${UNITS.s(answer.duration_s)}, ${told("Goodput")} ${si(answer.goodput_bit_per_s, "bit/s")}`;
    this.said.textContent = answer.complete ? ended : told("It does not come to its end within the time that the simulation has.");
    this.said.classList.toggle("unseen", answer.complete);
  }

  fill(whose, answer) {
    const set = (what, value, text) => {
      const cell = this.cells.get(`${whose} ${what}`);
      cell.value = String(value);
      cell.textContent = value == null ? "–" : text(value);
    };
    const count = n => whole(n), bytes = UNITS.B;
    set("duration", answer.duration_s, v => (answer.complete === false ? "> " : "") + UNITS.s(v));
    set("bytes", answer.bytes, bytes);
    if (whose === "run") return set("resent", answer.retransmitted_segments, count);
    set("goodput", answer.goodput_bit_per_s, v => si(v, "bit/s"));
    set("resent", answer.resent, count);
  }

  draw(answer) {
    this.fill("now", answer);
    this.fill("run", answer.run);
    this.card.querySelector(".counted").hidden = false;
    const { captured } = this.given;
    const lines = [[captured.curve_s, captured.curve_bytes], [this.fitted.curve_s, this.fitted.curve_bytes], [answer.curve_s, answer.curve_bytes]];
    const last = Math.max(...lines.map(([x]) => x[x.length - 1] || 0));
    this.across = [0, last * 1.02 || 1];
    this.up = [0, Math.max(...lines.map(([, y]) => y[y.length - 1] || 0)) * 1.04 || 1];
    const data = uPlot.join(lines);
    if (this.plot) this.plot.setData(data, true);
    else this.make(data);
    const duration = a => UNITS.s(a.duration_s);
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${told("Time and sequence")}: ${told("Captured")} ${duration(captured)}; ${told("As fitted")} ${duration(this.fitted)}; ${told("Now")} ${duration(answer)}`);
  }

  size() { return { width: Math.max(200, this.box.clientWidth), height: Math.max(140, this.box.clientHeight) }; }

  make(data) {
    const narrow = this.box.clientWidth < 420;
    const axis = {
      stroke: () => colour("--muted"),
      grid: { stroke: () => colour("--grid"), width: 1 },
      ticks: { show: false },
      font: "11px " + (getComputedStyle(document.body).fontFamily || "sans-serif"),
      gap: 4,
    };
    const line = (name, more) => ({ stroke: () => colour(name), spanGaps: true, points: { show: false }, ...more });
    this.plot = new uPlot({
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 18, 0, 0],
      scales: { x: { time: false, range: () => this.across }, y: { range: () => this.up } },
      axes: [
        { ...axis, size: 26, space: narrow ? 60 : 80, values: (_, v) => v.map(t => +t.toPrecision(8) + " s") },
        { ...axis, size: narrow ? 56 : 66, space: 34, values: (_, v) => axisTicks(v, "B") },
      ],
      series: [{}, line("--faint", { width: 5, alpha: 0.45 }), line("--c-ack", { width: 1.5, dash: [5, 4] }), line("--c-data", { width: 2.25 })],
    }, data, this.box);
  }
}

// A number: its values stand in a list, of which the slider gives the place.
class Lever {
  constructor(element, { key, stops, fitted }) {
    Object.assign(this, { element, key, stops, fitted });
    this.control = element.querySelector("input");
    this.output = element.querySelector("output");
    // In the page's language.
    this.shown = this.output.textContent;
    this.restore();
  }
  get place() { return +this.control.value; }
  restore() { this.control.value = this.fitted; }
  change() { return this.place === this.fitted ? [] : [`${this.key}=${this.stops[this.place]}`]; }
  show() {
    const text = this.place === this.fitted ? this.shown : this.stops[this.place];
    this.output.textContent = text;
    this.control.setAttribute("aria-valuetext", text);
    this.element.classList.toggle("moved", this.place !== this.fitted);
  }
}

// One of several; the first is the fitted one.
class Chosen {
  constructor(element, { key }) {
    Object.assign(this, { element, key });
    this.control = element.querySelector("select");
    this.restore();
  }
  restore() { this.control.selectedIndex = 0; }
  change() { return this.control.selectedIndex ? [`${this.key}=${this.control.value}`] : []; }
  show() { this.element.classList.toggle("moved", this.control.selectedIndex > 0); }
}

const later = window.requestIdleCallback || (f => setTimeout(f, 50));
for (const card of document.querySelectorAll(".sliders")) {
  card.sliders = new Sliders(card);
  later(() => card.sliders.begin());
}
})();
