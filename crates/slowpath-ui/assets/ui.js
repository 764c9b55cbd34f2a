"use strict";
// The page of `slowpath ui`: asks this machine's own program and shows what it says. Nothing is built from text as markup.

const WORDS = {
  en: {},
  ja: {
    start: "開始", history: "履歴", language: "言語",
    captureTitle: "キャプチャを解析する",
    captureLead: "pcapまたはpcapngファイル（圧縮も可）、またはiperf3 -Jの出力です。このマシンの外には送られません。",
    drop: "ここにファイルをドロップ、またはクリックして選択",
    experimentTitle: "実験を実行する", which: "実験", own: "自分の経路（フォームに入力）",
    rate: "帯域", roundTrip: "RTT", loss: "ランダムロス", queue: "キュー", size: "データ量", streams: "接続数",
    direction: "方向", up: "アップロード", down: "ダウンロード", controls: "比較する輻輳制御",
    variants: "条件", file: "実験ファイル", clock: "時間", simulated: "シミュレーション（数秒）",
    both: "シミュレーションの後に実プログラム", lab: "実プログラムのみ", repeats: "繰り返し", asWritten: "ファイルの値",
    seed: "シード", quick: "転送量を減らす", run: "実行", compareTwo: "チェックした2件を比較",
    empty: "まだ何もありません。解析や実行の結果はここに並びます。ページやプログラムを閉じても残ります。",
    back: "戻る", alone: "別のタブで開く", saveFile: "実験ファイル",
    waiting: "待機中", running: "実行中", done: "完了", failed: "失敗", stopped: "停止",
    report: "レポート", answer: "結果", stop: "停止", stopNow: "強制停止", resume: "再開", again: "再実行", remove: "削除",
    removeSure: "この項目とその結果を削除しますか。", of: (done, all) => `${all}回中${done}回終了`,
    left: (s) => `残り約${s}`, seconds: (n) => `${n}秒`, minutes: (n) => `${n}分`,
    sending: (name, share) => `${name}：${share} %`, chosen: (n, all) => `${all}件中${n}件`, tickTwo: (name) => `${name}を比較に選ぶ`,
    comparison: "比較", gone: "slowpath uiが応答しません。ターミナルで動いているか確認してください。", tooMany: "2件だけ選んでください。",
  },
};
const ENGLISH = {
  own: "A path of your own (form)", waiting: "waiting", running: "running", done: "done", failed: "failed", stopped: "stopped",
  report: "Report", answer: "Answer", stop: "Stop", stopNow: "Stop at once", resume: "Go on", again: "Try again", remove: "Remove",
  removeSure: "Remove this entry and its results?", of: (done, all) => `${done} of ${all} runs`,
  left: (s) => `about ${s} left`, seconds: (n) => `${n} s`, minutes: (n) => `${n} min`,
  sending: (name, share) => `${name}: ${share} %`, chosen: (n, all) => `${n} of ${all}`, tickTwo: (name) => `compare ${name}`,
  comparison: "Comparison", gone: "slowpath ui does not answer; see whether it still runs in its terminal.", tooMany: "Tick two, no more.",
  variants: "Variants", asWritten: "as written",
};

const $ = (id) => document.getElementById(id);
let language = "en";
const t = (key) => (language === "ja" && WORDS.ja[key]) || ENGLISH[key] || key;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// What the page is written in is its English.
for (const e of document.querySelectorAll("[data-t]")) ENGLISH[e.dataset.t] ??= e.textContent;

function speak(wanted) {
  language = WORDS[wanted] ? wanted : "en";
  document.documentElement.lang = language;
  for (const e of document.querySelectorAll("[data-t]")) e.textContent = t(e.dataset.t);
  for (const e of document.querySelectorAll("[data-p]")) e.placeholder = t(e.dataset.p);
  for (const e of document.querySelectorAll("[data-l]")) e.setAttribute("aria-label", t(e.dataset.l));
  $("language").value = language;
  try { localStorage.setItem("language", language); } catch { /* then it is asked again */ }
  if (builtins.length) fillWhich();
  shown = "";
  look();
}

async function ask(path, options = {}) {
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Error(t("gone")); }
  const text = await answer.text();
  let value = null;
  try { value = text ? JSON.parse(text) : null; } catch { /* an answer that is no JSON */ }
  if (!answer.ok) throw new Error(value?.error ?? `${answer.status} ${text}`);
  return value;
}
const tell = (path, value) => ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value ?? {}) });

function trouble(error) {
  $("trouble").textContent = error ? error.message : "";
  $("trouble").hidden = !error;
}
const trying = (work) => async (...given) => { try { trouble(null); await work(...given); } catch (error) { trouble(error); } };

/* captures */

function send(file) {
  const line = element("li", { textContent: t("sending")(file.name, 0) });
  $("uploads").append(line);
  // fetch does not tell how much has gone.
  const request = new XMLHttpRequest();
  request.open("POST", `/api/captures?name=${encodeURIComponent(file.name)}&lang=${language}`);
  request.upload.onprogress = (at) => { if (at.total) line.textContent = t("sending")(file.name, Math.floor(100 * at.loaded / at.total)); };
  const fails = (text) => { line.className = "failed"; line.textContent = text; };
  request.onerror = () => fails(`${file.name}: ${t("gone")}`);
  request.onload = () => {
    if (request.status === 200) { line.remove(); look(); return; }
    let text = request.responseText;
    try { text = JSON.parse(text).error; } catch { /* as it came */ }
    fails(text);
  };
  request.send(file);
}
$("files").addEventListener("change", () => { [...$("files").files].forEach(send); $("files").value = ""; });
for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") [...event.dataTransfer.files].forEach(send);
  });
}

/* experiments */

let builtins = [];
let sound = false;
let typedByHand = false;
const chosenBuiltin = () => builtins.find((builtin) => builtin.name === $("which").value);

function fillWhich() {
  const before = $("which").value;
  $("which").replaceChildren(element("option", { value: "", textContent: t("own") }), ...builtins.map((builtin) => element("option", { value: builtin.name, textContent: `${builtin.name}: ${builtin.title}` })));
  $("which").value = before;
}

function choose() {
  const builtin = chosenBuiltin();
  $("form").hidden = Boolean(builtin);
  $("question").textContent = builtin?.question ?? "";
  typedByHand = false;
  $("quick").checked = Boolean(builtin);
  if (builtin) { $("text").value = builtin.text; check(); } else { fromForm(); }
}

function formValue() {
  const form = new FormData($("form"));
  const text = (name) => String(form.get(name) ?? "");
  return { rate: text("rate"), queue: text("queue"), round_trip: text("round_trip"), loss: text("loss"), upload: form.get("direction") === "up", size: text("size"), streams: Math.max(1, Math.floor(Number(form.get("streams")) || 1)), controls: form.getAll("control") };
}

let asked = 0;
const fromForm = trying(async () => {
  if (typedByHand) return;
  const mine = ++asked;
  const formed = await tell("/api/form", formValue());
  if (mine !== asked) return;
  $("text").value = formed.text;
  say(formed.checked);
});
const check = trying(async () => {
  const mine = ++asked;
  const checked = await tell("/api/check", { text: $("text").value, base: chosenBuiltin()?.name ?? null });
  if (mine === asked) say(checked);
});

function say(checked) {
  sound = checked.sound;
  $("run").disabled = !sound;
  $("messages").hidden = !checked.messages;
  $("messages").textContent = checked.messages;
  $("messages").classList.toggle("bad", !sound);
  number(checked.lines);
  if (sound) list(checked.variants);
  if (!sound && checked.lines.length) $("file-box").open = true;
}

function number(wrong) {
  const lines = $("text").value.split("\n").length;
  const rows = [];
  for (let line = 1; line <= lines; line += 1) rows.push(wrong.includes(line) ? element("b", { textContent: line }) : String(line), "\n");
  $("gutter").replaceChildren(...rows);
  $("gutter").scrollTop = $("text").scrollTop;
}
$("text").addEventListener("scroll", () => { $("gutter").scrollTop = $("text").scrollTop; });

function list(variants) {
  const unticked = new Set([...$("variants").querySelectorAll("input:not(:checked)")].map((box) => box.value));
  $("variants-box").hidden = variants.length < 2;
  $("variants").replaceChildren(...variants.map((variant) => {
    const box = element("input", { type: "checkbox", value: variant.name, checked: !unticked.has(variant.name) });
    return element("label", {}, box, element("span", {}, variant.name, variant.note ? " " : "", element("small", { textContent: variant.note })));
  }));
  count();
}
const ticked = () => [...$("variants").querySelectorAll("input:checked")].map((box) => box.value);
const all = () => $("variants").querySelectorAll("input").length;
function count() {
  $("variants-count").textContent = t("chosen")(ticked().length, all());
  $("run").disabled = !sound || (all() > 0 && ticked().length === 0);
}
$("variants").addEventListener("change", count);

let pause = 0;
const later = (work) => { clearTimeout(pause); pause = setTimeout(work, 250); };
$("text").addEventListener("input", () => { typedByHand = true; number([]); later(check); });
$("form").addEventListener("input", () => { typedByHand = false; later(fromForm); });
$("form").addEventListener("submit", (event) => event.preventDefault());
$("which").addEventListener("change", choose);
$("language").addEventListener("change", () => speak($("language").value));

$("run").addEventListener("click", trying(async () => {
  const some = ticked();
  const whole = (id) => ($(id).value === "" ? null : Math.max(0, Math.floor(Number($(id).value))));
  await tell("/api/experiments", { text: $("text").value, base: chosenBuiltin()?.name ?? null, variants: some.length === all() ? [] : some, quick: $("quick").checked, repeats: whole("repeats"), seed: whole("seed"), clock: $("clock").value, lang: language });
  await look();
  $("history").scrollIntoView();
}));

/* history */

let shown = "";
let timer = 0;
const marked = new Set();

const look = async () => {
  clearTimeout(timer);
  let busy = false;
  try {
    const entries = await ask("/api/entries");
    busy = entries.some((entry) => entry.state === "waiting" || entry.state === "running");
    const text = JSON.stringify(entries);
    if (text !== shown) { shown = text; draw(entries); }
    if ($("trouble").textContent === t("gone")) trouble(null);
  } catch (error) { trouble(error); }
  timer = setTimeout(look, busy ? 500 : 3000);
};
addEventListener("focus", () => look());

function draw(entries) {
  const focused = document.activeElement?.dataset?.key;
  $("empty").hidden = entries.length > 0;
  for (const id of marked) if (!entries.some((entry) => entry.id === id)) marked.delete(id);
  $("entries").replaceChildren(...entries.map(row));
  $("compare").disabled = marked.size !== 2;
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const when = (seconds) => new Date(seconds * 1000).toLocaleString(language === "ja" ? "ja-JP" : "en-GB", { dateStyle: "medium", timeStyle: "short" });
const span = (seconds) => (seconds < 100 ? t("seconds")(Math.round(seconds)) : t("minutes")(Math.round(seconds / 60)));

function row(entry) {
  const box = element("input", { type: "checkbox", checked: marked.has(entry.id), disabled: entry.state !== "done" });
  box.setAttribute("aria-label", t("tickTwo")(entry.title));
  box.addEventListener("change", () => { box.checked ? marked.add(entry.id) : marked.delete(entry.id); $("compare").disabled = marked.size !== 2; });
  const what = element("div", { className: "what" }, entry.title, element("small", { textContent: `${when(entry.created_s)} · ${t(entry.state)}` }));
  const parts = [box, what];
  const acts = element("div", { className: "acts" });
  const act = (key, work) => { const button = element("button", { type: "button", textContent: t(key) }); button.dataset.key = `${entry.id} ${key}`; button.addEventListener("click", trying(async () => { await work(); await look(); })); acts.append(button); };
  if (entry.has_report) acts.append(element("a", { className: "act first", href: `#report=${entry.id}`, textContent: t("report") }));
  else if (entry.has_answer) acts.append(element("a", { className: "act first", href: `#answer=${entry.id}`, textContent: t("answer") }));
  const busy = entry.state === "waiting" || entry.state === "running";
  if (busy) act("stop", () => tell(`/api/entries/${entry.id}/stop`));
  if (entry.state === "stopped") act("resume", () => tell(`/api/entries/${entry.id}/resume`));
  if (entry.state === "failed") act("again", () => tell(`/api/entries/${entry.id}/resume`));
  if (!busy) act("remove", async () => { if (confirm(t("removeSure"))) await ask(`/api/entries/${entry.id}`, { method: "DELETE" }); });
  let words = entry.said;
  if (entry.state === "running" && entry.progress?.total) {
    const p = entry.progress;
    parts.push(element("progress", { max: 1, value: p.done }));
    words = [[t("of")(p.finished, p.total), p.left_s == null ? "" : t("left")(span(p.left_s)), p.running.slice(0, 4).join(", ")].filter(Boolean).join(" · "), p.latest].filter(Boolean).join("\n");
  } else if (entry.state === "running") parts.push(element("progress"));
  parts.push(element("div", { className: "words", textContent: words }), acts);
  return element("li", { className: entry.state, id: `entry-${entry.id}` }, ...parts);
}

$("compare").addEventListener("click", trying(async () => {
  // The older one first.
  const ids = [...document.querySelectorAll("#entries li")].map((li) => li.id.slice("entry-".length)).filter((id) => marked.has(id)).reverse();
  const compared = await tell("/api/compare", { before: ids[0], after: ids[1], lang: language });
  comparison = { ids, text: compared.text };
  location.hash = `#compare=${ids.join(",")}`;
}));
let comparison = null;

/* one entry, or a comparison */

const route = trying(async () => {
  const [kind, id] = location.hash.slice(1).split("=");
  const viewing = ["report", "answer", "compare"].includes(kind) && id;
  $("start").hidden = Boolean(viewing);
  $("view").hidden = !viewing;
  if (!viewing) { $("frame").removeAttribute("src"); $("frame").hidden = true; if (kind === "history") $("history").scrollIntoView(); return; }
  const entries = await ask("/api/entries");
  const entry = entries.find((entry) => entry.id === id);
  $("view-title").textContent = entry?.title ?? t("comparison");
  $("frame").hidden = kind !== "report";
  $("view-text").hidden = kind === "report";
  for (const link of ["view-alone", "view-file", "view-json"]) $(link).hidden = true;
  try {
    if (kind === "report") {
      const at = `/entries/${id}/report`;
      $("frame").src = at;
      for (const [link, to, there] of [["view-alone", at, true], ["view-file", `/entries/${id}/experiment.toml`, entry?.kind === "experiment"], ["view-json", `/entries/${id}/result.json`, true]]) { $(link).href = to; $(link).hidden = !there; }
    } else if (kind === "answer") {
      const answer = await fetch(`/entries/${id}/answer`);
      $("view-text").textContent = await answer.text();
    } else {
      const ids = id.split(",");
      if (comparison?.ids.join() !== ids.join()) comparison = { ids, text: (await tell("/api/compare", { before: ids[0], after: ids[1], lang: language })).text };
      $("view-text").textContent = comparison.text;
    }
  } catch (error) { $("view-text").hidden = false; $("view-text").textContent = error.message; }
});
addEventListener("hashchange", route);

/* begin */

(async () => {
  let kept = null;
  try { kept = localStorage.getItem("language"); } catch { /* private */ }
  speak(kept ?? (navigator.language.startsWith("ja") ? "ja" : "en"));
  await trying(async () => { builtins = await ask("/api/experiments"); fillWhich(); choose(); })();
  await route();
})();
