//! What is known of a character, and the rules of parallel verse.
//!
//! * [`tones`]: level or oblique, after the rhyme book 平水韵, after modern readings, or after either.
//! * [`BlockedWords`]: words that no line may contain, with the contexts that contain one by accident.
//! * [`check`]: a [`Report`] of the rules R1 to R7: what a couplet keeps, what it misses, and where. Each rule
//!   is a function of its own too ([`length_and_marks`], [`repetition`], …).
//! * [`required_end_tone`]: what the end of the given line asks of the answer, for a search.
//!
//! * [`devices`]: what a line plays with, and where: palindromes, reduplication, shared radicals, split characters,
//!   homophones, numbers, …; [`device_report`] says whether the answer plays along.
//! * [`components`], [`radical`], [`syllables`], [`elements`], [`semantic_classes`]: what is known of a character.
//! * [`TonePattern`] and [`RegulatedForm`], [`EmbeddingForm`]: tone patterns and embedded characters by name.
//! * [`says_the_same`]: synonymous lines. With the feature `words`, `WordSegmenter`: word boundaries.
//!
//! `docs/rules.md` of the repository has the exact rules, the sources of the tables and the figures.
//!
//! ```
//! use duilian_core::Couplet;
//! use duilian_prosody::{Rule, RuleConfig, check};
//!
//! let couplet = Couplet::parse("雨后青山近", "风前白鸟低")?;
//! let report = check(&couplet, &RuleConfig::default());
//! assert!(report.keeps_hard_rules());
//! assert_eq!(report.finding(Rule::WordClass).outcome.rate(), Some(1.0)); // 后 and 前, 青 and 白
//! # Ok::<(), duilian_core::LineError>(())
//! ```

mod blocked;
mod character;
mod devices;
mod embedding;
mod end_tone;
mod error;
mod pattern;
mod rules;
mod semantic_class;
mod synonyms;
mod tone;
mod word_class;
#[cfg(feature = "words")]
mod words;

pub use blocked::BlockedWords;
pub use character::{
    Element, Syllable, are_homophones, component_of, components, decompositions, elements, has_component,
    homophones, is_split, number_value, radical, shared_component, shares_component, splits, syllables,
    visible_components,
};
pub use devices::{
    Confidence, Device, DeviceFinding, DeviceKind, Progression, Reduplication, device_report, devices,
};
pub use embedding::{EmbeddingForm, Locks};
pub use end_tone::{end_tone, required_end_tone, satisfies_end_tone};
pub use error::ProsodyError;
pub use pattern::{RegulatedForm, TonePattern};
pub use rules::{
    Finding, Force, Outcome, Report, Rule, RuleConfig, check, check_text, check_with, clean_output,
    end_tones, length_and_marks, repetition, shared_characters, tone_opposition,
};
pub use semantic_class::{SemanticClass, same_semantic_class, semantic_classes};
pub use synonyms::{are_synonyms, says_the_same, synonymous_words};
pub use tone::{Tone, ToneBook, ToneSet, tones};
pub use word_class::{WordClass, word_class, word_classes};
#[cfg(feature = "words")]
pub use words::WordSegmenter;
