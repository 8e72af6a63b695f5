//! Search over a [`StepModel`] under the hard rules of couplets: beams, diverse ones too, sampling, and filling the
//! surest place first, in batches or as a stream; then reranking and explanations. No tensors: any model that scores
//! the next character can be plugged in.
//!
//! Three concepts do the work. A [`StepModel`] scores tokens place by place; its state is an argument. A
//! [`Constraint`] says what an answer must keep and what it had better keep; all of them together make a
//! [`Plan`], which looks ahead: it offers a token only if the line can still be finished, so no search gets
//! stuck and no answer breaks a hard rule. A [`Decoder`] runs the search that its [`DecodeOptions`] ask for.
//!
//! ```
//! use duilian_core::{Direction, Line, TokenId, Vocabulary};
//! use duilian_decoder::{DecodeOptions, Decoder, Lexicon, Question, Source, StepModel};
//! use duilian_prosody::BlockedWords;
//!
//! /// Token 0 is the unknown token, the others are characters.
//! struct Characters(Vec<char>);
//!
//! impl Vocabulary for Characters {
//!     fn size(&self) -> usize {
//!         self.0.len()
//!     }
//!     fn character(&self, id: TokenId) -> Option<char> {
//!         self.0.get(id.index()).copied().filter(|_| id.0 > 0)
//!     }
//!     fn id(&self, character: char) -> Option<TokenId> {
//!         self.0.iter().position(|&c| c == character).map(|i| TokenId(i as u16))
//!     }
//! }
//!
//! /// A model that always wants the token after the one that it answers.
//! struct NextToken(usize);
//!
//! /// The source of each row, and how many places are done.
//! struct State(Vec<Source>, usize);
//!
//! impl StepModel for NextToken {
//!     type State = State;
//!     type Error = std::convert::Infallible;
//!
//!     fn vocabulary_size(&self) -> usize {
//!         self.0
//!     }
//!     fn max_length(&self) -> usize {
//!         64
//!     }
//!     fn start(&self, sources: &[Source]) -> Result<State, Self::Error> {
//!         Ok(State(sources.to_vec(), 0))
//!     }
//!     fn step(&self, state: &mut State, _: &[TokenId], log_probs: &mut Vec<f32>) -> Result<(), Self::Error> {
//!         log_probs.clear();
//!         for source in &state.0 {
//!             let wanted = source.tokens[state.1].index() + 1;
//!             let other = 0.5 / (self.0 - 1) as f32; // half of the probability for all other tokens
//!             log_probs.extend((0..self.0).map(|id| if id == wanted { 0.5_f32.ln() } else { other.ln() }));
//!         }
//!         state.1 += 1;
//!         Ok(())
//!     }
//!     fn select(&self, state: &mut State, rows: &[usize]) -> Result<(), Self::Error> {
//!         state.0 = rows.iter().map(|&row| state.0[row].clone()).collect();
//!         Ok(())
//!     }
//! }
//!
//! let vocabulary = Characters("?，春秋来去花月开圆风雨鸟人".chars().collect());
//! let model = NextToken(vocabulary.size());
//! let lexicon = Lexicon::new(&vocabulary, TokenId(0), &BlockedWords::default());
//! let decoder = Decoder::new(lexicon, DecodeOptions { num_hypotheses: 3, ..DecodeOptions::default() })?;
//!
//! let question = Question::new(Line::parse("春来，花")?, Direction::UpperToLower);
//! let answers = decoder.answer(&model, &question)?;
//! assert_eq!(answers.len(), 3);
//! assert!(answers[0].line.to_string().starts_with("秋去，"));
//! assert!(answers[0].log_prob >= answers[1].log_prob);
//!
//! let locked = question.with_lock(0, '风')?;
//! assert!(decoder.answer(&model, &locked)?[0].line.to_string().starts_with("风去，"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod cancel;
mod constraint;
mod decoder;
mod devices;
mod error;
mod explain;
mod lexicon;
mod options;
mod plan;
mod question;
mod relation;
mod rerank;
mod rules;
mod score;
mod search;
mod step_model;
mod stream;
mod tables;
mod token_set;
mod wishes;
mod words;

pub use answer::Answer;
pub use cancel::CancelToken;
pub use constraint::{Constraint, Demands, Draft};
pub use decoder::Decoder;
pub use devices::{DeviceConstraint, DeviceOptions};
pub use error::DecodeError;
pub use explain::{Alternative, Explanation, PlaceExplanation};
pub use lexicon::Lexicon;
pub use options::{DecodeOptions, SearchMethod};
pub use plan::{Plan, SEARCH_LIMIT};
pub use question::Question;
pub use relation::{Relation, RelationTable};
pub use rerank::{Fit, FitExample, FitOptions, Ranked, RerankParts, RerankWeights, Reranker, fit_weights};
pub use rules::{CleanOutput, EndTone, LockedCharacters, MarksAtPlaces, NoSharedCharacter, Repetition};
pub use score::{LineScore, score, score_batch};
pub use step_model::{Source, StepModel};
pub use stream::{Answers, BatchAnswers};
pub use token_set::TokenSet;
pub use wishes::{ForbiddenCharacters, Mirror, Theme, ToneOpposition, Tones, WordClasses};
