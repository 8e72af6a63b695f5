//! The engine against the network on burn, and against itself in other batches, on other processors, on more threads.
#![allow(missing_docs)]

use std::sync::LazyLock;

use duilian_core::{Direction, Line, TokenId, Vocabulary};
use duilian_decoder::{
    Answer, DecodeError, DecodeOptions, Decoder, Lexicon, Question, SearchMethod, Source, StepModel,
};
use duilian_engine::{
    Engine, EngineError, Level, Precision, Shortlist, ShortlistBuilder, ShortlistConfig, answer_parallel,
    loss_of_pairs,
};
use duilian_model::{
    AlignedModel, AlignedTransformer, DefaultBackend, ModelConfig, ModelWeights, NetworkWeightsExt,
    WeightFormat,
};
use duilian_prosody::BlockedWords;
use duilian_tokenizer::CharTokenizer;
use proptest::prelude::*;

type Burn = AlignedModel<DefaultBackend>;

struct Pretrained {
    tokenizer: CharTokenizer,
    weights: ModelWeights,
    burn: Burn,
    f32: Engine,
    int8: Engine,
    fast: Engine,
}

static PRETRAINED: LazyLock<Pretrained> = LazyLock::new(|| {
    let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights").expect("whole");
    let engine = |precision| Engine::from_weights(&weights, precision).expect("fits");
    Pretrained {
        tokenizer: CharTokenizer::from_json(duilian_pretrained::TOKENIZER).expect("whole"),
        burn: Burn::from_weights(weights.clone(), Default::default()).expect("fits"),
        f32: engine(Precision::F32),
        int8: engine(Precision::Int8),
        fast: engine(Precision::Int8Fast),
        weights,
    }
});

/// Every `step`th pair of the corpus that is written for this project.
fn pairs(step: usize) -> Vec<(Line, Line)> {
    let lines = |a: duilian_corpus::Authored| (a.couplet.upper().clone(), a.couplet.lower().clone());
    duilian_corpus::authored().step_by(step).map(lines).collect()
}

impl Pretrained {
    fn decoder(&self, options: DecodeOptions) -> Decoder {
        let lexicon = Lexicon::new(&self.tokenizer, CharTokenizer::UNK, &BlockedWords::default());
        Decoder::new(lexicon, options).expect("valid options")
    }

    fn tokens(&self, step: usize) -> Vec<(Vec<TokenId>, Vec<TokenId>)> {
        let encode = |line: &Line| self.tokenizer.encode(line);
        pairs(step).iter().map(|(upper, lower)| (encode(upper), encode(lower))).collect()
    }
}

fn questions(step: usize) -> Vec<Question> {
    pairs(step).into_iter().map(|(upper, _)| Question::new(upper, Direction::UpperToLower)).collect()
}

fn random(config: &ModelConfig, seed: u64) -> (Burn, ModelWeights) {
    let network =
        AlignedTransformer::<DefaultBackend>::new(config, seed, &Default::default()).expect("valid");
    let weights = ModelWeights::from_model(&network, config, "random");
    (Burn::new(network, config.clone(), Default::default()), weights)
}

/// Takes two models the same way and returns the largest difference of their log-probabilities.
fn difference<A: StepModel, B: StepModel>(one: &A, other: &B, sources: &[Source], choices: &[usize]) -> f32 {
    let size = one.vocabulary_size();
    let (mut a, mut b) = (one.start(sources).expect("starts"), other.start(sources).expect("starts"));
    let (mut p, mut q, mut previous, mut worst) = (Vec::new(), Vec::new(), Vec::new(), 0.0_f32);
    let mut rows = sources.len();
    for place in 0..sources[0].tokens.len() {
        one.step(&mut a, &previous, &mut p).expect("steps");
        other.step(&mut b, &previous, &mut q).expect("steps");
        assert_eq!((p.len(), q.len()), (rows * size, rows * size));
        worst = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).fold(worst, f32::max);
        let pick = |i: usize| choices[(place * 7 + i) % choices.len()];
        // As a beam does: rows are copied, dropped and crossed.
        let next: Vec<usize> = (0..=pick(0) % 5).map(|i| pick(i + 1) % rows).collect();
        one.select(&mut a, &next).expect("selects");
        other.select(&mut b, &next).expect("selects");
        rows = next.len();
        previous = (0..rows).map(|i| TokenId((pick(i + 3) % size) as u16)).collect();
    }
    worst
}

prop_compose! {
    fn sources(size: usize)(length in 1_usize..12)(
        lines in prop::collection::vec((
            prop::collection::vec(0..size as u16, length),
            prop::collection::vec(prop::option::weighted(0.3, 0..size as u16), length),
            any::<bool>(),
        ), 1..5),
    ) -> Vec<Source> {
        lines.into_iter().map(|(tokens, hints, reverse)| Source {
            tokens: tokens.into_iter().map(TokenId).collect(),
            hints: hints.into_iter().map(|hint| hint.map(TokenId)).collect(),
            direction: if reverse { Direction::LowerToUpper } else { Direction::UpperToLower },
        }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn random_networks_are_the_same_on_both(
        sources in sources(61),
        choices in prop::collection::vec(0_usize..1_000, 30),
        layers in (1_usize..3, 1_usize..4),
        widths in prop::sample::select(vec![(32, 64, 2), (40, 50, 5), (21, 33, 3), (64, 256, 1)]),
        seed in 0_u64..50,
    ) {
        let (d_model, d_ff, heads) = widths;
        let (encoder_layers, decoder_layers) = layers;
        let config = ModelConfig { d_model, d_ff, heads, encoder_layers, decoder_layers, ..ModelConfig::tiny(61) };
        let (burn, weights) = random(&config, seed);
        let engine = Engine::from_weights(&weights, Precision::F32).expect("fits");
        for level in Level::available() {
            let worst = difference(&burn, &engine.clone().with_level(level), &sources, &choices);
            prop_assert!(worst < 1e-4, "{level:?}: {worst}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(8) })]

    #[test]
    fn trained_weights_are_the_same_on_both(
        sources in sources(8_076),
        choices in prop::collection::vec(0_usize..1_000_000, 30),
    ) {
        let worst = difference(&PRETRAINED.burn, &PRETRAINED.f32, &sources, &choices);
        prop_assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn eight_bits_are_the_same_on_every_processor(
        sources in sources(8_076),
        choices in prop::collection::vec(0_usize..1_000_000, 30),
    ) {
        // Products are exact; what is left is the order of sums in norms and attention, and where it turns a number
        // to the next one of 255.
        for (engine, allowed) in [(&PRETRAINED.int8, 0.25), (&PRETRAINED.fast, 0.5)] {
            for level in Level::available() {
                let worst = difference(engine, &engine.clone().with_level(level), &sources, &choices);
                prop_assert!(worst < allowed, "{level:?}: {worst}");
            }
        }
    }
}

#[test]
fn searches_find_the_same_on_both() {
    let all = &*PRETRAINED;
    let questions = questions(60);
    for options in [DecodeOptions::greedy(), DecodeOptions::default()] {
        let decoder = all.decoder(options);
        let pairs = decoder.answer_batch(&all.burn, &questions).into_iter();
        for (burn, engine) in pairs.zip(decoder.answer_batch(&all.f32, &questions)) {
            let (burn, engine) = (burn.expect("answers"), engine.expect("answers"));
            assert_eq!(burn[0].line, engine[0].line);
            assert!((burn[0].log_prob - engine[0].log_prob).abs() < 1e-3);
        }
    }
}

#[test]
fn neither_batches_nor_threads_change_an_answer() {
    let all = &*PRETRAINED;
    let questions = questions(70);
    for options in [
        DecodeOptions { num_hypotheses: 3, ..DecodeOptions::default() },
        DecodeOptions { search: SearchMethod::Sampling, sampling_topk: 20, ..DecodeOptions::default() },
    ] {
        let decoder = all.decoder(options);
        let found = |results: Vec<Result<Vec<Answer>, DecodeError>>| {
            results.into_iter().collect::<Result<Vec<_>, _>>().expect("answers")
        };
        let whole = found(decoder.answer_batch(&all.int8, &questions));
        for threads in [1, 2, 3, 8] {
            let parallel = found(answer_parallel(&decoder, &all.int8, &questions, threads));
            assert_eq!(parallel, whole, "{threads} threads");
        }
        for (question, whole) in questions.iter().zip(&whole) {
            assert_eq!(&decoder.answer(&all.int8, question).expect("answers"), whole);
        }
    }
}

/// Share of equal greedy answers, and how much the loss per character grows.
fn compare(reference: &impl StepModel, other: &impl StepModel, step: usize) -> (f64, f64) {
    let all = &*PRETRAINED;
    let (decoder, questions) = (all.decoder(DecodeOptions::greedy()), questions(step));
    let (a, b) = (decoder.answer_batch(reference, &questions), decoder.answer_batch(other, &questions));
    let line = |answers: &Result<Vec<Answer>, _>| answers.as_ref().ok().map(|a| a[0].line.clone());
    let same = a.iter().zip(&b).filter(|(a, b)| line(a) == line(b)).count();
    let loss = |model: &dyn Fn() -> f64| model();
    let tokens = all.tokens(step);
    let counts = |token: TokenId| token >= CharTokenizer::FIRST_HAN;
    let direction = Direction::UpperToLower;
    let before =
        loss(&|| loss_of_pairs(reference, &tokens, direction, counts).expect("scores").per_character());
    let after = loss(&|| loss_of_pairs(other, &tokens, direction, counts).expect("scores").per_character());
    (same as f64 / questions.len() as f64, after - before)
}

#[test]
fn eight_bits_answer_alike() {
    let all = &*PRETRAINED;
    let (same, worse) = compare(&all.f32, &all.int8, 12);
    assert!(same >= 0.97 && worse < 0.01, "{same} {worse}");
    let (same, worse) = compare(&all.f32, &all.fast, 12);
    assert!(same >= 0.8 && worse < 0.01, "fast: {same} {worse}");
    // Other levels add up in another order, but answer alike.
    let portable = all.int8.clone().with_level(Level::PORTABLE);
    let (same, worse) = compare(&all.int8, &portable, 60);
    assert!(same >= 0.97 && worse.abs() < 0.01, "portable: {same} {worse}");
}

#[test]
fn loss_is_the_same_on_both() {
    let all = &*PRETRAINED;
    let tokens = all.tokens(60);
    for direction in Direction::ALL {
        let burn = all.burn.loss(&tokens, direction);
        let counts = |token: TokenId| token >= CharTokenizer::FIRST_HAN;
        let own = loss_of_pairs(&all.f32, &tokens, direction, counts).expect("scores");
        assert_eq!((own.pairs, own.characters), (burn.pairs, burn.characters));
        assert!((own.per_character() - burn.per_character()).abs() < 1e-4);
    }
}

fn shortlist(config: &ShortlistConfig) -> Shortlist {
    let mut builder = ShortlistBuilder::new(PRETRAINED.tokenizer.size());
    for (upper, lower) in PRETRAINED.tokens(1) {
        builder.add(&upper, &lower);
    }
    builder.finish(config)
}

#[test]
fn a_shortlist_changes_little_and_keeps_the_rest_possible() {
    let all = &*PRETRAINED;
    let list = shortlist(&ShortlistConfig { per_character: 200, common: 1_500 });
    let short = all.int8.clone().with_shortlist(list.clone()).expect("fits");
    let (same, _) = compare(&all.int8, &short, 40);
    assert!(same >= 0.6, "{same}");
    // In single precision the same candidates are scored.
    let exact = all.f32.clone().with_shortlist(list).expect("fits");
    let source = Source {
        tokens: vec![TokenId(20), TokenId(4), TokenId(500)],
        hints: vec![Some(TokenId(8_000)), None, None],
        direction: Direction::UpperToLower,
    };
    let scored = |engine: &Engine| {
        let mut state = engine.start(std::slice::from_ref(&source)).expect("starts");
        let mut log_probs = Vec::new();
        engine.step(&mut state, &[], &mut log_probs).expect("steps");
        log_probs
    };
    let (whole, listed) = (scored(&all.f32), scored(&exact));
    let kept: Vec<usize> = (0..listed.len()).filter(|&i| listed[i] > -30.0).collect();
    assert!(
        kept.contains(&8_000) && kept.contains(&20) && kept.len() < 2_000,
        "the hint and the given character"
    );
    let sum: f32 = listed.iter().filter(|p| **p > -30.0).map(|p| p.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    let shift = listed[8_000] - whole[8_000];
    assert!(kept.iter().all(|&i| (listed[i] - whole[i] - shift).abs() < 1e-3), "the same but for the sum");
    // An empty shortlist leaves almost nothing, and every rule is kept all the same.
    let none = ShortlistBuilder::new(all.tokenizer.size()).finish(&ShortlistConfig::default());
    let blind = all.int8.clone().with_shortlist(none).expect("fits");
    let question = Question::new(Line::parse("春风又绿江南岸").expect("a line"), Direction::UpperToLower);
    let answers = all.decoder(DecodeOptions::default()).answer(&blind, &question).expect("answers");
    assert_eq!(answers[0].line.len(), 7);
}

#[test]
fn files_of_shortlists_come_back_and_damage_is_named() {
    let list = shortlist(&ShortlistConfig { per_character: 3, common: 5 });
    let bytes = list.to_bytes();
    let read = Shortlist::from_bytes(&bytes, "memory").expect("reads");
    assert_eq!((read.to_bytes(), read.common()), (bytes.clone(), list.common()));
    assert_eq!(read.answers(TokenId(20)), list.answers(TokenId(20)));
    for cut in [0, 7, 8, 12, 16, 20, bytes.len() / 2, bytes.len() - 1] {
        let error = Shortlist::from_bytes(&bytes[..cut], "memory").expect_err("cut off");
        assert!(matches!(error, EngineError::DamagedShortlist { .. }), "{cut}: {error}");
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x40;
        assert!(Shortlist::from_bytes(&damaged, "memory").is_err(), "byte {place}");
    }
    let small = ShortlistBuilder::new(10).finish(&ShortlistConfig::default());
    let error = PRETRAINED.int8.clone().with_shortlist(small).expect_err("another vocabulary");
    assert!(matches!(error, EngineError::ShortlistSize { shortlist: 10, .. }));
}

#[test]
fn what_an_engine_cannot_do_is_an_error() {
    let engine = &PRETRAINED.int8;
    let source = |tokens: &[u16]| Source {
        tokens: tokens.iter().copied().map(TokenId).collect(),
        hints: vec![None; tokens.len()],
        direction: Direction::UpperToLower,
    };
    let start = |sources: &[Source]| engine.start(sources).expect_err("is refused");
    assert!(matches!(start(&[]), EngineError::Malformed { .. }));
    assert!(matches!(start(&[source(&[])]), EngineError::Malformed { .. }));
    assert!(matches!(start(&[source(&[20; 65])]), EngineError::TooLong { length: 65, limit: 64 }));
    assert!(matches!(start(&[source(&[20, 9_999])]), EngineError::UnknownToken { id: 9_999, place: 2, .. }));
    assert!(matches!(start(&[source(&[20]), source(&[20, 21])]), EngineError::Malformed { .. }));
    let mut state = engine.start(&[source(&[20])]).expect("starts");
    let mut log_probs = Vec::new();
    assert!(engine.select(&mut state, &[1]).is_err());
    engine.step(&mut state, &[], &mut log_probs).expect("steps");
    assert!(engine.step(&mut state, &[TokenId(20)], &mut log_probs).is_err(), "past the end");
    let mut tensors = PRETRAINED.weights.tensors().clone();
    tensors.remove("encoder_norm.gamma");
    let missing = ModelWeights::new(PRETRAINED.weights.config().clone(), "one is missing", tensors);
    let error = Engine::from_weights(&missing, Precision::Int8).expect_err("is missing").to_string();
    assert!(error.contains("encoder_norm.gamma"), "{error}");
    let other = ModelConfig { d_ff: 512, ..PRETRAINED.weights.config().clone() };
    let uneven = ModelWeights::new(other, "other sizes", PRETRAINED.weights.tensors().clone());
    assert!(matches!(Engine::from_weights(&uneven, Precision::F32), Err(EngineError::Weights(_))));
}

#[test]
fn any_stored_precision_will_do() {
    let (_, weights) = random(&ModelConfig::tiny(50), 3);
    let source = Source {
        tokens: vec![TokenId(20), TokenId(30), TokenId(40)],
        hints: vec![None; 3],
        direction: Direction::LowerToUpper,
    };
    let exact = Engine::from_weights(&weights, Precision::F32).expect("fits");
    for format in [WeightFormat::Int8, WeightFormat::F16, WeightFormat::F32] {
        let bytes = weights.to_bytes(format).expect("writes");
        let read = ModelWeights::from_bytes(&bytes, "memory").expect("reads");
        for precision in [Precision::F32, Precision::Int8, Precision::Int8Fast] {
            let engine = Engine::from_weights(&read, precision).expect("fits");
            let worst = difference(&exact, &engine, std::slice::from_ref(&source), &[0, 1, 2]);
            assert!(worst < 0.1, "{format:?} {precision:?}: {worst}");
        }
    }
}

#[test]
fn the_first_token_is_the_vocabulary_s() {
    // The engine knows the number only.
    assert_eq!(CharTokenizer::BOS, TokenId(2));
}
