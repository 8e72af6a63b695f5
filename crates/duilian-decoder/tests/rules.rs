//! No search gets stuck, and no answer breaks a hard rule.

mod common;

use common::{Characters, Scripted, assert_sound};
use duilian_core::{Direction, Line, MARKS, is_mark};
use duilian_decoder::{
    CleanOutput, Constraint, DecodeError, DecodeOptions, Demands, Draft, EndTone, Lexicon, MarksAtPlaces,
    NoSharedCharacter, Plan, Question, Repetition, SearchMethod, TokenSet,
};
use duilian_prosody::{required_end_tone, satisfies_end_tone};
use proptest::collection::vec;
use proptest::prelude::*;

fn searches() -> Vec<DecodeOptions> {
    let base = DecodeOptions::default;
    vec![
        DecodeOptions::greedy(),
        base(),
        DecodeOptions { num_hypotheses: 5, beam_size: 3, ..base() },
        DecodeOptions { num_hypotheses: 4, num_beam_groups: 2, polish_rounds: 2, ..base() },
        DecodeOptions {
            search: SearchMethod::Sampling,
            num_hypotheses: 3,
            sampling_topk: 20,
            sampling_topp: 0.9,
            sampling_temperature: 1.5,
            seed: 11,
            ..base()
        },
        DecodeOptions { search: SearchMethod::BestFirst, num_hypotheses: 2, ..base() },
    ]
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::UpperToLower), Just(Direction::LowerToUpper)]
}

/// Lines of characters from the vocabulary and outside it, with repetitions and marks.
fn characters(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<char>> {
    let known = prop::sample::select(Characters::common().han());
    let few = prop::sample::select(vec!['春', '花', '秋', '月', '𠮷']);
    let unknown = prop::char::range('\u{9A6D}', '\u{9F00}');
    let mark = prop::sample::select(MARKS.to_vec());
    vec(prop_oneof![6 => known, 3 => few, 1 => unknown, 1 => mark], length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_search_keeps_every_rule(
        characters in characters(1..41),
        direction in direction(),
        locks in vec((any::<prop::sample::Index>(), prop::sample::select(Characters::common().han())), 0..3),
        seed in any::<u64>(),
    ) {
        let vocabulary = Characters::common();
        let model = Scripted::new(&vocabulary, seed);
        let Ok(line) = Line::from_chars(characters) else { return Ok(()) };
        let mut question = Question::new(line.clone(), direction);
        for (place, c) in locks {
            let place = place.index(line.len());
            if !is_mark(line.chars()[place]) {
                question = question.with_lock(place, c).expect("a Han place");
            }
        }
        for options in searches() {
            let decoder = vocabulary.decoder(options.clone());
            match decoder.answer(&model, &question) {
                Ok(answers) => {
                    assert_sound(&model, &decoder, &question, &answers);
                    prop_assert_eq!(&answers, &decoder.answer(&model, &question).expect("as before"));
                    if options.search == SearchMethod::Beam && decoder.plan(&question).expect("planned").free_places() > 1 {
                        prop_assert_eq!(answers.len(), options.num_hypotheses);
                    }
                }
                // Only locks can ask for what cannot be.
                Err(DecodeError::Conflict { constraints, place }) => {
                    prop_assert!(constraints.iter().any(|name| name == "locked characters"));
                    prop_assert!(question.lock(place - 1).is_some());
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }

    #[test]
    fn small_vocabularies_give_a_line_or_a_reason(
        han in vec(prop::sample::select(Characters::common().han()), 1..12),
        characters in characters(1..8),
        seed in any::<u64>(),
    ) {
        let vocabulary = Characters::new(han);
        let model = Scripted::new(&vocabulary, seed);
        let Ok(line) = Line::from_chars(characters) else { return Ok(()) };
        let question = Question::new(line, Direction::UpperToLower);
        for options in searches() {
            let decoder = vocabulary.decoder(options);
            match decoder.answer(&model, &question) {
                Ok(answers) => assert_sound(&model, &decoder, &question, &answers),
                Err(DecodeError::Conflict { constraints, place }) => {
                    prop_assert!(!constraints.is_empty() && place <= question.line().len());
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}

#[test]
fn long_and_monotonous_lines_are_answered() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 2);
    let distinct: String = ('\u{5000}'..).take(60).collect();
    let known: String = vocabulary.han().into_iter().take(60).collect();
    for text in [distinct, known, "好".repeat(60), "好".repeat(7), "好".into(), "𠮷".into(), "，好。".into()]
    {
        for direction in Direction::ALL {
            let question = Question::new(Line::parse(&text).expect("valid"), direction);
            for options in searches() {
                let decoder = vocabulary.decoder(options);
                let answers = decoder.answer(&model, &question).expect("answerable");
                assert_sound(&model, &decoder, &question, &answers);
            }
        }
    }
}

#[test]
fn different_unknown_characters_are_answered_by_different_characters() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 2);
    let question =
        Question::new(Line::parse("\u{9A6D}\u{9A6E}\u{9A6D}").expect("valid"), Direction::UpperToLower);
    let decoder = vocabulary.decoder(DecodeOptions::default());
    assert!(decoder.plan(&question).expect("planned").source().tokens.iter().all(|&t| t == common::UNKNOWN));
    let answers = decoder.answer(&model, &question).expect("answerable");
    assert_eq!(answers[0].line.repetition(), [0, 1, 0]);
}

#[test]
fn conflicts_name_what_cannot_hold_together() {
    let vocabulary = Characters::common();
    let question = |text: &str| Question::new(Line::parse(text).expect("valid"), Direction::UpperToLower);
    let conflict = |vocabulary: &Characters, question: Question| match vocabulary
        .decoder(DecodeOptions::default())
        .plan(&question)
    {
        Err(DecodeError::Conflict { constraints, place }) => (constraints.join(" & "), place),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("answerable"),
    };
    let lock = |text: &str, locks: &[(usize, char)]| {
        locks.iter().fold(question(text), |q, &(place, c)| q.with_lock(place, c).expect("a Han place"))
    };
    assert_eq!(
        conflict(&vocabulary, lock("春风，秋雨", &[(3, '春')])),
        ("no shared character (R3) & locked characters".into(), 4)
    );
    assert_eq!(
        conflict(&vocabulary, lock("人人", &[(0, '山'), (1, '水')])),
        ("repetition as in the question (R2) & locked characters".into(), 1)
    );
    assert_eq!(
        conflict(&vocabulary, lock("天地", &[(0, '山'), (1, '山')])),
        ("repetition as in the question (R2) & locked characters".into(), 2)
    );
    let three = Characters::new("春花秋".chars());
    let (names, place) = conflict(&three, question("甲甲乙乙，甲丙丁"));
    assert!(names.contains("(R2)") && names.contains("(R4)"), "{names}");
    assert!((1..=8).contains(&place));

    let error = vocabulary.decoder(DecodeOptions::default()).plan(&lock("天地", &[(1, '\u{9A6D}')])).err();
    assert!(matches!(error, Some(DecodeError::LockUnknown { character: '\u{9A6D}', place: 2 })));
}

#[test]
fn a_soft_end_tone_is_kept_where_it_can_be() {
    let all = Characters::common();
    let given = all
        .han()
        .into_iter()
        .find(|&c| !required_end_tone(c, Direction::UpperToLower).1)
        .expect("some tone is only asked for softly");
    let (tone, _) = required_end_tone(given, Direction::UpperToLower);
    let question = Question::new(Line::from_chars(vec![given]).expect("Han"), Direction::UpperToLower);
    let fits = |c: &char| satisfies_end_tone(*c, tone) && *c != given;
    let wrong: Vec<char> = all.han().into_iter().filter(|c| *c != given && !fits(c)).take(20).collect();
    let right = all.han().into_iter().find(fits).expect("some character fits");

    let none_fits = Characters::new(wrong.clone());
    let decoder = none_fits.decoder(DecodeOptions::default());
    assert_eq!(decoder.plan(&question).expect("planned").waived(), ["end tone (R5)"]);
    assert!(decoder.answer(&Scripted::new(&none_fits, 0), &question).is_ok());

    let one_fits = Characters::new(wrong.into_iter().chain([right]));
    let decoder = one_fits.decoder(DecodeOptions::default());
    assert!(decoder.plan(&question).expect("planned").waived().is_empty());
    let answers = decoder.answer(&Scripted::new(&one_fits, 0), &question).expect("answerable");
    assert_eq!(answers[0].line.chars(), [right]);
}

#[test]
fn the_end_tone_acts_at_the_first_occurrence_of_the_last_character() {
    let vocabulary = Characters::common();
    let lexicon = vocabulary.lexicon();
    let question = Question::new(Line::parse("老大老").expect("valid"), Direction::UpperToLower);
    let (tone, _) = required_end_tone('老', Direction::UpperToLower);
    let plan = Plan::new(question, &lexicon, &[&EndTone, &Repetition]).expect("planned");
    let mut allowed = TokenSet::default();
    plan.allowed(&plan.draft(), 0, &mut allowed);
    assert!(!allowed.is_empty());
    assert!(allowed.iter().all(|id| satisfies_end_tone(lexicon.character(id).expect("a character"), tone)));
    let bound = allowed.len();
    plan.allowed(&plan.draft(), 1, &mut allowed);
    assert!(allowed.len() > bound, "the middle is free");
}

#[test]
fn constraints_work_one_by_one() {
    let vocabulary = Characters::new("天地人山水".chars());
    let lexicon = vocabulary.lexicon();
    let question = Question::new(Line::parse("天地，天").expect("valid"), Direction::UpperToLower);
    let offered = |constraint: &dyn Constraint, place: usize| -> String {
        let plan = Plan::new(question.clone(), &lexicon, &[constraint]).expect("planned");
        let mut allowed = TokenSet::default();
        plan.allowed(&plan.draft(), place, &mut allowed);
        allowed.iter().filter_map(|id| lexicon.character(id)).collect()
    };
    assert_eq!(offered(&MarksAtPlaces, 2), "，");
    assert_eq!(offered(&NoSharedCharacter, 0).chars().filter(|&c| !is_mark(c)).collect::<String>(), "人山水");
    assert_eq!(offered(&CleanOutput { blocked_words: false }, 0), "天地人山水");
    assert_eq!(offered(&Repetition, 0).chars().count(), 15);
}

#[test]
fn switches_release_their_rules() {
    let vocabulary = Characters::new("天地".chars());
    let model = Scripted::new(&vocabulary, 0);
    let question = Question::new(Line::parse("天地天").expect("valid"), Direction::UpperToLower);
    let ask = |options| vocabulary.decoder(options).answer(&model, &question);
    let released = DecodeOptions { no_shared_character: false, end_tone: false, ..DecodeOptions::default() };
    assert!(ask(DecodeOptions::default()).is_err());
    assert!(ask(released.clone()).is_ok());
    let alike = DecodeOptions { repetition: false, num_hypotheses: 8, ..released };
    assert_eq!(ask(alike).expect("answerable").len(), 8);
}

/// Prefers one character everywhere.
struct Favour(char, f32);

impl Constraint for Favour {
    fn name(&self) -> String {
        "favour".into()
    }

    fn restrict(&self, _: &Question, _: &Lexicon, _: &mut Demands) {}

    fn weigh(&self, _: &Question, lexicon: &Lexicon, _: &Draft, _: usize, weights: &mut [f32]) -> bool {
        weights[lexicon.token(self.0).index()] += self.1;
        true
    }
}

#[test]
fn weights_change_the_ranking_but_not_the_log_probabilities() {
    let vocabulary = Characters::common();
    let model = Scripted::new(&vocabulary, 6);
    let question = Question::new(Line::parse("春夏秋冬").expect("valid"), Direction::UpperToLower);
    let decoder = vocabulary.decoder(DecodeOptions::default()).with_constraint(Favour('玉', 50.0));
    let answers = decoder.answer(&model, &question).expect("answerable");
    assert_sound(&model, &decoder, &question, &answers);
    assert!(answers[0].line.chars().contains(&'玉'));
    assert!((answers[0].score - answers[0].log_prob - 50.0).abs() < 1e-3);
    let decoder = vocabulary.decoder(DecodeOptions::default()).with_constraint(Favour('玉', f32::NAN));
    assert!(decoder.answer(&model, &question).is_ok());
}
