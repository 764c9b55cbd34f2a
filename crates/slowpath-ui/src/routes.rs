//! The addresses of the page, and what they do.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use slowpath::catalog;
use slowpath::load::Loaded;

use crate::access::{Access, Refused};
use crate::check::{self, Checked, VariantRow};
use crate::entry::{Entry, Id, Kind, State};
use crate::form::{self, Form};
use crate::jobs::{Jobs, Progress, RESULTS, answer_file};
use crate::{page, upload};

/// What the handlers share.
#[derive(Debug, Clone)]
struct Ui {
    access: Arc<Access>,
    jobs: Arc<Jobs>,
    upload_limit: u64,
}

/// All addresses, behind the questions of [`crate::access`].
pub fn router(access: Arc<Access>, jobs: Arc<Jobs>, upload_limit: u64) -> Router {
    let ui = Ui {
        access,
        jobs,
        upload_limit,
    };
    Router::new()
        .route("/", get(front))
        .route(
            "/ui.js",
            get(|| async { asset("text/javascript; charset=utf-8", page::SCRIPT.to_owned()) }),
        )
        .route(
            "/ui.css",
            get(|| async { asset("text/css; charset=utf-8", page::style()) }),
        )
        .route("/api/experiments", get(experiments).post(run))
        .route("/api/check", post(checked))
        .route("/api/form", post(formed))
        .route("/api/captures", post(capture).layer(DefaultBodyLimit::disable()))
        .route("/api/entries", get(entries))
        .route("/api/entries/{id}", axum::routing::delete(remove))
        .route("/api/entries/{id}/stop", post(stop))
        .route("/api/entries/{id}/resume", post(resume))
        .route("/api/compare", post(compare))
        .route("/entries/{id}/report", get(report))
        .route("/entries/{id}/answer", get(answer))
        .route("/entries/{id}/result.json", get(result))
        .route("/entries/{id}/experiment.toml", get(experiment))
        .fallback(|| async { Said::new(StatusCode::NOT_FOUND, "there is nothing at this address") })
        .layer(DefaultBodyLimit::max(TEXT_LIMIT))
        .layer(middleware::from_fn_with_state(ui.clone(), admit))
        .with_state(ui)
}

/// Most bytes of a request that is no capture.
const TEXT_LIMIT: usize = 1 << 20;

/// A refusal or a failure, as JSON and with its status.
#[derive(Debug)]
struct Said {
    status: StatusCode,
    text: String,
}

impl Said {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
        }
    }

    fn missing() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "there is no such entry; it may have been removed",
        )
    }
}

impl From<io::Error> for Said {
    fn from(error: io::Error) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("using the history failed: {error}; look at the room and the rights of its folder"),
        )
    }
}

impl IntoResponse for Said {
    fn into_response(self) -> Response {
        (self.status, Json(serde_json::json!({ "error": self.text }))).into_response()
    }
}

type Answer<T> = Result<T, Said>;

/// Asks each request where it comes from, and puts the page's own rules on each answer.
async fn admit(Shared(ui): Shared<Ui>, request: Request, next: Next) -> Response {
    let mut response = match may(&ui.access, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => Said::new(StatusCode::FORBIDDEN, refused.text()).into_response(),
    };
    let headers = response.headers_mut();
    for (name, rule) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    ] {
        headers.insert(name, HeaderValue::from_static(rule));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    response
}

/// Whether a request may be answered.
fn may(access: &Access, request: &Request) -> Result<(), Refused> {
    let value = |name: header::HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    access.admit(value(header::HOST), value(header::ORIGIN))?;
    // What changes something says where it comes from, as every browser does.
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && value(header::ORIGIN).is_none() {
        return Err(Refused::Origin);
    }
    // The first request brings the word in its address.
    let first = request.uri().path() == "/" && request.uri().query().is_some();
    if first {
        return Ok(());
    }
    access.know(value(header::COOKIE))
}

/// What the page may load: its own files, and nothing of others.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What a report may do: run its own script, save and copy. It counts as another page, which may ask nothing of this one.
const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; \
     script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'";

#[derive(Debug, Deserialize)]
struct First {
    #[serde(default)]
    token: String,
}

/// The page itself; with the right word in its address, the cookie and the page without it.
async fn front(Shared(ui): Shared<Ui>, headers: HeaderMap, Query(first): Query<First>) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
    if first.token.is_empty() {
        return match ui.access.know(cookies) {
            Ok(()) => Html(page::PAGE).into_response(),
            Err(refused) => Said::new(StatusCode::FORBIDDEN, refused.text()).into_response(),
        };
    }
    match ui.access.welcome(&first.token) {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        None => Said::new(StatusCode::FORBIDDEN, Refused::Token.text()).into_response(),
    }
}

fn asset(kind: &'static str, text: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}

/// A built-in experiment, for the list.
#[derive(Debug, Serialize)]
struct BuiltinRow {
    name: &'static str,
    title: String,
    question: String,
    variants: Vec<VariantRow>,
    text: &'static str,
}

async fn experiments() -> Answer<Json<Vec<BuiltinRow>>> {
    let rows = catalog::BUILTINS.iter().map(|builtin| {
        let loaded = Loaded::open(builtin.name, &[])
            .map_err(|error| Said::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(BuiltinRow {
            name: builtin.name,
            title: loaded.experiment.title.clone(),
            question: loaded.dossier.question.clone().unwrap_or_default(),
            variants: check::variants(&loaded),
            text: builtin.experiment,
        })
    });
    rows.collect::<Answer<_>>().map(Json)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    text: String,
    base: Option<String>,
}

async fn checked(Json(typed): Json<Typed>) -> Json<Checked> {
    Json(check::check(&typed.text, typed.base.as_deref()))
}

#[derive(Debug, Serialize)]
struct Formed {
    text: String,
    checked: Checked,
}

async fn formed(Json(form): Json<Form>) -> Json<Formed> {
    let text = form::experiment(&form);
    let checked = check::check(&text, None);
    Json(Formed { text, checked })
}

/// An experiment to be run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The experiment's text.
    text: String,
    /// The built-in one that it is, or was made from.
    base: Option<String>,
    /// Only these variants; empty for all.
    #[serde(default)]
    variants: Vec<String>,
    #[serde(default)]
    quick: bool,
    repeats: Option<u32>,
    seed: Option<u64>,
    #[serde(default)]
    clock: Clock,
    #[serde(default)]
    lang: Lang,
}

/// The language of an answer.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lang {
    #[default]
    En,
    Ja,
}

impl Lang {
    /// As the command line asks for it.
    const fn option(self) -> &'static str {
        match self {
            Self::En => "--lang=en",
            Self::Ja => "--lang=ja",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Clock {
    #[default]
    Simulated,
    Lab,
    Both,
}

async fn run(Shared(ui): Shared<Ui>, Json(wanted): Json<Wanted>) -> Answer<Json<Entry>> {
    let unusable = |text: String| Said::new(StatusCode::UNPROCESSABLE_ENTITY, text);
    let loaded = Loaded::typed("experiment.toml", &wanted.text, wanted.base.as_deref())
        .map_err(|error| unusable(error.to_string()))?;
    let known = |name: &String| loaded.experiment.variant(name).is_some();
    if let Some(name) = wanted.variants.iter().find(|name| !known(name)) {
        return Err(unusable(format!(
            "the experiment has no variant \"{name}\"; choose among those it has"
        )));
    }
    let builtin = wanted.base.as_deref().and_then(catalog::builtin);
    let title = match builtin {
        Some(builtin) if builtin.experiment == wanted.text => builtin.name.to_owned(),
        Some(builtin) => format!("{} (changed)", builtin.name),
        None => loaded.experiment.title.clone(),
    };
    let file = format!("{}/experiment.toml", loaded.name);
    let mut entry = ui.jobs.with(|history| {
        let entry = history.begin(Kind::Experiment, &title, &file)?;
        let inside = history.folder(&entry.id).join(&loaded.name);
        fs::create_dir(&inside)?;
        fs::write(inside.join("experiment.toml"), &wanted.text)?;
        for (name, text) in loaded.files.iter().filter(|(_, text)| !text.is_empty()) {
            fs::write(inside.join(upload::file_name(name)), text)?;
        }
        Ok::<Entry, io::Error>(entry)
    })?;
    let clock = match wanted.clock {
        Clock::Simulated => "simulated",
        Clock::Lab => "lab",
        Clock::Both => "both",
    };
    entry.call = [
        wanted.lang.option(),
        "run",
        &file,
        "--clock",
        clock,
        "--out",
        RESULTS,
        "--progress",
        "jsonl",
    ]
    .map(str::to_owned)
    .to_vec();
    for name in &wanted.variants {
        entry.call.push(format!("--variant={name}"));
    }
    if wanted.quick {
        entry.call.push("--quick".to_owned());
    }
    entry
        .call
        .extend(wanted.repeats.map(|repeats| format!("--repeats={repeats}")));
    entry
        .call
        .extend(wanted.seed.map(|seed| format!("--seed={seed}")));
    ui.jobs.enqueue(entry.clone())?;
    Ok(Json(entry))
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
    #[serde(default)]
    lang: Lang,
}

async fn capture(
    Shared(ui): Shared<Ui>,
    Query(named): Query<Named>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Json<Entry>> {
    let name = upload::file_name(&named.name);
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    let refused = |error: upload::UploadError| {
        use upload::UploadError::{BrokeOff, Empty, NoRoom, TooLarge, Write};
        let status = match error {
            TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            NoRoom { .. } | Write(_) => StatusCode::INSUFFICIENT_STORAGE,
            Empty | BrokeOff { .. } => StatusCode::BAD_REQUEST,
        };
        Said::new(status, format!("taking {name}: {error}"))
    };
    let root = ui.jobs.with(|history| history.root().to_owned());
    upload::announced(length, ui.upload_limit, &root).map_err(refused)?;
    let (mut entry, folder) = ui.jobs.with(|history| {
        let entry = history.begin(Kind::Capture, &name, &name)?;
        let folder = history.folder(&entry.id);
        Ok::<_, io::Error>((entry, folder))
    })?;
    if let Err(error) = upload::receive(body, ui.upload_limit, &folder, &name).await {
        ui.jobs.remove(&entry.id)?;
        return Err(refused(error));
    }
    let file = format!("./{name}");
    let lang = named.lang.option();
    if is_json(&folder.join(&name))? {
        entry.kind = Kind::Iperf3;
        entry.call = [lang, "explain", &file].map(str::to_owned).to_vec();
    } else {
        entry.call = [lang, "explain", &file, "--out", RESULTS, "--format", "html"]
            .map(str::to_owned)
            .to_vec();
    }
    ui.jobs.enqueue(entry.clone())?;
    Ok(Json(entry))
}

/// Whether a file is what `iperf3 -J` writes, and no capture.
fn is_json(path: &std::path::Path) -> io::Result<bool> {
    let mut first = [0; 64];
    let read = io::Read::read(&mut fs::File::open(path)?, &mut first)?;
    Ok(first[..read].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
}

/// An entry as the page shows it.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    entry: Entry,
    /// Whether there is a page to be read.
    has_report: bool,
    /// Whether there is an answer as text.
    has_answer: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
}

async fn entries(Shared(ui): Shared<Ui>) -> Json<Vec<Row>> {
    let rows = ui.jobs.with(|history| {
        let row = |entry: &Entry| {
            let folder = history.folder(&entry.id);
            Row {
                has_report: report_of(entry, &folder).is_file(),
                has_answer: folder.join("answer.txt").is_file(),
                progress: None,
                entry: entry.clone(),
            }
        };
        history.newest_first().into_iter().map(row).collect::<Vec<_>>()
    });
    let progress = |mut row: Row| {
        row.progress = (row.entry.state == State::Running)
            .then(|| ui.jobs.progress(&row.entry.id))
            .flatten();
        row
    };
    Json(rows.into_iter().map(progress).collect())
}

/// An entry by its name in an address, and its folder.
fn found(ui: &Ui, id: &str) -> Answer<(Entry, std::path::PathBuf)> {
    let id: Id = id.parse().map_err(|_| Said::missing())?;
    ui.jobs
        .with(|history| Some((history.get(&id)?.clone(), history.folder(&id))))
        .ok_or_else(Said::missing)
}

async fn remove(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<StatusCode> {
    let (entry, _) = found(&ui, &id)?;
    if ui.jobs.remove(&entry.id)? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Said::new(
            StatusCode::CONFLICT,
            "it is still running; stop it first",
        ))
    }
}

async fn stop(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<StatusCode> {
    let (entry, _) = found(&ui, &id)?;
    ui.jobs.stop(&entry.id)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn resume(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<StatusCode> {
    let (entry, _) = found(&ui, &id)?;
    if !matches!(entry.state, State::Stopped | State::Failed) {
        return Err(Said::new(
            StatusCode::CONFLICT,
            "only what was stopped or failed can go on",
        ));
    }
    ui.jobs.enqueue(entry)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Two {
    before: String,
    after: String,
    #[serde(default)]
    lang: Lang,
}

#[derive(Debug, Serialize)]
struct Compared {
    text: String,
}

/// Two captures as `explain` compares them, anything else by its results.
async fn compare(Shared(ui): Shared<Ui>, Json(two): Json<Two>) -> Answer<Json<Compared>> {
    let (before, after) = (found(&ui, &two.before)?, found(&ui, &two.after)?);
    let both = [&before, &after];
    let mut call = Command::new(ui.jobs.program());
    call.args(ui.jobs.before()).arg(two.lang.option());
    if both.iter().all(|(entry, _)| entry.kind == Kind::Capture) {
        call.arg("explain");
        call.args(both.map(|(entry, folder)| folder.join(&entry.file)));
    } else if both.iter().any(|(_, folder)| !folder.join(RESULTS).is_dir()) {
        return Err(Said::new(
            StatusCode::CONFLICT,
            "one of the two has no results to be compared",
        ));
    } else {
        call.arg("compare");
        call.args(both.map(|(_, folder)| folder.join(RESULTS)));
    }
    let called = tokio::task::spawn_blocking(move || call.stdin(Stdio::null()).output()).await;
    let output = called.map_err(io::Error::other)??;
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(Json(Compared {
            text: words(&output.stdout),
        }))
    } else {
        Err(Said::new(StatusCode::UNPROCESSABLE_ENTITY, words(&output.stderr)))
    }
}

/// The page of an entry.
fn report_of(entry: &Entry, folder: &std::path::Path) -> std::path::PathBuf {
    match entry.kind {
        Kind::Capture => folder.join(answer_file(entry.kind)),
        Kind::Iperf3 | Kind::Experiment => folder.join(RESULTS).join("report.html"),
    }
}

async fn report(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<Response> {
    let (entry, folder) = found(&ui, &id)?;
    let page = sent(&report_of(&entry, &folder)).await?;
    let policy = (header::CONTENT_SECURITY_POLICY, REPORT_POLICY);
    Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8"), policy], page).into_response())
}

async fn answer(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<Response> {
    let (_, folder) = found(&ui, &id)?;
    let text = sent(&folder.join("answer.txt")).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn result(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<Response> {
    let (entry, folder) = found(&ui, &id)?;
    let text = sent(&folder.join(RESULTS).join("result.json")).await?;
    Ok(saved("application/json", &format!("{}.json", entry.id), text))
}

async fn experiment(Shared(ui): Shared<Ui>, Path(id): Path<String>) -> Answer<Response> {
    let (entry, folder) = found(&ui, &id)?;
    if entry.kind != Kind::Experiment {
        return Err(Said::missing());
    }
    let text = sent(&folder.join(&entry.file)).await?;
    Ok(saved("application/toml", &format!("{}.toml", entry.id), text))
}

/// A file of an entry.
async fn sent(path: &std::path::Path) -> Answer<Vec<u8>> {
    tokio::fs::read(path).await.map_err(|_| Said::missing())
}

/// A file that the browser saves.
fn saved(kind: &'static str, name: &str, text: Vec<u8>) -> Response {
    let named = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, named),
    ];
    (headers, text).into_response()
}
