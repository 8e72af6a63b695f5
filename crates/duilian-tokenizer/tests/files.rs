//! Files: written whole or not at all, and every kind of damage named.
#![allow(missing_docs)]

mod support;

use duilian_core::Vocabulary;
use duilian_tokenizer::{CharTokenizer, TokenizerError};
use proptest::prelude::*;
use support::{all_of, line, tokenizer};

#[test]
fn a_saved_file_takes_the_place_of_the_old_one() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("tokenizer.json");
    all_of(&[line("天地")]).save(&path).expect("writes");
    tokenizer().save(&path).expect("writes");
    assert_eq!(CharTokenizer::load(&path).expect("reads"), tokenizer());
    assert_eq!(std::fs::read_dir(folder.path()).expect("reads").count(), 1, "nothing is left beside it");
}

#[test]
fn what_cannot_be_written_or_read_names_the_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).expect("creates");
    let error = tokenizer().save(&taken).expect_err("a folder is in its place");
    assert!(matches!(&error, TokenizerError::Io { action: "write", path, .. } if *path == taken), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("reads").count(), 1, "nothing is left beside it");

    let nowhere = folder.path().join("none").join("tokenizer.json");
    assert!(matches!(tokenizer().save(&nowhere), Err(TokenizerError::Io { action: "write", .. })));
    let error = CharTokenizer::load(&nowhere).expect_err("is missing");
    assert!(matches!(&error, TokenizerError::Io { action: "read", path, .. } if *path == nowhere), "{error}");

    let empty = folder.path().join("empty.json");
    std::fs::write(&empty, "").expect("writes");
    let error = CharTokenizer::load(&empty).expect_err("is empty");
    assert!(error.to_string().starts_with(&empty.display().to_string()), "{error}");
}

#[test]
fn every_cut_is_damage() {
    let whole = tokenizer().to_json();
    for end in 0..whole.len() {
        let error = CharTokenizer::from_json(&whole[..end]).expect_err("cut off");
        assert!(matches!(error, TokenizerError::Damaged { .. }), "{end}: {error}");
    }
}

#[test]
fn foreign_files_are_named() {
    let text = String::from_utf8(tokenizer().to_json()).expect("UTF-8");
    // What is replaced, by what, and what the error says.
    let cases = [
        ("\"[BOS]\": 2", "\"[BOX]\": 2", "\"[BOS]\" should have the id 2, but has none"),
        ("\"[BOS]\": 2,", "", "\"[BOS]\" should have the id 2, but has none"),
        ("\"[BOS]\": 2", "\"[BOS]\": 70", "\"[BOS]\" should have the id 2, but has 70"),
        ("\"，\": 4", "\"，\": 5", "\"，\" should have the id 4, but has 5"),
        ("\"·\": 13,", "", "\"·\" should have the id 13, but has none"),
        ("\"春\": 14", "\"春\": 99", "no token has the id 14"),
        ("\"春\": 14,", "", "no token has the id 14"),
        ("\"春\": 14", "\"春\": 15", "no token has the id 14"),
        ("\"春\": 14", "\"春\": 13", "\"·\" and \"春\" share the id 13"),
        ("\"春\": 14", "\"春\": 14, \"夏\": 14", "\"夏\" and \"春\" share the id 14"),
        ("\"春\": 14", "\"春\": 14, \"春\": 14", "\"春\" and \"春\" share the id 14"),
        ("\"上\": 15", "\"春\": 15", "'春' has the ids 14 and 15"),
        ("\"春\": 14", "\"春天\": 14", "token 14 (\"春天\") is no single Chinese character"),
        ("\"春\": 14", "\"x\": 14", "token 14 (\"x\") is no single"),
        ("\"春\": 14", "\"\": 14", "token 14 (\"\") is no single"),
        ("\"春\": 14", "\"，\": 14", "token 14 (\"，\") is no single"),
        ("\"春\": 14", "\"春\": -1", "invalid value"),
        ("\"春\": 14", "\"春\": 4294967296", "invalid value"),
        ("\"春\": 14", "\"春\": null", "invalid type"),
        ("WordLevel", "BPE", "model.type is BPE, where a character vocabulary has WordLevel"),
        ("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"?\"", "model.unk_token is ?"),
        ("\"unk_token\": \"[UNK]\"", "\"unk_token\": null", "model.unk_token is null"),
        ("\"version\": \"1.0\"", "\"version\": \"2.0\"", "version is 2.0"),
        ("\"normalizer\": null", "\"normalizer\": {\"type\":\"NFKC\"}", "normalizer is {\"type\":\"NFKC\"}"),
        ("\"post_processor\": null", "\"post_processor\": {\"type\":\"ByteLevel\"}", "post_processor is"),
        ("\"Isolated\"", "\"Removed\"", "pre_tokenizer is"),
        ("\"type\": \"Split\"", "\"type\": \"Whitespace\"", "unknown variant `Whitespace`"),
        ("\"content\": \"[FREE]\"", "\"content\": \"春风\"", "added_tokens is"),
        ("\"model\"", "\"modle\"", "missing field `model`"),
    ];
    for (old, new, message) in cases {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text, "{old} is in the file");
        let error = CharTokenizer::from_json(changed.as_bytes()).expect_err(new);
        assert!(error.to_string().contains(message), "{new:?}: {error}");
        assert!(!matches!(error, TokenizerError::Damaged { .. }), "{new:?}: {error}");
    }
}

#[test]
fn more_tokens_than_sixteen_bits_are_refused() {
    let text = String::from_utf8(tokenizer().to_json()).expect("UTF-8");
    let more: Vec<String> = (tokenizer().size()..65_537).map(|id| format!("\"t{id}\": {id}")).collect();
    let large = text.replacen("\"春\": 14", &format!("\"春\": 14, {}", more.join(", ")), 1);
    let error = CharTokenizer::from_json(large.as_bytes()).expect_err("65,537 tokens");
    assert!(matches!(error, TokenizerError::TooLarge { size: 65_537, .. }), "{error}");
}

#[test]
fn other_json_and_other_bytes_are_refused() {
    let foreign: [&[u8]; 4] = [b"{}", b"[]", b"null", b"{\"model\": []}"];
    for bytes in foreign {
        let error = CharTokenizer::from_json(bytes).expect_err("no tokenizer.json");
        assert!(matches!(error, TokenizerError::Foreign { .. }), "{error}");
    }
    let damaged: [&[u8]; 4] = [b"", b"\xFF\xFE{", b"tokenizer", b"{} {}"];
    for bytes in damaged {
        assert!(CharTokenizer::from_json(bytes).is_err(), "{bytes:?}");
    }
    let twice = [tokenizer().to_json(), tokenizer().to_json()].concat();
    assert!(matches!(CharTokenizer::from_json(&twice), Err(TokenizerError::Damaged { .. })));
}

proptest! {
    #[test]
    fn a_changed_byte_is_an_error_or_a_vocabulary(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = tokenizer().to_json();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = CharTokenizer::from_json(&bytes) {
            prop_assert_eq!(read.size(), tokenizer().size());
            prop_assert_eq!(CharTokenizer::from_json(&read.to_json()).expect("whole"), read);
        }
    }

    #[test]
    fn arbitrary_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(CharTokenizer::from_json(&bytes).is_err());
    }
}
