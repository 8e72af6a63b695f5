//! The whole system with its embedded weights: what people type, and what must never happen.
#![allow(missing_docs)]

use std::sync::LazyLock;

use duilian::prosody::{RuleConfig, check};
use duilian::{Couplet, DecodeOptions, Direction, Duilian, Error, Line, Question};
use proptest::prelude::*;

static DUILIAN: LazyLock<Duilian> = LazyLock::new(|| {
    let options = DecodeOptions { num_hypotheses: 3, ..DecodeOptions::default() };
    Duilian::pretrained_with(options).expect("the embedded weights are whole")
});

fn keeps_rules(upper: &Line, lower: &Line) -> bool {
    check(&Couplet::new(upper.clone(), lower.clone()), &RuleConfig::default()).keeps_hard_rules()
}

#[test]
fn what_people_type_is_answered() {
    for (typed, read) in [
        ("海内存知己", "海内存知己"),
        ("  海內存知己  ", "海内存知己"),
        ("天", "天"),
        ("喵喵喵喵喵喵喵", "喵喵喵喵喵喵喵"),
        ("人人为我,我为人人", "人人为我，我为人人"),
        ("海内存知己。", "海内存知己。"),
        ("海内存知己\r\n", "海内存知己"),
        ("𠮷", "𠮷"),
        ("上海自来水来自海上", "上海自来水来自海上"),
        ("二、三、四、五", "二、三、四、五"),
    ] {
        let answers = DUILIAN.replies(typed).unwrap_or_else(|e| panic!("{typed}: {e}"));
        let upper = Line::parse(read).expect("valid");
        assert_eq!(answers.len(), 3, "{typed}");
        for answer in answers {
            assert!(keeps_rules(&upper, &answer.line), "{typed}: {}", answer.line);
            assert!(answer.log_prob <= 0.0 && answer.log_prob.is_finite());
        }
    }
}

#[test]
fn sixty_characters_are_answered_and_sixty_five_are_not() {
    let characters: Vec<char> = ('一'..='龥').filter(|c| u32::from(*c) % 97 == 3).take(65).collect();
    let text = |n: usize| characters[..n].iter().collect::<String>();
    let answer = DUILIAN.reply(&text(60)).expect("is short enough");
    assert!(keeps_rules(&Line::parse(&text(60)).expect("valid"), &answer.line));
    let error = DUILIAN.reply(&text(65)).expect_err("is too long").to_string();
    assert_eq!(error, "the line has 65 characters; the model reads at most 64");
}

#[test]
fn what_is_no_line_is_named() {
    for (typed, message) in [
        ("", "the line is empty"),
        (" \t ", "the line is empty"),
        ("，。", "the line has no Chinese character"),
        ("hello world", "character 1 ('h')"),
        ("春风😀", "character 3 ('😀')"),
        ("5G时代", "character 1 ('5')"),
    ] {
        let error = DUILIAN.reply(typed).expect_err(typed);
        assert!(matches!(error, Error::Input(_)));
        assert!(error.to_string().contains(message), "{typed}: {error}");
    }
}

#[test]
fn the_reverse_keeps_the_mirrored_rules() {
    for lower in ["天涯若比邻", "花好月圆人寿年丰", "白云千载空悠悠"] {
        let upper = DUILIAN.reply_reverse(lower).expect("answerable").line;
        assert!(keeps_rules(&upper, &Line::parse(lower).expect("valid")), "{upper} {lower}");
    }
}

#[test]
fn locked_characters_stay() {
    let line = Line::parse("春风得意马蹄疾").expect("valid");
    let question = Question::new(line, Direction::UpperToLower)
        .with_lock(0, '秋')
        .and_then(|q| q.with_lock(3, '情'))
        .expect("Han characters");
    for answer in DUILIAN.answer(&question).expect("answerable") {
        assert_eq!((answer.line.chars()[0], answer.line.chars()[3]), ('秋', '情'));
    }
}

#[test]
fn a_bad_question_leaves_the_others_alone() {
    let question = |text: &str| Question::new(Line::parse(text).expect("valid"), Direction::UpperToLower);
    let long: String = std::iter::repeat_n('天', 65).collect();
    let results = DUILIAN.answer_batch(&[question("海内存知己"), question(&long), question("天")]);
    assert!(results[0].is_ok() && results[1].is_err() && results[2].is_ok());
}

#[test]
fn a_trained_system_beats_an_untrained_one() {
    let pairs = ["春风入户\t明月当窗", "一窗花影\t半榻书声", "山高水远\t海阔天空"].map(|pair| {
        let (upper, lower) = pair.split_once('\t').expect("two lines");
        Couplet::parse(upper, lower).expect("valid")
    });
    let config = DUILIAN.engine().config();
    let untrained =
        Duilian::untrained(config, DUILIAN.tokenizer().clone(), DecodeOptions::default()).expect("fits");
    let loss = |system: &Duilian| {
        let lines = pairs.iter().map(|p| p.oriented(Direction::UpperToLower));
        system.loss(lines, Direction::UpperToLower).expect("scores").per_character()
    };
    assert!(loss(&DUILIAN) + 1.0 < loss(&untrained), "{} {}", loss(&DUILIAN), loss(&untrained));
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (weights, tokenizer) = (folder.path().join("weights"), folder.path().join("tokenizer.json"));
    std::fs::write(&weights, duilian::pretrained::WEIGHTS).expect("writes");
    std::fs::write(&tokenizer, duilian::pretrained::TOKENIZER).expect("writes");
    let open = || Duilian::from_files(&weights, &tokenizer, DecodeOptions::default()).map(|_| ());
    assert!(open().is_ok());
    std::fs::write(&weights, &duilian::pretrained::WEIGHTS[..1_000_000]).expect("writes");
    assert!(matches!(open(), Err(Error::Weights(_))), "cut off");
    std::fs::write(&weights, duilian::pretrained::WEIGHTS).expect("writes");
    std::fs::write(&tokenizer, b"{}").expect("writes");
    assert!(matches!(open(), Err(Error::Tokenizer(_))), "foreign");
    std::fs::remove_file(&tokenizer).expect("removes");
    assert!(matches!(open(), Err(Error::Tokenizer(_))), "missing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_hard_rule_is_ever_broken(
        han in prop::collection::vec(prop::sample::select("春秋花月天地人山水风雨日云一二三来去不有之也得疾己".chars().collect::<Vec<_>>()), 1..16),
        mark in prop::option::of(1_usize..15),
    ) {
        let mut characters = han;
        if let Some(place) = mark.filter(|&p| p < characters.len()) {
            characters.insert(place, '，');
        }
        let upper = Line::from_chars(characters).expect("Han characters");
        let answers = DUILIAN.answer(&Question::new(upper.clone(), Direction::UpperToLower)).expect("answerable");
        for answer in answers {
            prop_assert!(keeps_rules(&upper, &answer.line), "{} {}", upper, answer.line);
        }
    }

    #[test]
    fn any_text_is_answered_or_an_error(text in "\\PC{0,12}") {
        let _ = DUILIAN.reply(&text);
    }
}
