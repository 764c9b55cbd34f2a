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
        .map(|question| {
            let parts = answer(results, question);
            Answer {
                ask: question.ask.clone(),
                text: parts.join(" "),
                parts,
            }
        })
        .filter(|answer| !answer.parts.is_empty())
        .collect()
}

/// What a question asks for, part by part.
fn answer(results: &Results, question: &Question) -> Vec<String> {
    let mut parts: Vec<Vec<String>> = Vec::new();
    for variant in question.time.iter().filter_map(|name| find(results, name)) {
        parts.push(time::of(variant).into_iter().collect());
    }
    for variant in question.limit.iter().filter_map(|name| find(results, name)) {
        let said = variant
            .sentence()
            .map(|said| format!("{}: {said}", results.label(variant)));
        parts.push(said.into_iter().chain(gain::tests(results, variant)).collect());
    }
    for pair in &question.gain {
        parts.push(gain::of(results, pair).into_iter().collect());
    }
    for pair in &question.flows {
        parts.push(flows::of(results, pair).into_iter().collect());
    }
    parts.push(layers::of(results, &question.layers).into_iter().collect());
    parts.push(modes::of(results, &question.modes).into_iter().collect());
    let rows = sender::of(results, &question.sender).into_iter();
    parts.extend(
        rows.chain(datagrams::of(results, &question.datagrams))
            .map(|row| vec![row]),
    );
    for wish in &question.range {
        parts.push(range::of(results, wish).into_iter().collect());
    }
    let said = parts.into_iter().filter(|sentences| !sentences.is_empty());
    said.map(|sentences| sentences.join(" ")).collect()
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
