//! Greedy, beam and sampling over a scripted model.

mod common;

use std::collections::HashSet;

use common::{Characters, Scripted, assert_sound, broken};
use duilian_core::{Direction, Line, TokenId, is_han};
use duilian_decoder::{
    Answer, DecodeError, DecodeOptions, Decoder, Question, SearchMethod, Source, StepModel, TokenSet,
};
use duilian_prosody::{required_end_tone, satisfies_end_tone};

fn question(text: &str) -> Question {
    Question::new(Line::parse(text).expect("valid"), Direction::UpperToLower)
}

fn lines(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| answer.line.to_string()).collect()
}

/// All lines over the vocabulary that keep the rules, best first, without the decoder.
fn exhaustive(model: &Scripted, decoder: &Decoder, vocabulary: &Characters, q: &Question) -> Vec<String> {
    let plan = decoder.plan(q).expect("answerable");
    let mut found = vec![(String::new(), Vec::<TokenId>::new(), 0.0_f64)];
    for &given in q.line().chars() {
        let mut longer = Vec::new();
        for (text, tokens, sum) in found {
            let scores = model.log_probs(plan.source(), &tokens);
            let mark = duilian_core::is_mark(given);
            let candidates = if mark { vec![given] } else { vocabulary.han() };
            for c in candidates {
                let token = decoder.lexicon().token(c);
                let score = if mark { 0.0 } else { f64::from(scores[token.index()]) };
                longer.push((format!("{text}{c}"), [&tokens[..], &[token]].concat(), sum + score));
            }
        }
        found = longer;
    }
    let keeps_rules = |(text, tokens, sum): &(String, Vec<TokenId>, f64)| {
        let answer = Answer {
            line: Line::parse(text).expect("valid"),
            tokens: tokens.clone(),
            log_prob: *sum,
            log_prob_per_character: 0.0,
            place_log_probs: Vec::new(),
            score: *sum,
            waived: Vec::new(),
        };
        broken(q, &answer).is_empty()
    };
    let mut found: Vec<_> = found.into_iter().filter(keeps_rules).collect();
    // An end tone that is asked for softly is given up only if no line has it.
    let (tone, _) = required_end_tone(q.last_han(), q.direction());
    let ends_well = |(text, ..): &(String, _, _)| {
        text.chars().rfind(|&c| is_han(c)).is_some_and(|c| satisfies_end_tone(c, tone))
    };
    if found.iter().any(ends_well) {
        found.retain(ends_well);
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    found.into_iter().map(|(text, ..)| text).collect()
}

#[test]
fn a_beam_of_full_width_finds_the_best_of_all_lines() {
    let vocabulary = Characters::new("春花秋月天地山水".chars());
    for seed in 0..20 {
        let model = Scripted::new(&vocabulary, seed);
        for text in ["春花秋", "春春花", "山，水山", "？天、地。", "甲乙丙丁", "甲乙甲乙"]
        {
            // The widest level of the tree has fewer than 8^4 prefixes.
            let options = DecodeOptions {
                beam_size: 4096,
                num_hypotheses: 10,
                min_difference: Some(1),
                end_tone: true,
                ..DecodeOptions::default()
            };
            let decoder = vocabulary.decoder(options);
            let q = question(text);
            let Ok(answers) = decoder.answer(&model, &q) else {
                assert!(matches!(decoder.plan(&q), Err(DecodeError::Conflict { .. })));
                continue;
            };
            assert_sound(&model, &decoder, &q, &answers);
            let all = exhaustive(&model, &decoder, &vocabulary, &q);
            assert_eq!(lines(&answers), all[..all.len().min(10)]);
        }
    }
}

#[test]
fn greedy_takes_the_best_allowed_token_at_each_place() {
    let vocabulary = Characters::common();
    let decoder = vocabulary.decoder(DecodeOptions::greedy());
    for seed in 0..10 {
        let model = Scripted::new(&vocabulary, seed);
        let q = question("山外青山楼外楼，西湖歌舞几时休");
        let answers = decoder.answer(&model, &q).expect("answerable");
        assert_eq!(answers.len(), 1);
        assert_sound(&model, &decoder, &q, &answers);

        let plan = decoder.plan(&q).expect("answerable");
        let (mut draft, mut allowed, mut tokens) = (plan.draft(), TokenSet::default(), Vec::new());
        for place in 0..q.line().len() {
            let scores = model.log_probs(plan.source(), &tokens);
            plan.allowed(&draft, place, &mut allowed);
            let best = allowed.iter().max_by(|a, b| scores[a.index()].total_cmp(&scores[b.index()]));
            let best = best.expect("never a dead end");
            assert!(draft.tokens()[place].is_some() || plan.choose(&mut draft, place, best));
            tokens.push(best);
        }
        assert_eq!(answers[0].tokens, tokens);
    }
}

#[test]
fn a_wider_beam_is_no_worse_on_average() {
    let vocabulary = Characters::common();
    let total = |beam_size| -> f64 {
        let decoder = vocabulary.decoder(DecodeOptions { beam_size, ..DecodeOptions::default() });
        let best = |seed| {
            let model = Scripted::new(&vocabulary, seed);
            decoder.answer(&model, &question("海内存知己")).expect("answerable")[0].log_prob
        };
        (0..30).map(best).sum()
    };
    assert!(total(8) > total(1) + 1.0);
}

#[test]
fn n_best_lists_fill_and_hold_no_near_duplicates() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 3);
    for (text, min_difference) in
        [("海内存知己", 2), ("白日依山尽，黄河入海流", 3), ("大漠孤烟直", 2), ("春", 1), ("人人", 1)]
    {
        let options = DecodeOptions { num_hypotheses: 10, ..DecodeOptions::default() };
        let decoder = vocabulary.decoder(options);
        let q = question(text);
        let answers = decoder.answer(&model, &q).expect("answerable");
        assert_eq!(answers.len(), 10, "{text}");
        assert_sound(&model, &decoder, &q, &answers);
        for (i, a) in answers.iter().enumerate() {
            for b in &answers[..i] {
                let different = a.tokens.iter().zip(&b.tokens).filter(|(x, y)| x != y).count();
                assert!(different >= min_difference, "{} {}", a.line, b.line);
            }
        }
        let best = vocabulary.decoder(DecodeOptions { beam_size: 20, ..DecodeOptions::default() });
        // Later rounds may find a better line than the first, never a worse one.
        assert!(answers[0].score >= best.answer(&model, &q).expect("answerable")[0].score);
    }
}

#[test]
fn n_best_lists_hold_every_line_of_a_small_vocabulary() {
    let vocabulary = Characters::new("春花秋月天地".chars());
    let model = Scripted::new(&vocabulary, 0);
    let options = DecodeOptions { num_hypotheses: 500, end_tone: false, ..DecodeOptions::default() };
    let answers = vocabulary.decoder(options).answer(&model, &question("甲乙丙")).expect("answerable");
    assert_eq!(answers.len(), 6 * 5 * 4);
    assert_eq!(lines(&answers).iter().collect::<HashSet<_>>().len(), 120);
}

#[test]
fn a_batch_gives_what_each_question_gives_alone() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 9);
    let locked = question("高山流水").with_lock(1, '海').expect("valid");
    let questions = [
        question("春风"),
        question("海内存知己"),
        locked,
        question("小桥流水"),
        question("人人"),
        question("天地人和"),
    ];
    for search in [SearchMethod::Beam, SearchMethod::Sampling, SearchMethod::BestFirst] {
        for max_batch_size in [1, 2, 32] {
            let options = DecodeOptions {
                num_hypotheses: 3,
                max_batch_size,
                search,
                seed: 5,
                polish_rounds: 1,
                ..DecodeOptions::default()
            };
            let decoder = vocabulary.decoder(options);
            let batch = decoder.answer_batch(&model, &questions);
            assert_eq!(batch.len(), questions.len());
            for (q, answers) in questions.iter().zip(batch) {
                let answers = answers.expect("answerable");
                assert_sound(&model, &decoder, q, &answers);
                assert_eq!(answers, decoder.answer(&model, q).expect("answerable"));
            }
        }
    }
    assert_eq!(vocabulary.decoder(DecodeOptions::default()).answer_batch(&model, &[]).len(), 0);
}

#[test]
fn sampling_follows_its_seed_and_its_limits() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 1);
    let q = question("明月松间照");
    let with = |seed, sampling_topk, sampling_topp, sampling_temperature| {
        let options = DecodeOptions {
            num_hypotheses: 4,
            sampling_topk,
            sampling_topp,
            sampling_temperature,
            ..DecodeOptions::sampling(seed)
        };
        let decoder = vocabulary.decoder(options);
        let answers = decoder.answer(&model, &q).expect("answerable");
        assert_sound(&model, &decoder, &q, &answers);
        lines(&answers)
    };
    assert_eq!(with(1, 0, 1.0, 1.0), with(1, 0, 1.0, 1.0));
    assert_ne!(with(1, 0, 1.0, 1.0), with(2, 0, 1.0, 1.0));
    assert_eq!(with(1, 0, 1.0, 1.0).len(), 4);

    let greedy = vocabulary.decoder(DecodeOptions::greedy()).answer(&model, &q).expect("answerable");
    assert_eq!(with(1, 1, 1.0, 1.0), lines(&greedy));
    assert_eq!(with(1, 0, 1e-9, 1.0), lines(&greedy));
    assert_eq!(with(1, 0, 1.0, 1e-6), lines(&greedy));
}

#[test]
fn sampling_draws_in_proportion_to_probability() {
    let vocabulary = Characters::new("春花秋月".chars());
    let model = Scripted::new(&vocabulary, 4);
    let q = question("甲");
    let options = |seed| DecodeOptions { end_tone: false, ..DecodeOptions::sampling(seed) };
    let decoder = vocabulary.decoder(options(0));
    let scores = model.log_probs(decoder.plan(&q).expect("answerable").source(), &[]);
    let probability = |c| f64::from(scores[decoder.lexicon().token(c).index()]).exp();
    let all: f64 = vocabulary.han().into_iter().map(probability).sum();
    let draws = 4000;
    let mut counts = std::collections::HashMap::new();
    for seed in 0..draws {
        let answers = vocabulary.decoder(options(seed)).answer(&model, &q).expect("answerable");
        *counts.entry(answers[0].line.chars()[0]).or_insert(0_u32) += 1;
    }
    for c in vocabulary.han() {
        let expected = probability(c) / all;
        let got = f64::from(counts.get(&c).copied().unwrap_or(0)) / draws as f64;
        assert!((got - expected).abs() < 0.03, "{c}: {got} instead of {expected}");
    }
}

/// Gives every token the same odd number.
struct Constant {
    size: usize,
    value: f32,
    surplus: usize,
    limit: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("out of luck")]
struct OutOfLuck;

impl StepModel for Constant {
    type State = usize;
    type Error = OutOfLuck;

    fn vocabulary_size(&self) -> usize {
        self.size
    }
    fn max_length(&self) -> usize {
        self.limit
    }
    fn start(&self, sources: &[Source]) -> Result<usize, OutOfLuck> {
        if self.limit == 13 { Err(OutOfLuck) } else { Ok(sources.len()) }
    }
    fn step(&self, rows: &mut usize, _: &[TokenId], log_probs: &mut Vec<f32>) -> Result<(), OutOfLuck> {
        log_probs.clear();
        log_probs.resize(*rows * self.size + self.surplus, self.value);
        Ok(())
    }
    fn select(&self, rows: &mut usize, selected: &[usize]) -> Result<(), OutOfLuck> {
        *rows = selected.len();
        Ok(())
    }
}

#[test]
fn numbers_that_are_none_still_give_lines() {
    let vocabulary = Characters::common();
    let size = duilian_core::Vocabulary::size(&vocabulary);
    let q = question("一行白鹭上青天");
    for value in [f32::NAN, f32::NEG_INFINITY, f32::INFINITY, f32::MAX, 0.0] {
        for search in [SearchMethod::Beam, SearchMethod::Sampling, SearchMethod::BestFirst] {
            let options = DecodeOptions { num_hypotheses: 3, search, ..DecodeOptions::default() };
            let model = Constant { size, value, surplus: 0, limit: 64 };
            let answers = vocabulary.decoder(options).answer(&model, &q).expect("answerable");
            assert_eq!(answers.len(), 3);
            assert!(answers.iter().all(|answer| broken(&q, answer).is_empty()));
        }
    }
}

#[test]
fn faults_of_the_model_are_errors() {
    let vocabulary = Characters::common();
    let decoder = vocabulary.decoder(DecodeOptions::default());
    let size = duilian_core::Vocabulary::size(&vocabulary);
    let ask = |model: Constant, text: &str| decoder.answer(&model, &question(text)).expect_err("a fault");

    let error = ask(Constant { size, value: 0.0, surplus: 1, limit: 64 }, "春风");
    assert!(matches!(error, DecodeError::ScoreCount { rows: 1, .. }));
    let error = ask(Constant { size: size - 1, value: 0.0, surplus: 0, limit: 64 }, "春风");
    assert!(matches!(error, DecodeError::VocabularySize { .. }));
    let error = ask(Constant { size, value: 0.0, surplus: 0, limit: 3 }, "春风又绿");
    assert_eq!(error.to_string(), "the line has 4 characters; the model reads at most 3");
    let error = ask(Constant { size, value: 0.0, surplus: 0, limit: 13 }, "春风");
    let source = std::error::Error::source(&error).expect("the model's own error");
    assert_eq!(source.to_string(), "out of luck");
}

#[test]
fn a_question_that_cannot_be_answered_leaves_the_others_alone() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 1);
    let decoder = vocabulary.decoder(DecodeOptions::default());
    let impossible = question("春风").with_lock(0, '风').expect("valid");
    let long = question(&"天".repeat(65));
    let results = decoder.answer_batch(&model, &[impossible, question("春雨"), long]);
    assert!(matches!(results[0], Err(DecodeError::Conflict { place: 1, .. })));
    assert!(results[1].is_ok());
    assert!(matches!(results[2], Err(DecodeError::TooLong { length: 65, limit: 64 })));
}

#[test]
fn options_that_make_no_sense_are_named() {
    let base = DecodeOptions::default;
    for (options, name) in [
        (DecodeOptions { beam_size: 0, ..base() }, "beam_size"),
        (DecodeOptions { num_hypotheses: 0, ..base() }, "num_hypotheses"),
        (DecodeOptions { max_batch_size: 0, ..base() }, "max_batch_size"),
        (DecodeOptions { num_beam_groups: 0, ..base() }, "num_beam_groups"),
        (DecodeOptions { num_beam_groups: 5, ..base() }, "num_beam_groups"),
        (DecodeOptions { polish_places: 0, ..base() }, "polish_places"),
        (DecodeOptions { diversity_penalty: -1.0, ..base() }, "diversity_penalty"),
        (DecodeOptions { sampling_topp: 0.0, ..base() }, "sampling_topp"),
        (DecodeOptions { sampling_topp: f32::NAN, ..base() }, "sampling_topp"),
        (DecodeOptions { sampling_temperature: 0.0, ..base() }, "sampling_temperature"),
        (DecodeOptions { sampling_temperature: f32::INFINITY, ..base() }, "sampling_temperature"),
        (DecodeOptions { theme_weight: f32::NAN, ..base() }, "theme_weight"),
    ] {
        let error = options.validate().expect_err(name);
        assert!(matches!(error, DecodeError::Option { option, .. } if option == name));
    }
    let read: DecodeOptions = serde_json::from_str(
        r#"{"beam_size": 7, "search": "sampling", "sampling_topk": 3, "tone_pattern": "平仄"}"#,
    )
    .expect("valid");
    assert_eq!((read.beam_size, read.sampling_topk, read.search), (7, 3, SearchMethod::Sampling));
    assert_eq!(read.tone_pattern.as_ref().map(ToString::to_string), Some("平仄".into()));
    let again: DecodeOptions =
        serde_json::from_str(&serde_json::to_string(&read).expect("plain data")).expect("written by us");
    assert_eq!(again, read);
}
