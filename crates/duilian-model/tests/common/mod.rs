//! A small world of our own: characters that answer each other by number.
#![allow(dead_code)] // each test file uses a part

use std::path::Path;
use std::sync::Arc;

use duilian_core::TokenId;
use duilian_model::{ModelConfig, ShardSet, ShardWriter, TrainConfig, TrainerSetup, ValidationSet};

/// Tokens: 14 reserved ones, and 20 pairs of characters that answer each other.
pub(crate) const VOCABULARY: usize = 54;

/// Lines of 2 to 6 characters in which `14 + i` is answered by `34 + i`.
pub(crate) fn shards(folder: &Path, seed: u16, pairs: usize) -> Arc<ShardSet> {
    let mut writer = ShardWriter::create(folder, VOCABULARY).expect("makes");
    let mut state = seed.wrapping_mul(2) + 1;
    let mut next = || {
        state = state.wrapping_mul(25_173).wrapping_add(13_849);
        state >> 4
    };
    for i in 0..pairs {
        let length = 2 + i % 5;
        let numbers: Vec<u16> = (0..length).map(|_| next() % 20).collect();
        let upper: Vec<TokenId> = numbers.iter().map(|n| TokenId(14 + n)).collect();
        let lower: Vec<TokenId> = numbers.iter().map(|n| TokenId(34 + n)).collect();
        writer.push(&upper, &lower, if i % 7 == 0 { "rare" } else { "common" }).expect("valid");
    }
    writer.finish().expect("writes");
    Arc::new(ShardSet::open(folder).expect("opens"))
}

/// A run of a second or two.
pub(crate) fn setup(folder: &Path, characters: u64) -> TrainerSetup {
    let train = shards(&folder.join("train"), 1, 400);
    let valid = shards(&folder.join("valid"), 2, 60);
    TrainerSetup {
        model: ModelConfig::tiny(VOCABULARY),
        train: TrainConfig {
            total_characters: characters,
            batch_characters: 128,
            learning_rate: 5e-3,
            warmup_steps: 20,
            validate_every: 50,
            checkpoint_steps: 20,
            ..TrainConfig::default()
        },
        shards: train,
        validation: vec![ValidationSet { name: "valid".into(), shards: valid }],
        folder: folder.join("run"),
        resume: false,
        start_from: None,
    }
}
