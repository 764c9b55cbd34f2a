//! Answers to the questions of a source, computed from results alone: comparisons, ledgers, verdicts and proofs.
//!
//! A question names variants and what is to be said of them; it holds no answer. Where the results do not tell, the answer
//! says so.

mod catalogue;
mod datagrams;
mod flows;
mod gain;
mod layers;
mod modes;
mod question;
mod range;
mod sender;
mod time;
mod variant;

pub use question::{Mode, Question};

use crate::results::{Answer, Results};
use variant::find;

/// The answer to each question, from the results as they are now.
pub fn answers(results: &Results, questions: &[Question]) -> Vec<Answer> {
    questions
        .iter()
        .map(|question| Answer {
            ask: question.ask.clone(),
            text: answer(results, question).join("\n"),
        })
        .filter(|answer| !answer.text.is_empty())
        .collect()
}

/// The sentences that a question asks for.
fn answer(results: &Results, question: &Question) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(
        question
            .time
            .iter()
            .filter_map(|name| time::of(find(results, name)?)),
    );
    for variant in question.limit.iter().filter_map(|name| find(results, name)) {
        let said = variant
            .sentence()
            .map(|said| format!("{}: {said}", results.label(variant)));
        out.extend(said);
        out.extend(gain::tests(results, variant));
    }
    for pair in &question.gain {
        out.extend(gain::of(results, pair));
    }
    for pair in &question.flows {
        out.extend(flows::of(results, pair));
    }
    out.extend(layers::of(results, &question.layers));
    out.extend(modes::of(results, &question.modes));
    out.extend(sender::of(results, &question.sender));
    out.extend(datagrams::of(results, &question.datagrams));
    out.extend(question.range.iter().filter_map(|wish| range::of(results, wish)));
    out.extend(range::settings(results, &question.range));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_that_were_not_run_are_not_spoken_of() {
        let question = Question {
            ask: "Why?".to_owned(),
            gain: vec![["a".to_owned(), "b".to_owned()]],
            time: vec!["a".to_owned()],
            limit: vec!["a".to_owned()],
            layers: vec!["a".to_owned(), "b".to_owned()],
            flows: vec![["a".to_owned(), "b".to_owned()]],
            ..Question::default()
        };
        assert_eq!(answers(&Results::new("x", 1), &[question]), []);
    }
}
