//! Devices of the given line, forbidden characters, mirrored lines, tone patterns and preferences.

mod common;

use common::{Characters, Scripted};
use duilian_core::{Direction, Line};
use duilian_decoder::{
    Constraint, DecodeError, DecodeOptions, Decoder, DeviceConstraint, DeviceOptions, EndTone,
    ForbiddenCharacters, Lexicon, MarksAtPlaces, Mirror, NoSharedCharacter, Plan, Question, Theme, TokenSet,
    ToneOpposition, Tones, WordClasses,
};
use duilian_prosody::{DeviceKind, ToneBook, WordClass, tones};

/// Characters with parts, elements, syllables and values beside the frequent ones.
fn vocabulary() -> Characters {
    let more = "炮镇海城楼桃梅松柏枫桂林森炎火土木金水鸿江鸟工可何人丁尖小大明日月从众女子好少妙田心思一二三四五六七八九十\
                同童桐痛移宜倚怡岛到倒道贾甲家假此柴出山石岩因烟思意情性怀忆红绿青白";
    Characters::new(more.chars().chain(Characters::common().han()))
}

fn question(text: &str) -> Question {
    Question::new(Line::parse(text).expect("valid"), Direction::UpperToLower)
}

#[test]
fn devices_are_answered_by_devices() {
    let vocabulary = vocabulary();
    let cases = [
        ("烟锁池塘柳", DeviceKind::FiveElements),
        ("江河湖海", DeviceKind::SharedRadical),
        ("日月明", DeviceKind::CharacterSplit),
        ("女子好，少女更妙", DeviceKind::CharacterSplit),
        ("移椅倚桐同玩月", DeviceKind::Homophones),
        ("二、三、四、五", DeviceKind::Numbers),
        ("上海自来水来自海上", DeviceKind::Palindrome),
        ("人人为我，我为人人", DeviceKind::RepeatedCharacter),
    ];
    for (text, kind) in cases {
        let q = question(text);
        let found = duilian_prosody::devices(q.line());
        for seed in 0..5 {
            let model = Scripted::new(&vocabulary, seed);
            let decoder = vocabulary.decoder(DecodeOptions { num_hypotheses: 2, ..DecodeOptions::default() });
            for answer in decoder.answer(&model, &q).expect("answerable") {
                assert!(answer.waived.is_empty(), "{text}: {:?}", answer.waived);
                for device in found.iter().filter(|device| device.kind() == kind) {
                    assert!(device.is_met_by(&answer.line), "{text} {}: {device}", answer.line);
                }
            }
        }
    }
}

#[test]
fn devices_that_cannot_be_answered_are_waived_or_named() {
    let vocabulary = Characters::new("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏".chars());
    let model = Scripted::new(&vocabulary, 0);
    let q = question("烟锁池塘柳");
    let with = |devices| vocabulary.decoder(DecodeOptions { devices, ..DecodeOptions::default() });
    let answers = with(DeviceOptions::default()).answer(&model, &q).expect("answerable");
    assert_eq!(answers[0].waived, ["device 五行 at places 1, 2, 3, 4, 5"]);
    let required = DeviceOptions { required: true, ..DeviceOptions::default() };
    match with(required).answer(&model, &q) {
        Err(DecodeError::Conflict { constraints, .. }) => {
            assert!(
                constraints.contains(&"device 五行 at places 1, 2, 3, 4, 5".to_owned()),
                "{constraints:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    let answers = with(DeviceOptions::none()).answer(&model, &q).expect("answerable");
    assert!(answers[0].waived.is_empty());
}

#[test]
fn of_optional_constraints_the_earlier_ones_are_kept() {
    struct Only(char, usize);
    impl Constraint for Only {
        fn name(&self) -> String {
            format!("{} at {}", self.0, self.1)
        }
        fn is_optional(&self, _: &Question) -> bool {
            true
        }
        fn restrict(&self, _: &Question, lexicon: &Lexicon, demands: &mut duilian_decoder::Demands) {
            let mut only = TokenSet::empty(lexicon.size());
            lexicon.id(self.0).into_iter().for_each(|token| only.insert(token));
            demands.keep(self.1, &only);
        }
    }
    let lexicon = Characters::new("天地人".chars()).lexicon();
    let constraints: [&dyn Constraint; 3] = [&Only('天', 0), &Only('地', 0), &Only('人', 1)];
    let plan = Plan::new(question("春夏"), &lexicon, &constraints).expect("planned");
    assert_eq!(plan.waived(), ["地 at 0"]);
    assert_eq!(plan.free_places(), 0);
}

#[test]
fn a_mirror_makes_palindromes_and_conflicts_with_lines_that_are_none() {
    let vocabulary = vocabulary();
    let lexicon = vocabulary.lexicon();
    let constraints: [&dyn Constraint; 2] = [&MarksAtPlaces, &Mirror];
    let plan = Plan::new(question("春夏，秋冬山"), &lexicon, &constraints).expect("planned");
    let mut draft = plan.draft();
    assert!(
        plan.choose(&mut draft, 0, lexicon.token('天')) && plan.choose(&mut draft, 1, lexicon.token('地'))
    );
    assert_eq!((draft.tokens()[5], draft.tokens()[4]), (draft.tokens()[0], draft.tokens()[1]));

    let mirror = DecodeOptions { mirror: true, ..DecodeOptions::default() };
    match vocabulary.decoder(mirror).plan(&question("春夏秋")).err() {
        Some(DecodeError::Conflict { constraints, .. }) => {
            assert_eq!(constraints, ["repetition as in the question (R2)", "mirrored line (回文)"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn patterns_and_forbidden_characters_are_kept() {
    let vocabulary = vocabulary();
    let model = Scripted::new(&vocabulary, 3);
    let q = question("海内存知己");
    let pattern: duilian_prosody::TonePattern = "平平仄仄平".parse().expect("valid");
    let plain = vocabulary.decoder(DecodeOptions::default()).answer(&model, &q).expect("answerable");
    let forbidden_characters: String = plain[0].line.to_string();
    let options = DecodeOptions {
        tone_pattern: Some(pattern.clone()),
        forbidden_characters: forbidden_characters.clone(),
        num_hypotheses: 5,
        ..DecodeOptions::default()
    };
    for answer in vocabulary.decoder(options.clone()).answer(&model, &q).expect("answerable") {
        assert!(pattern.matches(&answer.line, ToneBook::default()));
        assert!(!answer.line.chars().iter().any(|&c| forbidden_characters.contains(c)));
    }
    match vocabulary.decoder(options).plan(&question("海内")).err() {
        Some(DecodeError::Conflict { constraints, place: 2 }) => {
            assert_eq!(constraints, ["tone pattern 平平仄仄平"]);
        }
        other => panic!("{other:?}"),
    }
}

/// Leaves two characters for a place.
struct Choice(char, usize);

impl Constraint for Choice {
    fn name(&self) -> String {
        "choice".into()
    }

    fn restrict(&self, _: &Question, lexicon: &Lexicon, demands: &mut duilian_decoder::Demands) {
        let two = TokenSet::from_fn(lexicon.size(), |id| {
            lexicon.character(id).is_some_and(|c| c == self.0 || c == '了')
        });
        demands.keep(self.1, &two);
    }
}

/// What a constraint alone adds to a character at a place, by the score of an answer with that character locked.
fn preference(constraint: impl Constraint + 'static, text: &str, place: usize, c: char) -> f64 {
    let vocabulary = vocabulary();
    let model = Scripted::new(&vocabulary, 1);
    let options = DecodeOptions { num_hypotheses: 400, min_difference: Some(1), ..DecodeOptions::default() };
    let decoder: Decoder =
        vocabulary.decoder(options).with_constraint(Choice(c, place)).with_constraint(constraint);
    let answers = decoder.answer(&model, &question(text)).expect("answerable");
    let answer = answers.iter().find(|answer| answer.line.chars()[place] == c).expect("one of two choices");
    answer.score - answer.log_prob
}

#[test]
fn preferences_add_their_weight() {
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value} for {expected}");
    let opposition = ToneOpposition { weight: 2.0, book: ToneBook::Either };
    assert!(tones('春', ToneBook::Either).only(duilian_prosody::Tone::Level));
    // One character is place 1 of its clause and its last: it counts. 月 opposes 春, 山 does not.
    near(preference(opposition, "春", 0, '月'), 2.0);
    near(preference(WordClasses { weight: 3.0 }, "红", 0, '绿'), 3.0);
    near(preference(WordClasses { weight: 3.0 }, "春", 0, '绿'), -3.0);
    near(preference(WordClasses { weight: 3.0 }, "春", 0, '月'), 0.0);
    let theme = Theme::new("丰收", 2.0).with_associations([('丰', '月', 0.5)]);
    near(preference(theme.clone(), "春", 0, '月'), 1.0);
    near(preference(theme, "春", 0, '绿'), 0.0);
}

#[test]
fn tables_of_a_vocabulary_are_those_of_its_characters() {
    let vocabulary = vocabulary();
    let lexicon = vocabulary.lexicon();
    let token = |c| lexicon.token(c);
    assert!(lexicon.class_members(WordClass::Colour).contains(token('红')));
    assert!(!lexicon.class_members(WordClass::Colour).contains(token('人')));
    assert!(lexicon.class_answers(WordClass::Number).contains(token('三')));
    let contains = |table: &duilian_decoder::RelationTable, characters: &[char]| {
        table.contains(&characters.iter().map(|&c| token(c)).collect::<Vec<_>>())
    };
    let pairs = lexicon.splits(2).expect("some characters have two parts");
    assert!(contains(pairs, &['好', '女', '子']) && contains(pairs, &['好', '子', '女']));
    assert!(!contains(pairs, &['妙', '女', '子']));
    assert!(lexicon.splits(9).is_none());
    assert!(contains(lexicon.shared_components(), &['江']));
    assert!(lexicon.element(duilian_prosody::Element::Fire).contains(token('烟')));
}

#[test]
fn constraints_work_without_a_model() {
    let lexicon = vocabulary().lexicon();
    let q = question("江河湖海");
    let devices = DeviceConstraint::detect(&q, &DeviceOptions::default());
    let forbidden: ForbiddenCharacters = "松".chars().collect();
    let tones = Tones { pattern: "中中中平".parse().expect("valid"), book: ToneBook::Either };
    let constraints: Vec<&dyn Constraint> =
        vec![&NoSharedCharacter, &EndTone, &forbidden, &tones, &devices[0] as &dyn Constraint];
    let plan = Plan::new(q, &lexicon, &constraints).expect("planned");
    let (mut draft, mut allowed) = (plan.draft(), TokenSet::default());
    for place in 0..4 {
        plan.allowed(&draft, place, &mut allowed);
        assert!(!allowed.contains(lexicon.token('松')));
        let token = allowed.iter().next().expect("never a dead end");
        assert!(draft.tokens()[place].is_some() || plan.choose(&mut draft, place, token));
    }
    let line: Vec<char> = draft.tokens().iter().flatten().filter_map(|&t| lexicon.character(t)).collect();
    assert!(duilian_prosody::shared_component(line).is_some());
}
