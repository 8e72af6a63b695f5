//! Behaviour of the vocabulary: files, damage, agreement with the `tokenizers` pipeline and with Python.
#![allow(missing_docs)]

use duilian_core::{Line, TokenId, Vocabulary};
use duilian_tokenizer::{CharTokenizer, TokenizerError, TrainerConfig};
use proptest::prelude::*;

fn tokenizer() -> CharTokenizer {
    let lines = ["春风又到门前柳，", "秋月初圆江上舟。", "𠮷日良辰，春暖花开！"];
    let lines = lines.map(|l| Line::parse(l).expect("valid"));
    CharTokenizer::train(&lines, &TrainerConfig { min_frequency: 1, ..TrainerConfig::default() })
        .expect("valid")
}

#[test]
fn python_reads_the_same_ids() {
    let json = include_bytes!("data/tokenizer.json");
    let tokenizer = CharTokenizer::from_json(json).expect("the fixture is whole");
    assert_eq!(tokenizer, self::tokenizer(), "the fixture is of this vocabulary");
    let expected: Vec<(String, Vec<u16>)> =
        serde_json::from_slice(include_bytes!("data/python_ids.json")).expect("a list");
    assert!(expected.len() >= 5);
    for (text, ids) in expected {
        let line = Line::parse(&text).expect("valid");
        let found: Vec<u16> = tokenizer.encode(&line).iter().map(|t| t.0).collect();
        assert_eq!(found, ids, "{text}");
    }
}

#[test]
fn files_keep_what_was_there_until_the_new_one_is_whole() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("tokenizer.json");
    tokenizer().save(&path).expect("writes");
    assert_eq!(CharTokenizer::load(&path).expect("reads"), tokenizer());
    assert_eq!(std::fs::read_dir(folder.path()).expect("reads").count(), 1);
    let missing = CharTokenizer::load(&folder.path().join("none.json")).expect_err("is missing");
    assert!(matches!(missing, TokenizerError::Io { action: "read", .. }));
}

#[test]
fn equal_vocabularies_give_equal_bytes() {
    assert_eq!(tokenizer().to_json().expect("writes"), tokenizer().to_json().expect("writes"));
}

#[test]
fn damage_and_foreign_files_are_named() {
    let text = String::from_utf8(tokenizer().to_json().expect("writes")).expect("UTF-8");
    for cut in [0, 1, text.len() / 2, text.len() - 2] {
        let end = (0..=cut).rev().find(|&i| text.is_char_boundary(i)).expect("0 is one");
        let error = CharTokenizer::from_json(&text.as_bytes()[..end]).expect_err("cut off");
        assert!(matches!(error, TokenizerError::Damaged { .. }), "{error}");
    }
    let changes = [
        ("\"[BOS]\": 2", "\"[BOX]\": 2", "\"[BOX]\""),
        ("\"，\": 4", "\"，\": 5", "share the id 5"),
        ("\"春\": 14", "\"春\": 99", "holes"),
        ("\"春\": 14", "\"春天\": 14", "single Han"),
        ("\"春\": 14", "\"x\": 14", "single Han"),
        ("WordLevel", "BPE", "BPE"),
        ("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"?\"", "unknown token"),
    ];
    for (old, new, message) in changes {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text, "{old} is in the file");
        let error = CharTokenizer::from_json(changed.as_bytes()).expect_err(new);
        assert!(matches!(error, TokenizerError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let few = r#"{"model":{"type":"WordLevel","vocab":{"[PAD]":0,"[UNK]":1},"unk_token":"[UNK]"}}"#;
    assert!(matches!(CharTokenizer::from_json(few.as_bytes()), Err(TokenizerError::Foreign { .. })));
}

fn known_line() -> impl Strategy<Value = Line> {
    let characters: Vec<char> =
        (4..tokenizer().size() as u16).filter_map(|id| tokenizer().character(TokenId(id))).collect();
    prop::collection::vec(prop::sample::select(characters), 1..30)
        .prop_filter_map("marks alone are no line", |c| Line::from_chars(c).ok())
}

fn any_line() -> impl Strategy<Value = Line> {
    prop::collection::vec(
        prop_oneof![
            prop::char::range('\u{4E00}', '\u{9FA5}'),
            prop::char::range('\u{20000}', '\u{20100}'),
            prop::sample::select("春风，。".chars().collect::<Vec<_>>()),
        ],
        1..30,
    )
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
    fn tables_agree_with_the_pipeline(line in any_line()) {
        let tokenizer = tokenizer();
        let pipeline = tokenizer.pipeline().expect("builds");
        let encoding = pipeline.encode(line.to_string(), false).expect("encodes");
        let ids: Vec<u32> = tokenizer.encode(&line).iter().map(|t| u32::from(t.0)).collect();
        prop_assert_eq!(encoding.get_ids(), ids.as_slice());
        let unknown = tokenizer.encode(&line).iter().filter(|&&t| t == CharTokenizer::UNK).count();
        prop_assert_eq!(tokenizer.unknown(&line).len(), unknown);
    }

    #[test]
    fn a_batch_equals_its_lines(lines in prop::collection::vec(any_line(), 0..50)) {
        let tokenizer = tokenizer();
        let one_by_one: Vec<_> = lines.iter().map(|l| tokenizer.encode(l)).collect();
        prop_assert_eq!(tokenizer.encode_batch(&lines), one_by_one);
    }
}
