//! Answers one after another, cancellation, diverse beams, best-first filling, polishing, scoring, reranking and
//! explanations.

mod common;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Characters, Scripted, ScriptedState, assert_sound, broken};
use duilian_core::{Direction, Line, TokenId};
use duilian_decoder::{
    Answer, CancelToken, DecodeError, DecodeOptions, Question, RerankParts, RerankWeights, Reranker,
    SearchMethod, Source, StepModel, score, score_batch,
};

fn question(text: &str) -> Question {
    Question::new(Line::parse(text).expect("valid"), Direction::UpperToLower)
}

#[test]
fn a_stream_gives_one_answer_after_another() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 7);
    let q = question("明月松间照");
    for search in [SearchMethod::Beam, SearchMethod::Sampling, SearchMethod::BestFirst] {
        let options =
            DecodeOptions { search, num_hypotheses: 2, polish_rounds: 1, ..DecodeOptions::default() };
        let decoder = vocabulary.decoder(options);
        let take = || -> Vec<Answer> {
            let stream = decoder.stream(&model, &q, &CancelToken::new()).expect("answerable");
            stream.take(12).map(|answer| answer.expect("answered")).collect()
        };
        let answers = take();
        assert_eq!(answers.len(), 12);
        assert_eq!(answers.iter().map(|answer| &answer.line).collect::<HashSet<_>>().len(), 12);
        assert!(answers.iter().all(|answer| broken(&q, answer).is_empty()));
        assert_eq!(take(), answers);
    }
    let first = vocabulary.decoder(DecodeOptions::default());
    let best = first.answer(&model, &q).expect("answerable").swap_remove(0);
    let mut stream = first.stream(&model, &q, &CancelToken::new()).expect("answerable");
    assert_eq!(stream.next().expect("one").expect("answered"), best);
}

#[test]
fn a_stream_ends_when_there_is_no_other_line() {
    let vocabulary = Characters::new("春花秋".chars());
    let model = Scripted::new(&vocabulary, 0);
    let options = DecodeOptions { end_tone: false, min_difference: Some(1), ..DecodeOptions::default() };
    let decoder = vocabulary.decoder(options);
    let stream = decoder.stream(&model, &question("甲乙"), &CancelToken::new()).expect("answerable");
    assert_eq!(stream.map(|answer| answer.expect("answered").line).collect::<HashSet<_>>().len(), 6);
}

#[test]
fn a_stream_of_many_questions_names_each() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 7);
    let decoder = vocabulary.decoder(DecodeOptions::default());
    let impossible = question("春风").with_lock(0, '风').expect("valid");
    let questions = [question("海内存知己"), impossible, question("春雨"), question("白云")];
    let mut seen = [0; 4];
    for (i, answer) in decoder.stream_batch(&model, &questions, &CancelToken::new()).take(20) {
        seen[i] += 1;
        match answer {
            Ok(answer) => assert!(broken(&questions[i], &answer).is_empty()),
            Err(error) => assert!(i == 1 && matches!(error, DecodeError::Conflict { .. })),
        }
    }
    assert_eq!(seen[1], 1);
    assert!(seen.iter().all(|&n| n > 0));
}

/// Cancels after so many steps.
struct Stopping {
    inner: Scripted,
    token: CancelToken,
    left: AtomicUsize,
}

impl StepModel for Stopping {
    type State = ScriptedState;
    type Error = <Scripted as StepModel>::Error;

    fn vocabulary_size(&self) -> usize {
        self.inner.vocabulary_size()
    }
    fn max_length(&self) -> usize {
        64
    }
    fn start(&self, sources: &[Source]) -> Result<ScriptedState, Self::Error> {
        self.inner.start(sources)
    }
    fn step(
        &self,
        state: &mut ScriptedState,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), Self::Error> {
        assert!(!self.token.is_cancelled(), "a step after cancelling");
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.token.cancel();
        }
        self.inner.step(state, previous, log_probs)
    }
    fn select(&self, state: &mut ScriptedState, rows: &[usize]) -> Result<(), Self::Error> {
        self.inner.select(state, rows)
    }
}

#[test]
fn a_cancelled_search_stops_before_its_next_step() {
    let vocabulary = Characters::common();
    let questions = [question("春风"), question("海内存知己")];
    for search in [SearchMethod::Beam, SearchMethod::Sampling, SearchMethod::BestFirst] {
        let options = DecodeOptions { search, max_batch_size: 1, ..DecodeOptions::default() };
        let decoder = vocabulary.decoder(options);
        let stopping = |left| Stopping {
            inner: Scripted::new(&vocabulary, 1),
            token: CancelToken::new(),
            left: AtomicUsize::new(left),
        };
        let model = stopping(1);
        let cancelled = decoder.answer_until(&model, &questions[1], &model.token);
        assert!(matches!(cancelled, Err(DecodeError::Cancelled)));

        let long_enough = if search == SearchMethod::Beam { 3 } else { 1 };
        let model = stopping(long_enough);
        let results = decoder.answer_batch_until(&model, &questions, &model.token);
        assert_eq!(results[0].is_ok(), search == SearchMethod::Beam, "{search:?}");
        assert!(matches!(results[1], Err(DecodeError::Cancelled)));

        let model = stopping(40);
        let stream = decoder.stream(&model, &questions[0], &model.token).expect("answerable");
        let last = stream.last().expect("at least the error");
        assert!(matches!(last, Err(DecodeError::Cancelled)), "{search:?}");
    }
}

#[test]
fn diverse_groups_differ_more_than_one_beam() {
    let vocabulary = Characters::common();
    let q = question("大漠孤烟直");
    let spread = |num_beam_groups, diversity_penalty| -> usize {
        let mut different = 0;
        for seed in 0..10 {
            let model = Scripted::new(&vocabulary, seed);
            let options = DecodeOptions {
                beam_size: 6,
                num_hypotheses: 3,
                min_difference: Some(1),
                num_beam_groups,
                diversity_penalty,
                ..DecodeOptions::default()
            };
            let decoder = vocabulary.decoder(options);
            let answers = decoder.answer(&model, &q).expect("answerable");
            assert_eq!(answers.len(), 3);
            assert_sound(&model, &decoder, &q, &answers);
            for (i, a) in answers.iter().enumerate() {
                let differ = |b: &Answer| a.tokens.iter().zip(&b.tokens).filter(|(x, y)| x != y).count();
                different += answers[..i].iter().map(differ).sum::<usize>();
            }
        }
        different
    };
    assert!(spread(3, 5.0) > spread(1, 0.5));
    assert!(spread(3, 5.0) > spread(3, 0.0));
}

#[test]
fn polishing_never_lowers_a_score() {
    let vocabulary = Characters::common();
    for seed in 0..20 {
        let model = Scripted::new(&vocabulary, seed);
        let q = question("两个黄鹂鸣翠柳");
        let polished = |polish_rounds| {
            let options = DecodeOptions { polish_rounds, ..DecodeOptions::greedy() };
            let decoder = vocabulary.decoder(options);
            let answers = decoder.answer(&model, &q).expect("answerable");
            assert_sound(&model, &decoder, &q, &answers);
            answers[0].score
        };
        let (plain, once, often) = (polished(0), polished(1), polished(5));
        assert!(once >= plain && often >= once, "{plain} {once} {often}");
    }
}

/// Gives some tokens probabilities by what it sees, and all others the same share of the rest.
struct Told<F> {
    size: usize,
    tell: F,
}

impl<F: Fn(&Source, &[TokenId]) -> Vec<(usize, f32)>> StepModel for Told<F> {
    type State = Vec<(Source, Vec<TokenId>)>;
    type Error = std::convert::Infallible;

    fn vocabulary_size(&self) -> usize {
        self.size
    }
    fn max_length(&self) -> usize {
        64
    }
    fn start(&self, sources: &[Source]) -> Result<Self::State, Self::Error> {
        Ok(sources.iter().map(|source| (source.clone(), Vec::new())).collect())
    }
    fn step(
        &self,
        state: &mut Self::State,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), Self::Error> {
        log_probs.clear();
        for (row, (source, prefix)) in state.iter_mut().enumerate() {
            prefix.extend(previous.get(row));
            let told = (self.tell)(source, prefix);
            let rest: f32 = 1.0 - told.iter().map(|(_, probability)| probability).sum::<f32>();
            let other = (rest / (self.size - told.len()) as f32).ln();
            let from = log_probs.len();
            log_probs.resize(from + self.size, other);
            for (id, probability) in told {
                log_probs[from + id] = probability.ln();
            }
        }
        Ok(())
    }
    fn select(&self, state: &mut Self::State, rows: &[usize]) -> Result<(), Self::Error> {
        *state = rows.iter().map(|&row| state[row].clone()).collect();
        Ok(())
    }
}

#[test]
fn polishing_finds_what_a_first_reading_missed() {
    let vocabulary = Characters::new("春花秋月天地山水风雨".chars());
    let size = duilian_core::Vocabulary::size(&vocabulary);
    // The likelier first character leaves the second one open; the other one decides it.
    let tell = |_: &Source, prefix: &[TokenId]| match prefix {
        [] => vec![(size - 1, 0.6), (size - 2, 0.35)],
        [first] if first.index() == size - 2 => vec![(size - 3, 0.9)],
        _ => Vec::new(),
    };
    let model = Told { size, tell };
    let lines = |polish_rounds| {
        let search = SearchMethod::BestFirst;
        let options = DecodeOptions { search, polish_rounds, end_tone: false, ..DecodeOptions::default() };
        let answers = vocabulary.decoder(options).answer(&model, &question("甲乙")).expect("answerable");
        answers[0].line.to_string()
    };
    assert!(lines(0).starts_with('雨'));
    assert_eq!(lines(1), "风水");
}

#[test]
fn best_first_takes_the_surest_place_first() {
    let vocabulary = Characters::new("春花秋月天地山水风雨".chars());
    let size = duilian_core::Vocabulary::size(&vocabulary);
    // Sure of the last place whatever stands before; of the others it is sure only if the last one is a hint.
    let tell = |source: &Source, prefix: &[TokenId]| match (prefix.len(), source.hints[2]) {
        (2, _) => vec![(size - 1, 0.9)],
        (place, Some(_)) => vec![(size - 2 - place, 0.8)],
        (place, None) => vec![(12 + place, 0.3)],
    };
    let model = Told { size, tell };
    let options =
        DecodeOptions { search: SearchMethod::BestFirst, end_tone: false, ..DecodeOptions::default() };
    let answers = vocabulary.decoder(options).answer(&model, &question("甲乙丙")).expect("answerable");
    assert_eq!(answers[0].line.to_string(), "风水雨");
}

#[test]
fn forced_scores_are_those_of_the_search() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 5);
    let decoder = vocabulary.decoder(DecodeOptions { num_hypotheses: 4, ..DecodeOptions::default() });
    let questions = [question("白日依山尽，黄河入海流"), question("海内存知己"), question("大漠孤烟直")];
    let answers: Vec<Vec<Answer>> =
        questions.iter().map(|q| decoder.answer(&model, q).expect("answerable")).collect();
    let lines = |answers: &[Answer]| answers.iter().map(|answer| answer.line.clone()).collect::<Vec<Line>>();
    let pairs: Vec<(Question, Vec<Line>)> =
        questions.iter().cloned().zip(answers.iter().map(|answers| lines(answers))).collect();
    let batch = score_batch(&model, decoder.lexicon(), &pairs, 2, &CancelToken::new()).expect("scored");
    for ((q, lines), (answers, scores)) in pairs.iter().zip(answers.iter().zip(&batch)) {
        assert_eq!(&score(&model, decoder.lexicon(), q, lines).expect("scored"), scores);
        for (answer, score) in answers.iter().zip(scores) {
            assert_eq!(answer.place_log_probs, score.place_log_probs);
            assert!((answer.log_prob - score.log_prob).abs() < 1e-6);
            let weakest = answer.place_log_probs.iter().copied().fold(0.0, f32::min);
            assert!((score.weakest() - weakest).abs() < f32::EPSILON);
        }
    }
    let short = score(&model, decoder.lexicon(), &questions[1], &[Line::parse("天涯").expect("valid")]);
    assert!(matches!(short, Err(DecodeError::LineLength { got: 2, expected: 5 })));
    assert_eq!(score(&model, decoder.lexicon(), &questions[1], &[]).expect("nothing to do").len(), 0);
}

#[test]
fn reranking_orders_by_the_weighted_parts() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 5);
    let decoder = vocabulary.decoder(DecodeOptions { num_hypotheses: 8, ..DecodeOptions::default() });
    let q = question("海内存知己");
    let answers = decoder.answer(&model, &q).expect("answerable");
    let rank = |weights: RerankWeights| {
        let reranker = Reranker::new(weights).with_frequencies([('的', 100), ('一', 50)]);
        reranker.rerank(&model, decoder.lexicon(), &q, answers.clone()).expect("ranked")
    };
    let none = RerankWeights::from_values([0.0; 8]);
    let untouched: Vec<Answer> = rank(none).into_iter().map(|ranked| ranked.answer).collect();
    assert_eq!(untouched, answers);

    let reverse = rank(RerankWeights { reverse: 1.0, ..none });
    assert!(reverse.windows(2).all(|pair| pair[0].parts.reverse >= pair[1].parts.reverse));
    let turned = |line: &Line| {
        let turned = Question::new(line.clone(), Direction::LowerToUpper);
        let given = [q.line().clone()];
        score(&model, decoder.lexicon(), &turned, &given).expect("scored")[0].log_prob_per_character
    };
    for ranked in &reverse {
        assert!((ranked.parts.reverse - turned(&ranked.answer.line)).abs() < 1e-9);
        assert!((ranked.parts.forward - ranked.answer.log_prob_per_character).abs() < 1e-6);
        assert!((ranked.total - ranked.parts.reverse).abs() < 1e-9);
        assert!(ranked.parts.freshness > 0.0 && (0.0..=1.0).contains(&ranked.parts.tone_opposition));
    }
    let json = serde_json::to_value(&reverse[0]).expect("plain data");
    assert!(json["parts"]["reverse"].is_number() && json["answer"].is_string());
    // What the model rules out is last, not lost.
    let weights = RerankWeights::default();
    let lost = RerankParts { forward: f64::NEG_INFINITY, reverse: f64::INFINITY, ..RerankParts::default() };
    assert!(weights.total(&lost).is_infinite() && weights.total(&lost) < 0.0);
}

#[test]
fn an_explanation_tells_what_else_might_stand_there() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 5);
    let decoder = vocabulary.decoder(DecodeOptions::greedy());
    let q = question("人人为我，我为人人").with_lock(2, '爱').expect("valid");
    let vocabulary_lacks = vocabulary.decoder(DecodeOptions::default()).explain(
        &model,
        &question("海内存知己"),
        &decoder.answer(&model, &question("大漠孤烟直")).expect("answerable")[0],
        3,
    );
    assert!(vocabulary_lacks.is_ok() || matches!(vocabulary_lacks, Err(DecodeError::NotAllowed { .. })));
    let q = if decoder.lexicon().id('爱').is_some() { q } else { question("人人为我，我为人人") };
    let answer = decoder.answer(&model, &q).expect("answerable").swap_remove(0);
    let explanation = decoder.explain(&model, &q, &answer, 3).expect("explained");
    assert_eq!(explanation.answer, answer.line.to_string());
    assert_eq!(explanation.places.len(), 8);
    assert!(explanation.report.keeps_hard_rules() && explanation.waived.is_empty());
    assert!(explanation.devices.iter().all(|finding| !finding.outcome.is_missed()));
    let mut seen = HashSet::new();
    for place in &explanation.places {
        assert_eq!(place.character, answer.line.chars()[place.place - 1]);
        assert!((place.log_prob - answer.place_log_probs[place.place - 1]).abs() < 1e-6);
        if seen.insert(place.character) && !place.fixed {
            assert_eq!(place.alternatives.len(), 3);
            // Greedy search took the best.
            assert_eq!(place.alternatives[0].character, place.character);
            assert!(place.alternatives.windows(2).all(|pair| pair[0].log_prob >= pair[1].log_prob));
        } else {
            assert!(place.fixed);
            assert_eq!(place.alternatives.len(), 1);
        }
    }
    let mut foreign = answer.clone();
    foreign.tokens[0] = decoder.lexicon().token('人');
    let error = decoder.explain(&model, &q, &foreign, 3).expect_err("breaks R3");
    assert!(matches!(error, DecodeError::NotAllowed { place: 1, .. }));
    assert!(serde_json::to_string(&explanation).expect("plain data").contains("alternatives"));
}
