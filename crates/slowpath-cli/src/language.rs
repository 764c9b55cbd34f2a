//! Which language is spoken, and the help in it.

use std::ffi::OsString;

use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use slowpath::words::{self, Language};

/// Reads `--lang` ahead of all other arguments, so that help and errors are in that language as well; without one the
/// environment decides.
pub(crate) fn choose(arguments: &[OsString]) {
    words::speak(
        asked(arguments).unwrap_or_else(|| Language::of_environment(|name| std::env::var(name).ok())),
    );
}

/// The arguments with a `--lang` that stands before the command put behind it, where commands that are spelled in a short way
/// are looked for at their place.
pub(crate) fn behind_the_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let count = match arguments.get(1).map(|first| first.to_string_lossy()) {
        Some(first) if first == "--lang" => 2,
        Some(first) if first.starts_with("--lang=") => 1,
        _ => return arguments,
    };
    if arguments.len() > 1 + count {
        arguments[1..2 + count].rotate_left(count);
    }
    arguments
}

/// What is wrong with the arguments, where another language than English is spoken; `None` where the parser says it itself.
pub(crate) fn refusal(error: &clap::Error) -> Option<String> {
    if words::spoken() == Language::English || !error.use_stderr() {
        return None;
    }
    let context = |kind| {
        error.get(kind).map(|value| match value {
            ContextValue::String(text) => text.clone(),
            ContextValue::Strings(texts) => texts.join(", "),
            ContextValue::Number(number) => number.to_string(),
            other => other.to_string(),
        })
    };
    let of = |kind| context(kind).unwrap_or_default();
    let argument = of(ContextKind::InvalidArg);
    let value = of(ContextKind::InvalidValue);
    // What was typed is repeated as it was typed.
    let typed = words::with_typed;
    let mut said = match error.kind() {
        ErrorKind::UnknownArgument => typed("parse-unknown", &[("argument", &argument)]),
        ErrorKind::InvalidValue if value.is_empty() => typed("parse-no-value", &[("argument", &argument)]),
        ErrorKind::InvalidValue => typed("parse-value", &[("argument", &argument), ("value", &value)]),
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error)
                .map(ToString::to_string)
                .unwrap_or_default();
            let why = words::told(&why);
            typed(
                "parse-refused",
                &[("argument", &argument), ("value", &value), ("why", &why)],
            )
        }
        ErrorKind::MissingRequiredArgument => typed("parse-missing", &[("argument", &argument)]),
        ErrorKind::ArgumentConflict => {
            let other = of(ContextKind::PriorArg);
            typed("parse-conflict", &[("argument", &argument), ("other", &other)])
        }
        ErrorKind::TooManyValues => typed("parse-too-many", &[("argument", &argument), ("value", &value)]),
        _ => return None,
    };
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
        if let Some(meant) = context(kind) {
            said.push_str(&typed("parse-meant", &[("meant", &meant)]));
        }
    }
    if let Some(values) = context(ContextKind::ValidValue).filter(|values| !values.is_empty()) {
        said.push_str(&typed("parse-possible", &[("values", &values)]));
    }
    Some(said)
}

/// The language of the last `--lang` before the arguments of another program.
fn asked(arguments: &[OsString]) -> Option<Language> {
    let own = arguments
        .iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy());
    let mut own = own.take_while(|argument| argument != "--").peekable();
    let mut asked = None;
    while let Some(argument) = own.next() {
        let code = match argument.strip_prefix("--lang") {
            Some("") => own.peek().map(ToString::to_string),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => continue,
        };
        asked = code.as_deref().and_then(of_code).or(asked);
    }
    asked
}

fn of_code(code: &str) -> Option<Language> {
    Language::ALL.into_iter().find(|language| language.code() == code)
}

/// Reads the value of `--lang`.
pub(crate) fn parser() -> impl TypedValueParser<Value = Language> {
    let known = Language::ALL.map(|language| PossibleValue::new(language.code()));
    PossibleValuesParser::new(known).map(|code| of_code(&code).expect("only codes of the list are possible"))
}

/// The command line with its help in the language that is spoken. English help stands beside the arguments; another
/// language's under keys made of the command's and the argument's names, such as `help-run-clock`.
pub(crate) fn localised(command: Command) -> Command {
    if words::spoken() == Language::English {
        return command;
    }
    // The parser breaks lines at spaces alone, of which Japanese has few: it breaks none, and `help` does.
    let mut command = command.term_width(0);
    command.build();
    local(command, "help")
}

/// Help in lines of at most `width` columns, where another language than English is spoken; `None` where the parser breaks them
/// well by itself.
pub(crate) fn help(error: &clap::Error, width: usize) -> Option<String> {
    if words::spoken() == Language::English || error.use_stderr() {
        return None;
    }
    let mut out = String::new();
    for line in error.render().to_string().lines() {
        let text = usage_end(line);
        let hanging = " ".repeat(slowpath::columns(&line[..text]));
        for part in slowpath::wrap_as_it_is(&line[text..], width, &line[..text], &hanging) {
            out.push_str(part.trim_end());
            out.push('\n');
        }
    }
    Some(out)
}

/// Where the text of a line of help begins: behind its indentation, and behind the name of a command or an option that stands
/// in a column of its own.
fn usage_end(line: &str) -> usize {
    let indented = line.len() - line.trim_start().len();
    if indented == 0 {
        return 0;
    }
    let Some(gap) = line[indented..].find("  ") else {
        return indented;
    };
    let behind = &line[indented + gap..];
    indented + gap + (behind.len() - behind.trim_start().len())
}

fn local(command: Command, place: &str) -> Command {
    let command = command
        .help_template(words::word("help-template"))
        .subcommand_help_heading(words::word("help-commands"));
    let command = match words::lookup(place) {
        Some(about) => command.about(about),
        None => command,
    };
    let command = match words::lookup(&format!("{place}--after")) {
        Some(after) => command.after_help(after),
        None => command,
    };
    let command = command.mut_args(|argument| {
        let own = format!("{place}-{}", argument.get_id());
        let shared = format!("help--{}", argument.get_id());
        let Some(help) = words::lookup(&own).or_else(|| words::lookup(&shared)) else {
            return argument;
        };
        let default: Vec<String> = argument
            .get_default_values()
            .iter()
            .map(|value| value.to_string_lossy().into_owned())
            .collect();
        let possible: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| value.get_name().to_owned())
            .collect();
        let mut help = help.to_owned();
        let takes = argument.get_action().takes_values();
        if takes && !possible.is_empty() && possible.len() <= 8 {
            help.push_str(&words::with_typed(
                "help-possible",
                &[("values", &possible.join(", "))],
            ));
        }
        if takes && !default.is_empty() {
            help.push_str(&words::with_typed(
                "help-default",
                &[("value", &default.join(" "))],
            ));
        }
        let heading = match argument.get_help_heading() {
            // Headings are the parser's for the rest of the process.
            Some(heading) => &*words::told(heading).into_owned().leak(),
            None if argument.is_positional() => words::word("help-arguments"),
            None => words::word("help-options"),
        };
        let help = StyledStr::from(help);
        argument
            .help(help.clone())
            .long_help(help)
            .hide_default_value(true)
            .hide_possible_values(true)
            .help_heading(heading)
    });
    command.mut_subcommands(|command| {
        let place = format!("{place}-{}", command.get_name());
        local(command, &place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn of(arguments: &[&str]) -> Option<Language> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        asked(&arguments)
    }

    #[test]
    fn the_language_is_known_before_the_arguments_are() {
        assert_eq!(of(&["slowpath", "list"]), None);
        assert_eq!(
            of(&["slowpath", "--lang", "ja", "list"]),
            Some(Language::Japanese)
        );
        assert_eq!(of(&["slowpath", "list", "--lang=en"]), Some(Language::English));
        assert_eq!(of(&["slowpath", "why", "--", "x", "--lang", "ja"]), None);
        assert_eq!(of(&["slowpath", "list", "--lang"]), None);
    }

    #[test]
    fn help_hangs_below_its_text() {
        assert_eq!(usage_end("使い方: slowpath"), 0);
        assert_eq!(usage_end("      --follow"), 6);
        assert_eq!(usage_end("          説明 の文"), 10);
        assert_eq!(usage_end("  run          実験を実行する"), 15);
        assert_eq!(usage_end(""), 0);
    }

    /// The keys of a command's help, of its arguments' and of its commands'.
    fn keys(command: &Command, place: &str, out: &mut Vec<String>) {
        out.push(place.to_owned());
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            out.push(format!("{place}-{}", argument.get_id()));
        }
        for inner in command
            .get_subcommands()
            .filter(|command| command.get_name() != "help")
        {
            keys(inner, &format!("{place}-{}", inner.get_name()), out);
        }
    }

    /// Commands that slowpath and packages call, which no list shows.
    const NOT_FOR_PEOPLE: [&str; 3] = ["help-worker", "help-guard", "help-manual"];

    #[test]
    fn every_command_and_argument_has_help_in_japanese_and_no_help_is_of_none() {
        let mut command = crate::args::Cli::command();
        command.build();
        let mut all = Vec::new();
        keys(&command, "help", &mut all);
        let has = |key: &str| words::catalogue::has(Language::Japanese, key);
        let shared = |key: &str| {
            let id = key.rsplit_once('-').map_or(key, |(_, id)| id);
            has(&format!("help--{id}"))
        };
        let missing: Vec<&String> = all
            .iter()
            .filter(|key| {
                !key.starts_with("help-measure-")
                    && !NOT_FOR_PEOPLE.iter().any(|hidden| key.starts_with(hidden))
            })
            .filter(|key| !has(key) && !shared(key))
            .collect();
        assert!(missing.is_empty(), "without help: {missing:?}");
        let own = words::catalogue::keys(Language::Japanese);
        let known = [
            "help-template",
            "help-commands",
            "help-options",
            "help-arguments",
            "help-possible",
            "help-default",
        ];
        let stale: Vec<&String> = own
            .iter()
            .filter(|key| key.starts_with("help-") && !key.starts_with("help--") && !key.ends_with("--after"))
            .filter(|key| !all.contains(key) && !known.contains(&key.as_str()))
            .collect();
        assert!(stale.is_empty(), "help of nothing: {stale:?}");
    }
}
