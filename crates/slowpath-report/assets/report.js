/* The graphs of a slowpath report. Needs uPlot; reads the elements of class "graphs-data". */
(() => {
"use strict";

// ---------------------------------------------------------------- words

// What this script shows, in the page's language; a page in English has no table.
const WORDS = JSON.parse((document.getElementById("words") || {}).textContent || "{}");
const told = english => WORDS[english] || english;

// ---------------------------------------------------------------- colours

const root = document.documentElement;
let colours = new Map();
const colour = name => {
  if (!colours.has(name)) colours.set(name, getComputedStyle(root).getPropertyValue(name).trim() || "#888");
  return colours.get(name);
};
const limitColour = limit => colour("--l-" + limit);
const alpha = (hex, a) => {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16 & 255},${n >> 8 & 255},${n & 255},${a})`;
};

// ---------------------------------------------------------------- numbers

const digits = (v, n) => {
  const a = Math.abs(v);
  if (a >= 100) return v.toFixed(Math.max(0, n - 3));
  if (a >= 10) return v.toFixed(Math.max(0, n - 2));
  return v.toFixed(Math.max(0, n - 1));
};
const PREFIX = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const si = (v, unit, n = 4) => {
  if (v == null || !isFinite(v)) return "–";
  if (v === 0) return "0 " + unit;
  const [size, prefix] = PREFIX.find(p => Math.abs(v) >= p[0]) || PREFIX[3];
  return digits(v / size, n) + " " + prefix + unit;
};
const whole = v => Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const UNITS = {
  "bit/s": v => si(v, "bit/s"),
  "B": v => v == null ? "–" : whole(v) + " B",
  "s": v => v == null ? "–" : v >= 1 ? digits(v, 4) + " s" : digits(v * 1e3, 4) + " ms",
};
// Ticks of one axis share one prefix, so that they can be compared.
const axisTicks = (values, unit) => {
  const top = Math.max(...values.map(Math.abs));
  if (unit === "s") {
    const ms = top < 1;
    return values.map(v => +(v * (ms ? 1e3 : 1)).toPrecision(6) + (ms ? " ms" : " s"));
  }
  const [size, prefix] = PREFIX.find(p => top >= p[0]) || PREFIX[3];
  return values.map(v => v === 0 ? "0" : +(v / size).toPrecision(6) + " " + prefix + (unit === "B" ? "B" : ""));
};
const clock = (t, span) => {
  const places = span > 100 ? 0 : span > 10 ? 1 : span > 1 ? 2 : span > 0.1 ? 3 : span > 0.01 ? 4 : 6;
  return t.toFixed(places) + " s";
};

// ---------------------------------------------------------------- data

async function unpack(packed) {
  const coded = atob(packed.data);
  const bytes = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) bytes[i] = coded.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const plain = new Uint8Array(await new Response(stream).arrayBuffer());
  let at = 0;
  const column = (rows, scale) => {
    const out = new Float64Array(rows);
    let value = 0;
    for (let r = 0; r < rows; r++) {
      let word = 0, size = 1, byte;
      do { byte = plain[at++]; word += (byte & 127) * size; size *= 128; } while (byte > 127);
      value += word % 2 ? -(word + 1) / 2 : word / 2;
      out[r] = value * scale;
    }
    return out;
  };
  const streams = {};
  for (const [name, rows, columns] of packed.streams) {
    streams[name] = [column(rows, packed.tick)];
    for (let c = 1; c < columns; c++) streams[name].push(column(rows, 1));
  }
  return streams;
}

// A pyramid of minima and maxima: every level has a quarter of the blocks of the one below, so drawing and
// fitting touch a few thousand values however many points there are.
class Series {
  constructor(spec, x, lo, hi) {
    Object.assign(this, spec);
    this.x = x;
    this.shown = true;
    this.levels = [{ lo, hi, step: 1 }];
    for (let l = lo, h = hi, step = 4; l.length > 512; step *= 4) {
      const n = Math.ceil(l.length / 4), L = new Float64Array(n), H = new Float64Array(n);
      for (let i = 0; i < n; i++) {
        let a = Infinity, b = -Infinity;
        for (let k = 4 * i; k < Math.min(4 * i + 4, l.length); k++) { if (l[k] < a) a = l[k]; if (h[k] > b) b = h[k]; }
        L[i] = a; H[i] = b;
      }
      this.levels.push({ lo: L, hi: H, step });
      l = L; h = H;
    }
  }
  get n() { return this.x.length; }
  // First index with x >= v.
  from(v) {
    let a = 0, b = this.n;
    while (a < b) { const m = a + b >> 1; if (this.x[m] < v) a = m + 1; else b = m; }
    return a;
  }
  // Visible indices, with one neighbour each side.
  range(x0, x1) {
    return [Math.max(0, this.from(x0) - 1), Math.min(this.n, this.from(x1) + 1)];
  }
  // The finest level with at most `blocks` blocks between two indices.
  level(i0, i1, blocks) {
    let k = 0;
    while (k + 1 < this.levels.length && (i1 - i0) / this.levels[k].step > blocks) k++;
    return this.levels[k];
  }
  extent(x0, x1) {
    // Points are wanted inside the view; lines are also seen through their neighbours outside of it.
    let [i0, i1] = this.range(x0, x1);
    if (this.kind === "dots" || this.kind === "segment") { i0 = this.from(x0); i1 = this.from(x1); }
    if (i1 <= i0) return null;
    const { lo, hi, step } = this.level(i0, i1, 2048);
    let a = Infinity, b = -Infinity;
    for (let k = Math.floor(i0 / step); k <= Math.floor((i1 - 1) / step); k++) {
      if (lo[k] < a) a = lo[k];
      if (hi[k] > b) b = hi[k];
    }
    return a <= b ? [a, b] : null;
  }
  // The value at a time: of the last point at or before it.
  at(t) {
    const i = this.from(t + 1e-12) - 1;
    return i < 0 ? null : this.levels[0].hi[i];
  }
  draw(ctx, view) {
    const { x0, x1, px, py, ratio, width } = view;
    const [i0, i1] = this.range(x0, x1);
    if (i1 <= i0) return;
    const { lo, hi, step } = this.level(i0, i1, 2 * width / ratio);
    const b0 = Math.floor(i0 / step), b1 = Math.floor((i1 - 1) / step);
    const ink = colour(this.colour);
    ctx.strokeStyle = ctx.fillStyle = ink;
    ctx.lineWidth = (this.width || 1.5) * ratio;
    ctx.lineJoin = "round";
    ctx.setLineDash((this.dash || []).map(d => d * ratio));
    ctx.beginPath();
    const X = k => px(this.x[Math.min(k * step, this.n - 1)]);
    // Calls `each(x, lo, hi)` for every block; one whose points lie apart in time is no block but its points.
    const points = each => {
      const finest = this.levels[0];
      for (let k = b0; k <= b1; k++) {
        const i = k * step, j = Math.min(i + step, this.n) - 1;
        if (step === 1 || px(this.x[j]) - px(this.x[i]) <= 3 * ratio) each(X(k), lo[k], hi[k]);
        else for (let p = i; p <= j; p++) each(px(this.x[p]), finest.lo[p], finest.hi[p]);
      }
    };
    switch (this.kind) {
      case "step": case "line": case "area": {
        const stepped = this.kind !== "line" && step === 1;
        let last = null, first = null;
        // Neighbours outside stand at the edge: a dashed line that runs on far beyond it takes long to draw.
        const edges = [px(x0) - 9 * ratio, px(x1) + 9 * ratio], bent = this.kind === "line" && step === 1 && b1 > b0;
        for (let k = b0; k <= b1; k++) {
          let x = X(k), a = py(lo[k]), b = py(hi[k]);
          const beyond = bent && (k === b0 && x < edges[0] ? 1 : k === b1 && x > edges[1] ? -1 : 0);
          if (beyond) {
            const other = X(k + beyond), edge = beyond > 0 ? edges[0] : edges[1];
            a = b = a + (py(lo[k + beyond]) - a) * (edge - x) / (other - x || 1);
            x = edge;
          }
          if (last === null) { ctx.moveTo(x, a); first = x; }
          else if (stepped) { ctx.lineTo(x, last); ctx.lineTo(x, a); }
          else ctx.lineTo(x, a);
          if (b !== a) ctx.lineTo(x, b);
          last = b;
        }
        if (this.kind === "area") {
          const end = Math.min(px(this.x[Math.min(this.n - 1, i1)] + (step === 1 ? this.bin || 0 : 0)), px(x1) + 4);
          ctx.lineTo(end, last);
          ctx.stroke();
          ctx.lineTo(end, py(0)); ctx.lineTo(first, py(0)); ctx.closePath();
          ctx.globalAlpha = 0.16; ctx.fill(); ctx.globalAlpha = 1;
          return;
        }
        if (stepped) ctx.lineTo(px(x1), last);
        ctx.stroke();
        break;
      }
      case "dots": {
        const s = (this.width || 2) * ratio;
        points((x, low, high) => {
          const a = py(high);
          ctx.rect(x - s / 2, a - s / 2, s, step === 1 ? s : Math.max(s, py(low) - a + s));
        });
        ctx.fill();
        break;
      }
      case "segment": {
        if (step > 1) ctx.lineWidth = Math.max(ctx.lineWidth, 2.5 * ratio);
        const wide = step === 1 && (px(x1) - px(x0)) / (b1 - b0 + 1) > 7 * ratio;
        points((x, low, high) => {
          const a = py(low), b = py(high);
          ctx.moveTo(x, a); ctx.lineTo(x, Math.min(b, a - ratio));
          // As tcptrace draws it: arrow heads where there is room for them.
          if (wide) {
            const h = 2.5 * ratio;
            ctx.moveTo(x - h, a - h); ctx.lineTo(x, a); ctx.lineTo(x + h, a - h);
            ctx.moveTo(x - h, b + h); ctx.lineTo(x, b); ctx.lineTo(x + h, b + h);
          }
        });
        ctx.stroke();
        if (this.mark && b1 - b0 < 40) {
          ctx.beginPath();
          const h = 4 * ratio;
          for (let k = b0; k <= b1; k++) {
            const x = X(k), y = py(lo[k]) + 2 * ratio;
            ctx.moveTo(x, y); ctx.lineTo(x - h, y + 1.7 * h); ctx.lineTo(x + h, y + 1.7 * h); ctx.closePath();
          }
          ctx.fill();
        }
        break;
      }
    }
  }
}

const line = (spec, [x, y], scale = 1) => {
  const v = scale === 1 ? y : y.map(u => u * scale);
  return new Series({ kind: "line", ...spec }, x, v, v);
};

const total = values => values.reduce((sum, v) => sum + v, 0);

// Intervals that the I/O graph can have: its own, whole multiples of it that are 1, 2 or 5 times a power of ten, and such
// fractions as still hold four segments on the average.
function intervals(s, own, span) {
  const points = s.segments[0].length + s.retransmissions[0].length;
  const least = Math.max(4 * span / Math.max(points, 1), 1e-4), most = span / 5;
  const multiple = w => Math.abs(w / own - Math.round(w / own)) < 1e-6;
  const found = new Set([own]);
  for (let power = -4; power <= 5; power++)
    for (const factor of [1, 2, 5]) {
      const w = +(factor * 10 ** power).toPrecision(1);
      if (w < own * 0.999 ? w >= least : w <= most && multiple(w)) found.add(w);
    }
  return [...found].sort((a, b) => a - b);
}

// What went over the wire in intervals of another width: start, bytes, bytes the other way, and segments sent again.
// Whole multiples join what was counted; fractions share it out by the segments and acknowledgements in them.
function counted(s, own, wide) {
  if (wide === own || !s.io[0].length) return [s.io[0], s.io[1], s.io[2], s.io[4]];
  const base = Math.floor(s.io[0][0] / wide + 1e-9) * wide;
  const rows = Math.floor((s.io[0][s.io[0].length - 1] + own - base) / wide - 1e-9) + 1;
  const out = [0, 0, 0, 0].map(() => new Float64Array(rows));
  const place = t => Math.min(Math.max(Math.floor((t - base) / wide + 1e-9), 0), rows - 1);
  for (let i = 0; i < rows; i++) out[0][i] = base + i * wide;
  if (wide > own) {
    s.io[0].forEach((t, i) => { const at = place(t); out[1][at] += s.io[1][i]; out[2][at] += s.io[2][i]; out[3][at] += s.io[4][i]; });
    return out;
  }
  const whole = total(s.io[1]) / (total(s.segments[2]) + total(s.retransmissions[2]) || 1);
  for (const stream of [s.segments, s.retransmissions])
    stream[0].forEach((t, i) => { out[1][place(t)] += stream[2][i] * whole; });
  const each = total(s.io[2]) / (s.acks[0].length || 1);
  s.acks[0].forEach(t => { out[2][place(t)] += each; });
  s.retransmissions[0].forEach(t => { out[3][place(t)]++; });
  return out;
}

function ioPlot(s, own, wide) {
  const [x, bytes, back, resent] = counted(s, own, wide);
  const rate = 8 / (wide || 1);
  const some = resent.some(v => v > 0);
  const at = values => values.filter((_, i) => resent[i] > 0);
  const level = at(bytes).map(v => v * rate);
  return { unit: "bit/s", zero: true, series: [
    line({ name: told("data"), colour: "--c-data", kind: "area", bin: wide }, [x, bytes], rate),
    line({ name: told("the other way"), colour: "--c-ack", kind: "step", width: 1 }, [x, back], rate),
    ...(some ? [new Series({ kind: "dots", name: told("retransmissions"), colour: "--c-again", width: 5, unit: "", count: true }, at(x), level, level)] : []),
  ]};
}

function plots(s, bin) {
  const sum = (a, b) => a.map((v, i) => v + b[i]);
  const segments = ([x, from, size], spec) => new Series({ kind: "segment", ...spec }, x, from, sum(from, size));
  return {
    sequence: { unit: "B", zero: false, series: [
      line({ name: told("window edge"), colour: "--c-window", kind: "step", loose: true }, s.edge),
      line({ name: told("acknowledged"), colour: "--c-ack", kind: "step" }, s.acks),
      segments(s.segments, { name: told("sent"), colour: "--c-data", width: 1.5 }),
      segments(s.retransmissions, { name: told("sent again"), colour: "--c-again", width: 3, mark: true, sparse: true }),
      ...(s.sack ? [segments(s.sack, { name: told("selectively acknowledged"), colour: "--c-sack", width: 2, sparse: true })] : []),
    ]},
    io: ioPlot(s, bin, bin),
    throughput: { unit: "bit/s", zero: true, series: [
      line({ name: told("sent"), colour: "--c-data", width: 1, dash: [4, 3] }, s.throughput, 8),
      line({ name: told("delivered"), colour: "--c-window", width: 2 }, s.goodput, 8),
    ]},
    rtt: { unit: "s", zero: true, series: [
      line({ name: told("round trip"), colour: "--c-data", kind: "dots", width: 2 }, s.rtt, 1e-9),
    ]},
    window: { unit: "B", zero: true, series: [
      line({ name: told("advertised window"), colour: "--c-window", kind: "step", width: 2 }, s.window),
      line({ name: told("in flight"), colour: "--c-data", kind: "step", width: 1 }, s.flight),
    ]},
  };
}

// ---------------------------------------------------------------- one graph

class Chart {
  // `lens` makes a chart that magnifies another one's series over a span of its own.
  constructor(group, element, plot, lens) {
    this.group = group;
    this.element = element;
    if (lens) {
      Object.assign(this, { unit: plot.unit, zero: plot.zero, series: lens.series, box: element.querySelector(".lens .plot"), lens: true });
      this.make();
      return;
    }
    this.box = element.querySelector(".plot");
    this.legend = element.querySelector(".legend");
    this.title = element.querySelector("h4").firstChild.textContent.trim();
    this.take(plot);
    for (const button of element.querySelectorAll("[data-save]")) button.disabled = !this.series.length;
    if (!this.series.length) {
      this.box.innerHTML = `<p class="nothing">${told("Nothing to draw: the capture does not show this.")}</p>`;
      return;
    }
    this.make();
    this.describe();
  }

  // Shows these series from now on.
  take(plot) {
    this.unit = plot.unit;
    this.zero = plot.zero;
    this.series = plot.series.filter(s => s.n > 0);
    this.makeLegend();
    this.update();
    if (this.plot) this.describe();
  }

  // What the picture shows, for those who do not see it.
  describe() {
    const { x0, x1 } = this.group, unit = UNITS[this.unit], span = x1 - x0;
    const lines = this.series.filter(s => s.shown).map(s => {
      const e = s.extent(x0, x1);
      return e && !s.count ? `${s.name} ${unit(e[0])} to ${unit(e[1])}` : s.name;
    });
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${this.title}, ${clock(x0, span)} to ${clock(x1, span)}: ${lines.join("; ")}`);
  }

  makeLegend() {
    this.legend.replaceChildren(...this.series.map(s => {
      const item = document.createElement("button");
      item.type = "button";
      item.className = "key";
      item.setAttribute("aria-pressed", "true");
      item.title = told("Show or hide");
      const swatch = document.createElement("span");
      swatch.className = "swatch " + s.kind + (s.dash ? " dashed" : "");
      swatch.style.setProperty("--c", `var(${s.colour})`);
      const name = document.createElement("span");
      name.textContent = s.name;
      s.readout = document.createElement("span");
      s.readout.className = "value";
      item.append(swatch, name, s.readout);
      item.addEventListener("click", () => {
        s.shown = !s.shown;
        item.setAttribute("aria-pressed", s.shown);
        this.update();
        this.describe();
        if (this.group.lens && this.element.contains(this.group.lens.box)) this.group.lens.update();
      });
      return item;
    }));
  }

  size() {
    return { width: Math.max(200, this.box.clientWidth), height: Math.max(120, this.box.clientHeight) };
  }

  make() {
    const narrow = this.box.clientWidth < 420;
    const axis = {
      stroke: () => colour("--muted"),
      grid: { stroke: () => colour("--grid"), width: 1 },
      ticks: { show: false },
      font: "11px " + (getComputedStyle(document.body).fontFamily || "sans-serif"),
      gap: 4,
    };
    const { group } = this;
    this.fit();
    this.plot = new uPlot({
      ...this.size(),
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: {
        sync: this.lens ? undefined : { key: group.key, scales: ["x", null] },
        drag: { x: !this.lens, y: false, setScale: false, dist: 4 },
        points: { show: false },
        y: false,
        bind: { dblclick: () => () => { group.reset(); return null; } },
      },
      scales: { x: { time: false, range: () => [group.x0, group.x1] }, y: { range: () => this.yRange } },
      axes: [
        { ...axis, size: 26, space: this.lens ? 70 : narrow ? 60 : 80, values: (_, v) => v.map(t => +t.toPrecision(8) + (narrow ? "" : " s")) },
        { ...axis, size: narrow ? 56 : 66, space: 34, values: (_, v) => axisTicks(v, this.unit) },
      ],
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      hooks: {
        drawClear: [u => this.drawLimits(u, false)],
        draw: [u => this.draw(u)],
        setSelect: [u => {
          const { left, width } = u.select;
          if (width < 4) return;
          const [a, b] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          group.show(a, b);
        }],
        setCursor: [u => this.read(u)],
      },
    }, [[group.x0, group.x1], [null, null]], this.box);
    this.listen();
  }

  // Vertical range of what is visible; a far window edge must not press everything else flat.
  fit() {
    const { x0, x1 } = this.group;
    let lo = Infinity, hi = -Infinity;
    const shown = this.series.filter(s => s.shown);
    const take = e => { if (e) { lo = Math.min(lo, e[0]); hi = Math.max(hi, e[1]); } };
    shown.filter(s => !s.loose).forEach(s => take(s.extent(x0, x1)));
    for (const s of shown.filter(s => s.loose)) {
      const e = s.extent(x0, x1);
      if (!e) continue;
      if (lo > hi || e[1] - lo <= 4 * (hi - lo)) take(e);
    }
    if (lo > hi) { lo = 0; hi = 1; }
    if (this.zero) lo = Math.min(0, lo);
    const room = (hi - lo || Math.abs(hi) || 1) * 0.06;
    this.yRange = [this.zero && lo === 0 ? 0 : lo - room, hi + room];
  }

  update() {
    if (!this.plot) return;
    this.fit();
    this.plot.setData([[this.group.x0, this.group.x1], [null, null]], true);
  }

  resize() { if (this.plot) this.plot.setSize(this.size()); }

  view(u) {
    const { left, top, width, height } = u.bbox, { x0, x1 } = this.group, [y0, y1] = this.yRange;
    const kx = width / (x1 - x0), ky = height / (y1 - y0);
    return { x0, x1, width, height, left, top, ratio: uPlot.pxRatio,
      px: x => left + (x - x0) * kx, py: y => top + height - (y - y0) * ky };
  }

  clip(u, paint) {
    const { left, top, width, height } = u.bbox, ctx = u.ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    paint(ctx, this.view(u));
    ctx.restore();
  }

  // Tinted spans behind the curves; as `band` the line along the upper edge.
  drawLimits(u, band) {
    this.clip(u, (ctx, v) => {
      for (const [a, b, limit] of this.group.limits) {
        if (b < v.x0 || a > v.x1) continue;
        const left = v.px(Math.max(a, v.x0)), right = v.px(Math.min(b, v.x1));
        const ink = limitColour(limit);
        if (band) { ctx.fillStyle = ink; ctx.fillRect(left, v.top, Math.max(right - left, 1), 3 * v.ratio); }
        else { ctx.fillStyle = alpha(ink, 0.07); ctx.fillRect(left, v.top, right - left, v.height); }
      }
    });
  }

  draw(u) {
    this.drawLimits(u, true);
    if (!this.lens && this.group.lens && this.element.dataset.plot === "sequence") {
      const { x0, x1 } = this.group.lens.group;
      this.clip(u, (ctx, v) => {
        ctx.fillStyle = alpha(colour("--ink"), 0.09);
        const left = v.px(x0);
        ctx.fillRect(left, v.top, Math.max(v.px(x1) - left, 2 * v.ratio), v.height);
      });
    }
    this.clip(u, (ctx, v) => { for (const s of this.series) if (s.shown) s.draw(ctx, v); });
  }

  read(u) {
    if (this.lens) return;
    const inside = u.cursor.left != null && u.cursor.left >= 0;
    const t = inside ? u.posToVal(u.cursor.left, "x") : null;
    for (const s of this.series) {
      if (s.sparse || s.count) continue;
      const v = inside ? s.at(t) : null;
      s.readout.textContent = v == null ? "" : UNITS[this.unit](v);
    }
    if (inside) { this.group.tell(t); this.group.magnify(t); }
  }

  listen() {
    if (this.lens) {
      this.plot.over.title = told("Click to show these ten round trips in all graphs");
      this.plot.over.addEventListener("click", () => this.group.whole.show(this.group.x0, this.group.x1));
      return;
    }
    const over = this.plot.over, { group } = this;
    const time = ev => this.plot.posToVal(ev.clientX - over.getBoundingClientRect().left, "x");
    over.addEventListener("wheel", ev => {
      if (!(ev.ctrlKey || ev.metaKey || ev.shiftKey)) return;
      ev.preventDefault();
      const move = ev.deltaY || ev.deltaX;
      if (ev.shiftKey) group.pan(move > 0 ? 0.1 : -0.1);
      else group.zoom(move > 0 ? 1.25 : 0.8, time(ev));
    }, { passive: false });
    // Two fingers zoom, one finger moves sideways once zoomed; up and down scroll the page as ever.
    const fingers = new Map();
    let start = null;
    over.style.touchAction = "pan-y";
    const begin = () => { start = { x0: group.x0, x1: group.x1, at: [...fingers.values()] }; };
    over.addEventListener("pointerdown", ev => {
      if (ev.pointerType !== "touch") return;
      fingers.set(ev.pointerId, ev.clientX); begin();
    });
    over.addEventListener("pointermove", ev => {
      if (!fingers.has(ev.pointerId)) return;
      fingers.set(ev.pointerId, ev.clientX);
      const now = [...fingers.values()], width = over.clientWidth, span = start.x1 - start.x0;
      if (now.length === 1) {
        const move = (start.at[0] - now[0]) / width * span;
        group.show(start.x0 + move, start.x1 + move, true);
      } else {
        const left = over.getBoundingClientRect().left;
        const [a, b] = [Math.min(...start.at), Math.max(...start.at)], [c, d] = [Math.min(...now), Math.max(...now)];
        const factor = Math.max(20, b - a) / Math.max(20, d - c);
        const centre = start.x0 + ((a + b) / 2 - left) / width * span;
        group.show(centre - ((c + d) / 2 - left) / width * span * factor,
          centre + (1 - ((c + d) / 2 - left) / width) * span * factor);
      }
    });
    for (const name of ["pointerup", "pointercancel"])
      over.addEventListener(name, ev => { fingers.delete(ev.pointerId); if (fingers.size) begin(); });
  }
}

// ---------------------------------------------------------------- the five graphs of one run

let groups = 0;

class Group {
  constructor(element) {
    this.element = element;
    this.key = "g" + groups++;
    this.sets = [...element.querySelectorAll("script.graphs-data")];
    this.charts = [];
    this.where = element.querySelector(".where");
    this.strip = element.querySelector(".strip");
    const act = {
      in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.pan(-0.5), right: () => this.pan(0.5),
      all: () => this.reset(), rounds: () => this.rounds(),
    };
    for (const button of element.querySelectorAll("[data-act]"))
      button.addEventListener("click", () => act[button.dataset.act]());
    this.pick = element.querySelector("select[data-pick]");
    if (this.pick) this.pick.addEventListener("change", () => this.load(+this.pick.value));
    this.interval = element.querySelector("select[data-interval]");
    if (this.interval) this.interval.addEventListener("change", () => this.count(+this.interval.value));
    for (const button of element.querySelectorAll("[data-save]"))
      button.addEventListener("click", () => {
        const chart = this.charts.find(c => c.element.contains(button));
        if (chart && chart.plot) save(chart, button.dataset.save);
      });
    element.addEventListener("keydown", ev => {
      if (ev.target.closest("select, input")) return;
      const what = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all", Escape: "all" }[ev.key];
      if (!what || ev.ctrlKey || ev.metaKey || ev.altKey) return;
      ev.preventDefault();
      act[what]();
    });
  }

  start() { return this.started ??= this.load(this.pick ? +this.pick.value : 0); }

  // Gives back what the graphs take while nobody sees them.
  stop() {
    this.loading = null;
    this.started = undefined;
    for (const chart of this.all()) if (chart.plot) chart.plot.destroy();
    this.charts = [];
    this.lens = this.streams = null;
  }

  async load(which) {
    const loading = this.loading = {};
    try {
      const packed = JSON.parse(this.sets[which].textContent);
      const streams = await unpack(packed);
      // Another one was asked for meanwhile, or none.
      if (this.loading !== loading) return;
      this.label = packed.label;
      this.streams = streams;
      this.bin = packed.bin;
      this.full = packed.span;
      [this.x0, this.x1] = packed.span;
      this.limits = packed.limits;
      const trips = streams.rtt[1].slice().sort();
      this.rtt = trips.length ? trips[trips.length >> 1] * 1e-9 : (this.x1 - this.x0) / 100;
      const all = plots(streams, packed.bin);
      for (const chart of this.all()) if (chart.plot) chart.plot.destroy();
      this.lens = null;
      this.charts = [...this.element.querySelectorAll("[data-plot]")].map(e => {
        for (const box of e.querySelectorAll(".plot")) box.replaceChildren();
        return new Chart(this, e, all[e.dataset.plot]);
      });
      this.makeLens(all.sequence);
      this.offer();
      this.paintStrip();
      this.tell(null);
    } catch (error) {
      for (const box of this.element.querySelectorAll(".plot"))
        box.innerHTML = `<p class="nothing">${told("This browser cannot unpack the data; it needs DecompressionStream (2023 or newer).")}</p>`;
      console.error(error);
    }
  }

  // The intervals that this run's I/O graph can have.
  offer() {
    if (!this.interval) return;
    const name = w => UNITS.s(w).replace(/\.?0+ /, " ");
    this.interval.replaceChildren(...intervals(this.streams, this.bin, this.full[1] - this.full[0]).map(w => new Option(name(w), w, w === this.bin, w === this.bin)));
  }
  count(wide) {
    const chart = this.charts.find(c => c.element.dataset.plot === "io");
    if (chart && chart.plot) chart.take(ioPlot(this.streams, this.bin, wide));
  }

  all() { return this.lens ? [...this.charts, this.lens] : this.charts; }

  // Ten round trips at their own scale, beside the whole: there the rhythm is to be seen that the whole hides.
  makeLens(plot) {
    const main = this.charts.find(c => c.element.dataset.plot === "sequence");
    const pair = this.element.querySelector(".pair");
    const useful = main && main.plot && this.rtt > 0 && this.full[1] - this.full[0] > 20 * this.rtt;
    pair.classList.toggle("alone", !useful);
    if (!useful) { if (main) main.resize(); return; }
    const span = { key: this.key + "l", limits: this.limits, whole: this, reset: () => {} };
    Object.assign(span, this.lensSpan((this.full[0] + this.full[1]) / 2));
    this.lens = new Chart(span, main.element, plot, main);
    this.magnify((this.full[0] + this.full[1]) / 2);
  }
  lensSpan(t) {
    const half = Math.min(5 * this.rtt, (this.full[1] - this.full[0]) / 2);
    const middle = Math.min(Math.max(t, this.full[0] + half), this.full[1] - half);
    return { x0: middle - half, x1: middle + half };
  }
  magnify(t) {
    if (!this.lens) return;
    this.lensAt = t;
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (!this.lens) return;
      Object.assign(this.lens.group, this.lensSpan(this.lensAt));
      this.lens.update();
      const main = this.charts.find(c => c.element.dataset.plot === "sequence");
      main.plot.redraw(false, false);
      this.element.querySelector(".lens-where").textContent =
        told("10 round trips at") + " " + clock(this.lensAt, this.x1 - this.x0);
    });
  }

  // Shows a span of time; `slide` keeps its length at the ends.
  show(a, b, slide) {
    const [f0, f1] = this.full;
    let span = Math.min(Math.max(b - a, 1e-5), f1 - f0);
    if (slide) { a = Math.min(Math.max(a, f0), f1 - span); }
    else { a = Math.max(a, f0); b = Math.min(b, f1); span = Math.max(b - a, 1e-5); }
    this.x0 = a;
    this.x1 = a + span;
    // Drawn once a frame, however many events come.
    this.drawing ??= requestAnimationFrame(() => {
      this.drawing = null;
      if (!this.charts.length) return;
      // What is not on the screen waits until nothing moves.
      for (const chart of this.charts) {
        const { top, bottom } = chart.box.getBoundingClientRect();
        chart.late = bottom < 0 || top > innerHeight;
        if (!chart.late) chart.update();
      }
      this.magnify((this.x0 + this.x1) / 2);
      this.slideStrip();
      this.tell(null);
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.rest(), 150);
    });
  }
  rest() {
    for (const chart of this.charts) {
      if (chart.late) chart.update();
      chart.late = false;
      if (chart.plot) chart.describe();
    }
    this.paintStrip();
  }
  zoom(factor, at = (this.x0 + this.x1) / 2) {
    this.show(at - (at - this.x0) * factor, at + (this.x1 - at) * factor);
  }
  pan(share) {
    const move = (this.x1 - this.x0) * share;
    this.show(this.x0 + move, this.x1 + move, true);
  }
  reset() { this.show(...this.full); }
  // Ten round trips: the scale at which windows, flights and waiting are to be seen.
  rounds() {
    const middle = (this.x0 + this.x1) / 2;
    this.show(middle - 5 * this.rtt, middle + 5 * this.rtt, true);
  }

  tell(t) {
    const span = this.x1 - this.x0, [f0, f1] = this.full;
    const text = t != null ? told("at") + " " + clock(t, span)
      : span >= (f1 - f0) * 0.9999 ? told("all of") + " " + clock(f1 - f0, f1 - f0)
      : clock(this.x0, span) + " " + told("to") + " " + clock(this.x1, span);
    if (this.where) this.where.textContent = text;
  }

  // What limited the transfer when, as a band over the graphs; a click shows that interval.
  paintStrip() {
    if (!this.strip) return;
    // The band stands exactly over the first graph's time axis.
    const first = this.charts.find(c => c.plot);
    if (first) {
      const { left, width } = first.plot.bbox, ratio = uPlot.pxRatio;
      this.strip.style.marginLeft = left / ratio + "px";
      this.strip.style.width = width / ratio + "px";
    }
    this.painted = [this.x0, this.x1];
    const span = this.x1 - this.x0;
    const parts = [];
    for (const [a, b, limit] of this.limits) {
      if (b <= this.x0 || a >= this.x1) continue;
      const left = (Math.max(a, this.x0) - this.x0) / span * 100, width = (Math.min(b, this.x1) - Math.max(a, this.x0)) / span * 100;
      const last = parts[parts.length - 1];
      // Slivers would only be noise; the graphs still show them.
      if (width < 0.15 && parts.length > 400 && last) continue;
      const part = document.createElement("button");
      part.type = "button";
      part.style.left = left + "%";
      part.style.width = width + "%";
      part.style.setProperty("--c", `var(--l-${limit})`);
      part.title = `${limit}, ${clock(a, b - a)} to ${clock(b, b - a)}: click to show`;
      if (width > 12) { part.textContent = limit; }
      part.tabIndex = width > 3 ? 0 : -1;
      part.addEventListener("click", () => this.show(a, b));
      parts.push(part);
    }
    const band = document.createElement("div");
    band.append(...parts);
    this.strip.replaceChildren(band);
  }
  // While the view moves, the band as it is moves along.
  slideStrip() {
    const band = this.strip && this.strip.firstChild;
    if (!band) return;
    const [a, b] = this.painted, span = this.x1 - this.x0;
    band.style.left = (a - this.x0) / span * 100 + "%";
    band.style.width = (b - a) / span * 100 + "%";
  }

  resize() { for (const chart of this.all()) chart.resize(); if (this.full) this.paintStrip(); }
  repaint() { for (const chart of this.all()) if (chart.plot) chart.plot.redraw(false, true); }
}

// ---------------------------------------------------------------- the page

// Groups of graphs that are kept, seen or not, and those that are printed.
const KEPT = 8, PRINTED = 24;

const all = [...document.querySelectorAll(".graphs")].map(e => Object.assign(e, { group: new Group(e) }).group);
// Graphs are made when they come near, and given back when others are: a page of 300 runs takes no more than one of ten.
const started = [];
const watcher = new IntersectionObserver(entries => {
  for (const e of entries) {
    const { group } = e.target;
    group.near = e.isIntersecting;
    if (!e.isIntersecting) continue;
    const before = started.indexOf(group);
    if (before >= 0) started.splice(before, 1);
    started.push(group);
    group.start();
    while (started.length > KEPT) {
      const old = started.findIndex(g => !g.near);
      if (old < 0) break;
      started.splice(old, 1)[0].stop();
    }
  }
}, { rootMargin: "600px" });
for (const g of all) watcher.observe(g.element);
// A page of a few runs has its graphs ready before it is printed.
if (all.length <= KEPT && window.requestIdleCallback)
  requestIdleCallback(async () => { for (const g of all) { started.push(g); await g.start(); } });

let timer = 0;
addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(() => all.forEach(g => g.resize()), 120); });
const repaint = () => { colours = new Map(); all.forEach(g => g.repaint()); document.slowpath.repaints.forEach(f => f()); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", () => {
  root.dataset.print = "";
  all.forEach((g, i) => { if (i < PRINTED) g.start(); else g.element.classList.toggle("unprinted", !g.charts.length); });
  repaint();
});
addEventListener("afterprint", () => { delete root.dataset.print; repaint(); });

const toggle = document.querySelector(".theme");
if (toggle) {
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; repaint(); });
}
// What the system's own clipboard refuses, a selection may still copy.
async function copy(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* the older way */ }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  try { return document.execCommand("copy"); } catch { return false; } finally { area.remove(); }
}
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const text = button.dataset.copy
      ? document.getElementById(button.dataset.copy).content.textContent
      : button.closest(".code").querySelector("code").textContent;
    button.textContent = await copy(text) ? told("copied") : told("select and copy");
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}

// ---------------------------------------------------------------- search

// Elements with the same `data-item` come and go together; rows with `data-row` inside of one, alone. Full-width letters and
// digits, half-width kana and the like count as what they are read as.
const fold = text => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
function search(field) {
  const items = new Map();
  const words = e => {
    let text = "";
    const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT, n =>
      n.parentElement.closest("script, style, [data-row], .graphs") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    while (walker.nextNode()) text += " " + walker.currentNode.data;
    return fold(text);
  };
  const prepare = () => {
    for (const e of document.querySelectorAll("[data-item]")) {
      if (!items.has(e.dataset.item)) items.set(e.dataset.item, { elements: [], words: "", rows: [] });
      const item = items.get(e.dataset.item);
      item.elements.push(e);
      item.words += " " + words(e);
      for (const row of e.querySelectorAll("[data-row]")) item.rows.push([row, fold(row.textContent)]);
    }
  };
  const found = field.closest(".find").querySelector(".found");
  const apply = () => {
    if (!items.size) prepare();
    const wanted = fold(field.value).split(" ").filter(Boolean);
    let shown = 0, rows = 0;
    for (const { elements, words, rows: own } of items.values()) {
      // A row has the words of what it stands in.
      const whole = wanted.every(w => words.includes(w));
      const some = own.filter(([row, text]) => {
        const fits = whole || wanted.every(w => words.includes(w) || text.includes(w));
        row.hidden = !fits;
        return fits;
      }).length;
      const fits = whole || some > 0;
      for (const e of elements) e.hidden = !fits;
      shown += fits;
      if (!whole) rows += some;
    }
    found.textContent = wanted.length ? `${shown} of ${items.size}` + (rows ? `, ${rows} ${rows === 1 ? "run" : "runs"}` : "") : "";
  };
  let waiting = 0;
  field.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(apply); });
  field.addEventListener("keydown", ev => { if (ev.key === "Escape") { field.value = ""; apply(); } });
  if (field.value) apply();
}
const field = document.querySelector(".find input");
if (field) search(field);

// ---------------------------------------------------------------- a graph as a picture of its own

// What a series asks of a canvas, written down as SVG.
class Pen {
  constructor() {
    this.parts = [];
    this.path = "";
    this.dash = "";
    Object.assign(this, { strokeStyle: "#000", fillStyle: "#000", lineWidth: 1, lineJoin: "round", globalAlpha: 1 });
  }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
  lineTo(x, y) { this.path += `L${short(x)} ${short(y)}`; }
  closePath() { this.path += "Z"; }
  rect(x, y, w, h) { this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`; }
  setLineDash(dash) { this.dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""; }
  stroke() {
    if (this.path) this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}" stroke-linejoin="round"${this.dash}/>`);
  }
  fill() { if (this.path) this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}" fill-opacity="${this.globalAlpha}"/>`); }
}
const short = v => +v.toFixed(1);
const escaped = text => text.replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// Round values between two, about `count` of them.
function ticks(a, b, count) {
  const rough = (b - a) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * 0.999);
  const out = [];
  for (let v = Math.ceil(a / step - 1e-9) * step; v <= b + step * 1e-9; v += step) out.push(+v.toPrecision(12));
  return out;
}

function picture(chart) {
  const { group, series, yRange: [y0, y1] } = chart, { x0, x1 } = group;
  const W = 960, left = 76, right = 24, inner = W - left - right;
  const font = 'font-family="system-ui, -apple-system, &quot;Segoe UI&quot;, Roboto, &quot;Noto Sans&quot;, &quot;Liberation Sans&quot;, &quot;DejaVu Sans&quot;, Arial, &quot;Hiragino Sans&quot;, &quot;Yu Gothic UI&quot;, Meiryo, &quot;Noto Sans CJK JP&quot;, &quot;Noto Sans JP&quot;, sans-serif"';
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "13px system-ui, sans-serif";
  const parts = [];
  const text = (x, y, words, more = "") => parts.push(`<text x="${short(x)}" y="${short(y)}" ${more}>${escaped(words)}</text>`);
  const ink = colour("--ink"), muted = colour("--muted");
  text(left, 30, `${group.element.dataset.caption}: ${chart.title}`, `fill="${ink}" font-size="17" font-weight="600"`);
  const unit = chart.unit === "bit/s" ? ", bit/s" : chart.unit === "B" ? ", bytes" : "";
  text(left, 50, `${group.label}, ${clock(x0, x1 - x0)} to ${clock(x1, x1 - x0)}${unit}`, `fill="${muted}" font-size="13"`);
  // The legend: every line that is shown, and what limited the transfer in the bands.
  const bands = group.limits.filter(([a, b]) => b > x0 && a < x1);
  const entries = [
    ...series.filter(s => s.shown).map(s => [s.name, colour(s.colour), s.kind]),
    ...[...new Set(bands.map(b => b[2]))].map(l => ["limited by " + l, limitColour(l), "band"]),
  ];
  let x = left, y = 74;
  for (const [name, shade, kind] of entries) {
    const wide = 22 + measure.measureText(name).width + 20;
    if (x > left && x + wide > W - right) { x = left; y += 20; }
    parts.push(kind === "dots" ? `<rect x="${short(x + 4)}" y="${y - 9}" width="7" height="7" fill="${shade}"/>`
      : kind === "segment" ? `<rect x="${short(x + 6)}" y="${y - 12}" width="3" height="13" fill="${shade}"/>`
      : kind === "band" ? `<rect x="${short(x)}" y="${y - 11}" width="15" height="11" fill="${shade}" fill-opacity="0.5"/>`
      : `<line x1="${short(x)}" x2="${short(x + 15)}" y1="${y - 5}" y2="${y - 5}" stroke="${shade}" stroke-width="2.5"/>`);
    text(x + 22, y, name, `fill="${muted}" font-size="13"`);
    x += wide;
  }
  const top = y + 16, height = chart.element.dataset.plot === "sequence" ? 400 : 300, bottom = top + height, H = bottom + 46;
  const px = v => left + (v - x0) / (x1 - x0) * inner, py = v => bottom - (v - y0) / (y1 - y0) * height;
  const xs = ticks(x0, x1, 9), ys = ticks(y0, y1, 7), names = axisTicks(ys, chart.unit);
  for (const [i, v] of ys.entries()) {
    parts.push(`<line x1="${left}" x2="${W - right}" y1="${short(py(v))}" y2="${short(py(v))}" stroke="${colour("--grid")}"/>`);
    text(left - 8, py(v) + 4, names[i], `fill="${muted}" font-size="12" text-anchor="end"`);
  }
  for (const v of xs) {
    parts.push(`<line x1="${short(px(v))}" x2="${short(px(v))}" y1="${top}" y2="${bottom}" stroke="${colour("--grid")}"/>`);
    text(px(v), bottom + 18, +v.toPrecision(8) + " s", `fill="${muted}" font-size="12" text-anchor="middle"`);
  }
  text(W - right, H - 8, "made by slowpath", `fill="${colour("--faint")}" font-size="11" text-anchor="end"`);
  parts.push(`<g clip-path="url(#inside)">`);
  for (const [a, b, limit] of bands) {
    const from = px(Math.max(a, x0)), wide = px(Math.min(b, x1)) - from, shade = limitColour(limit);
    parts.push(`<rect x="${short(from)}" y="${top}" width="${short(wide)}" height="${height}" fill="${shade}" fill-opacity="0.07"/>`,
      `<rect x="${short(from)}" y="${top}" width="${short(Math.max(wide, 1))}" height="3" fill="${shade}"/>`);
  }
  const pen = new Pen();
  for (const s of series) if (s.shown) s.draw(pen, { x0, x1, px, py, ratio: 1, width: inner, height, left, top });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${W}" height="${H}" viewBox="0 0 ${W} ${H}" role="img" ${font}>
<title>${escaped(`${group.element.dataset.caption}: ${chart.title}`)}</title>
<desc>${escaped(chart.box.getAttribute("aria-label") || "")}</desc>
<defs><clipPath id="inside"><rect x="${left}" y="${top}" width="${inner}" height="${height}"/></clipPath></defs>
<rect width="${W}" height="${H}" fill="${colour("--surface")}"/>
${parts.join("\n")}
${pen.parts.join("\n")}
</g></svg>
`;
  return { svg, W, H };
}

async function save(chart, form) {
  const { svg, W, H } = picture(chart);
  let blob = new Blob([svg], { type: "image/svg+xml" });
  if (form === "png") {
    const image = new Image(), canvas = document.createElement("canvas");
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    await image.decode();
    [canvas.width, canvas.height] = [2 * W, 2 * H];
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * W, 2 * H);
    blob = await new Promise(done => canvas.toBlob(done, "image/png"));
  }
  const link = document.createElement("a");
  const name = `${chart.group.element.dataset.caption} ${chart.title}`.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
  link.download = `${name}.${form}`;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// What the page's other script draws with.
document.slowpath = { told, colour, si, whole, UNITS, axisTicks, repaints: [] };
})();
