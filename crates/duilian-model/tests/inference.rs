//! One place at a time equals all at once.
#![allow(missing_docs)]
#![cfg(feature = "flex")]

mod common;

use common::VOCABULARY;
use duilian_core::{Direction, TokenId};
use duilian_decoder::{Source, StepModel};
use duilian_model::{
    AlignedModel, AlignedTransformer, DefaultBackend, DefaultDevice, ModelConfig, ModelError, ModelWeights,
    NetworkWeightsExt, WeightFormat,
};

fn config() -> ModelConfig {
    ModelConfig { encoder_layers: 2, decoder_layers: 2, ..ModelConfig::tiny(VOCABULARY) }
}

fn network(seed: u64) -> AlignedTransformer<DefaultBackend> {
    AlignedTransformer::new(&config(), seed, &DefaultDevice::default()).expect("valid")
}

fn model(seed: u64) -> AlignedModel<DefaultBackend> {
    let weights = ModelWeights::from_model(&network(seed), &config(), "random");
    AlignedModel::from_weights(weights, DefaultDevice::default()).expect("fits")
}

fn tokens(ids: &[u16]) -> Vec<TokenId> {
    ids.iter().map(|&id| TokenId(id)).collect()
}

fn source(ids: &[u16], direction: Direction) -> Source {
    Source { tokens: tokens(ids), hints: vec![None; ids.len()], direction }
}

/// Sum of the log-probabilities of an answer, step by step.
fn stepwise(model: &AlignedModel<DefaultBackend>, source: &Source, answer: &[TokenId]) -> f64 {
    let mut state = model.start(std::slice::from_ref(source)).expect("starts");
    let (mut scores, mut sum, mut previous) = (Vec::new(), 0.0, Vec::new());
    for &token in answer {
        model.step(&mut state, &previous, &mut scores).expect("steps");
        sum += f64::from(scores[token.index()]);
        previous = vec![token];
    }
    sum
}

#[test]
fn cached_steps_equal_the_full_forward() {
    let model = model(1);
    for direction in Direction::ALL {
        for length in [1_usize, 2, 7, 30] {
            let given: Vec<u16> = (0..length as u16).map(|i| 14 + i * 7 % 40).collect();
            let answer = tokens(&given.iter().map(|id| 14 + (id + 5) % 40).collect::<Vec<_>>());
            let full = model.loss(&[(tokens(&given), answer.clone())], direction);
            assert_eq!(full.characters, length);
            let steps = stepwise(&model, &source(&given, direction), &answer);
            assert!((full.nats + steps).abs() < 1e-4 * length as f64, "{} {steps}", full.nats);
        }
    }
}

#[test]
fn direction_and_hints_change_the_scores() {
    let model = model(2);
    let first = |source: &Source| {
        let (mut scores, mut state) =
            (Vec::new(), model.start(std::slice::from_ref(source)).expect("starts"));
        model.step(&mut state, &[], &mut scores).expect("steps");
        scores
    };
    let forward = source(&[14, 15, 16], Direction::UpperToLower);
    let hinted = Source { hints: vec![None, None, Some(TokenId(30))], ..forward.clone() };
    assert_ne!(first(&forward), first(&source(&[14, 15, 16], Direction::LowerToUpper)));
    assert_ne!(first(&forward), first(&hinted));
}

#[test]
fn rows_that_are_selected_go_on_as_themselves() {
    let model = model(3);
    let sources: Vec<Source> = [[14, 20, 31], [15, 21, 32], [16, 22, 33]]
        .iter()
        .map(|s| source(s, Direction::UpperToLower))
        .collect();
    let alone = |i: usize, path: [u16; 2]| {
        let mut state = model.start(&sources[i..=i]).expect("starts");
        let mut scores = Vec::new();
        model.step(&mut state, &[], &mut scores).expect("steps");
        for id in path {
            model.step(&mut state, &tokens(&[id]), &mut scores).expect("steps");
        }
        scores
    };
    let mut state = model.start(&sources).expect("starts");
    let mut scores = Vec::new();
    model.step(&mut state, &[], &mut scores).expect("steps");
    assert_eq!(scores.len(), 3 * VOCABULARY);
    model.select(&mut state, &[2, 0, 0, 1]).expect("selects");
    model.step(&mut state, &tokens(&[40, 41, 42, 43]), &mut scores).expect("steps");
    model.select(&mut state, &[3, 2]).expect("selects");
    model.step(&mut state, &tokens(&[44, 45]), &mut scores).expect("steps");
    for (row, expected) in [alone(1, [43, 44]), alone(0, [42, 45])].iter().enumerate() {
        let found = &scores[row * VOCABULARY..(row + 1) * VOCABULARY];
        let difference = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-4, "{difference}");
    }
}

#[test]
fn what_the_model_cannot_do_is_an_error() {
    let model = model(4);
    let start = |sources: &[Source]| model.start(sources).map(|_| ()).expect_err("must fail");
    assert!(matches!(start(&[]), ModelError::Malformed { .. }));
    assert!(matches!(start(&[source(&[], Direction::UpperToLower)]), ModelError::Malformed { .. }));
    let long = source(&[14; 65], Direction::UpperToLower);
    assert!(matches!(start(&[long]), ModelError::TooLong { length: 65, limit: 64 }));
    let foreign = source(&[14, 54], Direction::UpperToLower);
    assert!(matches!(start(&[foreign]), ModelError::UnknownToken { id: 54, place: 2, size: VOCABULARY }));
    let uneven = [source(&[14], Direction::UpperToLower), source(&[14, 15], Direction::UpperToLower)];
    assert!(matches!(start(&uneven), ModelError::Malformed { .. }));

    let mut state = model.start(&[source(&[14], Direction::UpperToLower)]).expect("starts");
    let mut scores = Vec::new();
    assert!(model.select(&mut state, &[1]).is_err());
    model.step(&mut state, &[], &mut scores).expect("steps");
    assert!(model.step(&mut state, &tokens(&[14]), &mut scores).is_err(), "past the end");
}

#[test]
fn small_formats_stay_close() {
    let network = network(5);
    let weights = ModelWeights::from_model(&network, &config(), "random");
    let pair = [(tokens(&[14, 15, 16, 17]), tokens(&[30, 31, 32, 33]))];
    let loss = |weights: ModelWeights| {
        let model =
            AlignedModel::<DefaultBackend>::from_weights(weights, DefaultDevice::default()).expect("fits");
        model.loss(&pair, Direction::UpperToLower).per_character()
    };
    let exact = loss(weights.clone());
    for (format, allowed) in [(WeightFormat::F32, 0.0), (WeightFormat::F16, 0.01), (WeightFormat::Int8, 0.05)]
    {
        let bytes = weights.to_bytes(format).expect("writes");
        assert_eq!(bytes, weights.to_bytes(format).expect("writes"), "equal weights, equal bytes");
        let found = loss(ModelWeights::from_bytes(&bytes, "memory").expect("reads"));
        assert!((found - exact).abs() <= allowed, "{format:?}: {found} {exact}");
    }
}
