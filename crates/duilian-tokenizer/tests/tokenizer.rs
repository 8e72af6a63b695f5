//! Behaviour of the vocabulary: agreement with the `tokenizers` pipeline and with Python, round trips.
#![allow(missing_docs)]

mod support;

use std::collections::BTreeMap;

use duilian_core::{Line, MARKS, TokenId, Vocabulary, is_han};
use duilian_tokenizer::{CharTokenizer, TrainerConfig};
use proptest::prelude::*;
use support::{all_of, line, tokenizer};

#[derive(serde::Deserialize)]
struct Expected {
    vocabulary: BTreeMap<String, u16>,
    lines: Vec<(String, Vec<u16>)>,
}

#[test]
fn python_reads_the_same_ids() {
    let tokenizer = tokenizer();
    assert_eq!(
        tokenizer.to_json(),
        include_bytes!("data/tokenizer.json"),
        "the fixture is of this vocabulary"
    );
    let expected: Expected =
        serde_json::from_slice(include_bytes!("data/python_ids.json")).expect("written by reference.py");

    assert_eq!(expected.vocabulary.len(), tokenizer.size());
    for (token, id) in expected.vocabulary {
        match CharTokenizer::SPECIAL.iter().position(|&name| name == token) {
            Some(special) => assert_eq!(special, usize::from(id), "{token}"),
            None => assert_eq!(tokenizer.character(TokenId(id)).map(String::from), Some(token)),
        }
    }
    assert!(expected.lines.len() >= 5);
    for (text, ids) in expected.lines {
        let found: Vec<u16> = tokenizer.encode(&line(&text)).iter().map(|t| t.0).collect();
        assert_eq!(found, ids, "{text}");
    }
}

#[test]
fn the_libraries_write_the_same_bytes() {
    let bytes = tokenizer().pipeline().expect("builds").to_string(true).expect("writes").into_bytes();
    assert_eq!(String::from_utf8(bytes), String::from_utf8(tokenizer().to_json()));
}

#[test]
fn a_vocabulary_of_full_size_agrees_with_the_pipeline() {
    let characters: Vec<char> = ('\u{4E00}'..='\u{9FFF}').chain('\u{20000}'..='\u{21FFF}').collect();
    let text = Line::from_chars(characters).expect("Han");
    let tokenizer =
        CharTokenizer::train([&text], &TrainerConfig { min_frequency: 1, ..TrainerConfig::default() })
            .expect("valid");
    assert_eq!(tokenizer.size(), 8_192);
    let encoding = tokenizer.pipeline().expect("builds").encode(text.to_string(), false).expect("encodes");
    let ids: Vec<u32> = tokenizer.encode(&text).iter().map(|t| u32::from(t.0)).collect();
    assert_eq!(encoding.get_ids(), ids);
}

#[test]
fn all_sixteen_bits_are_used() {
    let han: Vec<char> = ('\u{3400}'..='\u{3FFFD}').filter(|&c| is_han(c)).take(65_600).collect();
    let text = Line::from_chars(han).expect("Han");
    let tokenizer = CharTokenizer::train([&text], &TrainerConfig { min_frequency: 1, max_size: 65_536 });
    let tokenizer = CharTokenizer::from_json(&tokenizer.expect("valid").to_json()).expect("whole");
    assert_eq!(tokenizer.size(), 65_536);
    let last = tokenizer.character(TokenId(65_535)).expect("a character");
    assert_eq!(tokenizer.id(last), Some(TokenId(65_535)));
}

#[test]
fn threads_share_a_tokenizer() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>() {}
    shared::<CharTokenizer>();
    assert_eq!(format!("{:?}", tokenizer()), format!("CharTokenizer {{ size: {}, .. }}", tokenizer().size()));
}

#[test]
fn lines_of_marks_and_no_lines_train_to_the_marks() {
    let tokenizer = CharTokenizer::train([], &TrainerConfig::default()).expect("valid");
    assert_eq!(tokenizer.size(), CharTokenizer::FIRST_HAN.index());
    assert_eq!(MARKS.map(|m| tokenizer.id(m).expect("always there").0), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
}

#[test]
fn configs_take_defaults_and_refuse_what_they_do_not_know() {
    let read = serde_json::from_str::<TrainerConfig>;
    assert_eq!(read("{}").expect("valid"), TrainerConfig::default());
    assert_eq!(read(r#"{"min_frequency":5}"#).expect("valid").max_size, 8_192);
    assert!(read(r#"{"min_frequncy":5}"#).expect_err("misspelt").to_string().contains("min_frequncy"));
}

fn known_line() -> impl Strategy<Value = Line> {
    let characters: Vec<char> =
        (4..tokenizer().size() as u16).filter_map(|id| tokenizer().character(TokenId(id))).collect();
    prop::collection::vec(prop::sample::select(characters), 1..30)
        .prop_filter_map("marks alone are no line", |c| Line::from_chars(c).ok())
}

fn any_line() -> impl Strategy<Value = Line> {
    let character = prop_oneof![
        prop::char::range('\u{3400}', '\u{3500}'),
        prop::char::range('\u{4E00}', '\u{9FFF}'),
        prop::char::range('\u{20000}', '\u{20100}'),
        prop::sample::select("春风日月".chars().chain(MARKS).collect::<Vec<_>>()),
    ];
    prop::collection::vec(character, 1..30)
        .prop_filter_map("marks alone are no line", |c| Line::from_chars(c).ok())
}

proptest! {
    #[test]
    fn known_lines_survive_the_round_trip(line in known_line()) {
        let tokenizer = tokenizer();
        prop_assert_eq!(tokenizer.decode(&tokenizer.encode(&line)).expect("known"), line.to_string());
        prop_assert!(tokenizer.unknown(&line).is_empty());
    }

    #[test]
    fn ids_that_decode_encode_to_themselves(ids in prop::collection::vec((0_u16..60).prop_map(TokenId), 0..20)) {
        let tokenizer = tokenizer();
        let bad = ids.iter().position(|&id| tokenizer.character(id).is_none());
        match tokenizer.decode(&ids) {
            Ok(text) => {
                prop_assert_eq!(bad, None);
                if let Ok(line) = Line::parse(&text) {
                    prop_assert_eq!(tokenizer.encode(&line), ids);
                }
            }
            Err(error) => {
                let place = bad.map_or(0, |index| index + 1);
                prop_assert!(error.to_string().contains(&format!("at place {place} ")), "{}", error);
            }
        }
    }

    #[test]
    fn tables_agree_with_the_pipeline(line in any_line()) {
        let tokenizer = tokenizer();
        let ids = tokenizer.encode(&line);
        let encoding = tokenizer.pipeline().expect("builds").encode(line.to_string(), false).expect("encodes");
        prop_assert_eq!(encoding.get_ids(), ids.iter().map(|t| u32::from(t.0)).collect::<Vec<_>>());

        let unknown = tokenizer.unknown(&line);
        prop_assert_eq!(unknown.len(), ids.iter().filter(|&&t| t == CharTokenizer::UNK).count());
        for (character, place) in unknown {
            prop_assert_eq!(line.chars()[place - 1], character);
            prop_assert_eq!(ids[place - 1], CharTokenizer::UNK);
        }
    }

    #[test]
    fn a_batch_equals_its_lines(lines in prop::collection::vec(any_line(), 0..50), copies in 1_usize..100) {
        let lines = vec![lines; copies].concat(); // enough of them for several threads
        let tokenizer = tokenizer();
        let one_by_one: Vec<_> = lines.iter().map(|l| tokenizer.encode(l)).collect();
        prop_assert_eq!(tokenizer.encode_batch(&lines), one_by_one);
    }

    #[test]
    fn files_give_the_vocabulary_back(lines in prop::collection::vec(any_line(), 0..20)) {
        let tokenizer = all_of(&lines);
        let json = tokenizer.to_json();
        let again = CharTokenizer::from_json(&json).expect("whole");
        prop_assert_eq!(&again, &tokenizer);
        prop_assert_eq!(again.to_json(), json);
    }

    #[test]
    fn the_order_of_lines_does_not_matter(lines in prop::collection::vec(any_line(), 0..20).prop_shuffle()) {
        let mut sorted = lines.clone();
        sorted.sort();
        prop_assert_eq!(all_of(&lines), all_of(&sorted));
    }
}
