//! A vocabulary, a scripted model and an independent check of the rules.
#![allow(dead_code)] // each test file uses its own part

pub(crate) mod case;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use duilian_core::{MARKS, TokenId, Vocabulary, is_han, is_mark};
use duilian_decoder::{Answer, DecodeOptions, Decoder, Lexicon, Question, Source, StepModel};
use duilian_prosody::{BlockedWords, required_end_tone, satisfies_end_tone};

/// Token 0 is padding, token 1 the unknown token, then come the marks and the characters.
pub(crate) struct Characters(Vec<Option<char>>);

pub(crate) const UNKNOWN: TokenId = TokenId(1);

impl Characters {
    pub(crate) fn new(han: impl IntoIterator<Item = char>) -> Self {
        let mut characters = vec![None, None];
        characters.extend(MARKS.map(Some));
        for c in han {
            if !characters.contains(&Some(c)) {
                characters.push(Some(c));
            }
        }
        Self(characters)
    }

    /// Frequent characters, and the characters of all blocked words so that these can arise.
    pub(crate) fn common() -> Self {
        let blocked = BlockedWords::default();
        let frequent = "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可\
                        里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已\
                        老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问\
                        力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却\
                        春花秋风山水云雨江河松竹梅兰琴棋书画金玉龙凤鸟鱼红绿青白";
        let han = frequent.chars().filter(|&c| is_han(c));
        Self::new(han.chain(blocked.words().take(40).flatten().copied().collect::<Vec<_>>()))
    }

    pub(crate) fn lexicon(&self) -> Lexicon {
        Lexicon::new(self, UNKNOWN, &BlockedWords::default())
    }

    pub(crate) fn decoder(&self, options: DecodeOptions) -> Decoder {
        Decoder::new(self.lexicon(), options).expect("valid options")
    }

    pub(crate) fn han(&self) -> Vec<char> {
        self.0.iter().copied().flatten().filter(|&c| is_han(c)).collect()
    }
}

impl Vocabulary for Characters {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn character(&self, id: TokenId) -> Option<char> {
        self.0.get(id.index()).copied().flatten()
    }

    fn id(&self, character: char) -> Option<TokenId> {
        self.0.iter().position(|&c| c == Some(character)).map(|i| TokenId(i as u16))
    }
}

/// A model whose scores are a hash of source, prefix and seed. It refuses to be used wrongly.
pub(crate) struct Scripted {
    pub(crate) size: usize,
    pub(crate) seed: u64,
}

/// Source and prefix of each row.
#[derive(Clone)]
pub(crate) struct ScriptedState {
    pub(crate) rows: Vec<(Source, Vec<TokenId>)>,
    started: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(String);

fn require(condition: bool, what: &str) -> Result<(), Misuse> {
    if condition { Ok(()) } else { Err(Misuse(what.into())) }
}

impl Scripted {
    pub(crate) fn new(vocabulary: &Characters, seed: u64) -> Self {
        Self { size: vocabulary.size(), seed }
    }

    pub(crate) fn log_probs(&self, source: &Source, prefix: &[TokenId]) -> Vec<f32> {
        let mut hasher = DefaultHasher::new();
        (self.seed, &source.tokens, &source.hints, prefix).hash(&mut hasher);
        let mut bits = hasher.finish();
        let logits: Vec<f64> = (0..self.size)
            .map(|_| {
                // xorshift64
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                (bits >> 40) as f64 / f64::from(1 << 24) * 6.0
            })
            .collect();
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        logits.into_iter().map(|logit| (logit - sum.ln()) as f32).collect()
    }
}

impl StepModel for Scripted {
    type State = ScriptedState;
    type Error = Misuse;

    fn vocabulary_size(&self) -> usize {
        self.size
    }

    fn max_length(&self) -> usize {
        64
    }

    fn start(&self, sources: &[Source]) -> Result<ScriptedState, Misuse> {
        let same_length = sources.iter().all(|source| source.tokens.len() == sources[0].tokens.len());
        require(same_length, "lengths differ")?;
        require(sources.iter().all(|source| source.hints.len() == source.tokens.len()), "hints")?;
        let rows = sources.iter().map(|source| (source.clone(), Vec::new())).collect();
        Ok(ScriptedState { rows, started: false })
    }

    fn step(
        &self,
        state: &mut ScriptedState,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), Misuse> {
        if state.started {
            require(previous.len() == state.rows.len(), "one previous token a row")?;
            for ((_, prefix), &token) in state.rows.iter_mut().zip(previous) {
                prefix.push(token);
            }
        } else {
            require(previous.is_empty(), "nothing comes before the first place")?;
            state.started = true;
        }
        log_probs.clear();
        for (source, prefix) in &state.rows {
            require(prefix.len() < source.tokens.len(), "past the end")?;
            for (place, (token, hint)) in prefix.iter().zip(&source.hints).enumerate() {
                require(hint.is_none_or(|hint| hint == *token), &format!("hint not kept at {place}"))?;
            }
            log_probs.extend(self.log_probs(source, prefix));
        }
        Ok(())
    }

    fn select(&self, state: &mut ScriptedState, rows: &[usize]) -> Result<(), Misuse> {
        require(!rows.is_empty(), "no rows")?;
        require(rows.iter().all(|&row| row < state.rows.len()), "no such row")?;
        state.rows = rows.iter().map(|&row| state.rows[row].clone()).collect();
        Ok(())
    }
}

/// The hard rules that an answer breaks, found out without the decoder's own code.
pub(crate) fn broken(question: &Question, answer: &Answer) -> Vec<&'static str> {
    let (given, line) = (question.line().chars(), answer.line.chars());
    let mut broken = Vec::new();
    let mut check = |holds: bool, rule| {
        if !holds {
            broken.push(rule);
        }
    };
    let marks = given.iter().zip(line).all(|(&a, &b)| if is_mark(a) { a == b } else { is_han(b) });
    check(given.len() == line.len() && marks, "R1");
    check(question.line().repetition() == answer.line.repetition(), "R2");
    check(!answer.line.han().any(|c| question.line().han().any(|d| c == d)), "R3");
    check(BlockedWords::default().find(line).is_none(), "R4");
    let (tone, hard) = required_end_tone(question.last_han(), question.direction());
    let last = answer.line.han().last().expect("a line has Han characters");
    check(!hard || satisfies_end_tone(last, tone), "R5");
    check((0..given.len()).all(|place| question.lock(place).is_none_or(|c| c == line[place])), "locks");
    broken
}

/// Asserts that answers keep all rules, are distinct, in order, and carry the model's own numbers.
pub(crate) fn assert_sound(model: &Scripted, decoder: &Decoder, question: &Question, answers: &[Answer]) {
    assert!(!answers.is_empty());
    let plan = decoder.plan(question).expect("answered");
    let mut seen = HashSet::new();
    for answer in answers {
        assert_eq!(broken(question, answer), [""; 0], "{} {}", question.line(), answer.line);
        assert!(seen.insert(&answer.line), "{} comes twice", answer.line);
        assert_eq!(answer.tokens.len(), question.line().len());
        let mut sum = 0.0;
        for (place, &c) in question.line().chars().iter().enumerate() {
            let scores = model.log_probs(plan.source(), &answer.tokens[..place]);
            let expected = if is_mark(c) { 0.0 } else { scores[answer.tokens[place].index()] };
            assert!((answer.place_log_probs[place] - expected).abs() < 1e-6);
            sum += f64::from(expected);
        }
        assert!((answer.log_prob - sum).abs() < 1e-4);
        let per_character = sum / question.line().han_len() as f64;
        assert!((answer.log_prob_per_character - per_character).abs() < 1e-4);
    }
    assert!(answers.windows(2).all(|pair| pair[0].score >= pair[1].score));
}
