//! Questions in, answers out.

use std::collections::BTreeMap;

use duilian_prosody::ToneBook;

use crate::plan::Rule;
use crate::search::{BeamJob, NBest, SampleJob, beam, best_first, min_difference, polish, sample};
use crate::{
    Answer, Answers, BatchAnswers, CancelToken, CleanOutput, Constraint, DecodeError, DecodeOptions,
    DeviceConstraint, EndTone, ForbiddenCharacters, Lexicon, LockedCharacters, MarksAtPlaces, Mirror,
    NoSharedCharacter, Plan, Question, Repetition, SearchMethod, StepModel, Theme, ToneOpposition, Tones,
    WordClasses,
};

/// Rounds of drawing after which sampling is content with fewer answers than asked for.
pub(crate) const SAMPLING_ROUNDS: usize = 4;

/// Answers questions by searching over a [`StepModel`] under constraints.
///
/// The decoder holds no model: one decoder serves many, and one model serves many decoders. The crate's first
/// page has an example.
pub struct Decoder {
    lexicon: Lexicon,
    options: DecodeOptions,
    constraints: Vec<Box<dyn Constraint>>,
}

impl Decoder {
    /// A decoder under the rules that the options ask for. R1, that there are only Han characters, and locked
    /// characters always hold.
    ///
    /// # Errors
    /// [`DecodeError::Option`]; see [`DecodeOptions::validate`].
    pub fn new(lexicon: Lexicon, options: DecodeOptions) -> Result<Self, DecodeError> {
        options.validate()?;
        let constraints = constraints(&options);
        Ok(Self { lexicon, options, constraints })
    }

    /// Adds a constraint.
    #[must_use]
    pub fn with_constraint(mut self, constraint: impl Constraint + 'static) -> Self {
        self.constraints.push(Box::new(constraint));
        self
    }

    /// The options.
    pub fn options(&self) -> &DecodeOptions {
        &self.options
    }

    /// The tables of the vocabulary.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// All constraints on one question, without searching: whether it can be answered, what may stand where. The
    /// devices of its line come last, so that they are the first to be waived.
    ///
    /// # Errors
    /// See [`Plan::new`].
    pub fn plan(&self, question: &Question) -> Result<Plan<'_>, DecodeError> {
        let mut rules: Vec<Rule<'_>> =
            self.constraints.iter().map(|constraint| Rule::Shared(constraint.as_ref())).collect();
        for device in DeviceConstraint::detect(question, &self.options.devices) {
            // R2 sees to these; who switches it off does not want them.
            if !device.device().kind().follows_from_repetition() {
                rules.push(Rule::Own(Box::new(device)));
            }
        }
        Plan::of_rules(question.clone(), &self.lexicon, rules)
    }

    /// Answers one question: up to [`DecodeOptions::num_hypotheses`] distinct answers, best first, at least
    /// one.
    ///
    /// # Errors
    /// [`DecodeError`], whatever stands in the way.
    pub fn answer<M: StepModel>(&self, model: &M, question: &Question) -> Result<Vec<Answer>, DecodeError> {
        self.answer_until(model, question, &CancelToken::new())
    }

    /// As [`Self::answer`], until the token is cancelled.
    ///
    /// # Errors
    /// [`DecodeError::Cancelled`] beside those of [`Self::answer`].
    pub fn answer_until<M: StepModel>(
        &self,
        model: &M,
        question: &Question,
        cancel: &CancelToken,
    ) -> Result<Vec<Answer>, DecodeError> {
        let answers = self.answer_batch_until(model, std::slice::from_ref(question), cancel).pop();
        // One question has one result.
        answers.unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Answers many questions; the results are in the order of the questions. Questions of equal length
    /// share batches of the model, [`DecodeOptions::max_batch_size`] at most. An error of one question leaves
    /// the others alone, but if the model fails, all questions of its batch get the error.
    pub fn answer_batch<M: StepModel>(
        &self,
        model: &M,
        questions: &[Question],
    ) -> Vec<Result<Vec<Answer>, DecodeError>> {
        self.answer_batch_until(model, questions, &CancelToken::new())
    }

    /// As [`Self::answer_batch`], until the token is cancelled; what is not answered by then has
    /// [`DecodeError::Cancelled`].
    pub fn answer_batch_until<M: StepModel>(
        &self,
        model: &M,
        questions: &[Question],
        cancel: &CancelToken,
    ) -> Vec<Result<Vec<Answer>, DecodeError>> {
        let mut results: Vec<_> = questions.iter().map(|_| Ok(Vec::new())).collect();
        let mut by_length = BTreeMap::<usize, Vec<(usize, Plan<'_>)>>::new();
        for (i, question) in questions.iter().enumerate() {
            match self.plan_for(model, question) {
                Ok(plan) => by_length.entry(question.line().len()).or_default().push((i, plan)),
                Err(error) => results[i] = Err(error),
            }
        }
        let run = Run { model, options: &self.options, cancel };
        for batch in by_length.values().flat_map(|plans| plans.chunks(self.options.max_batch_size)) {
            let plans: Vec<&Plan<'_>> = batch.iter().map(|(_, plan)| plan).collect();
            match run.answers(&plans) {
                Ok(found) => {
                    for ((i, _), answers) in batch.iter().zip(found) {
                        results[*i] = Ok(answers);
                    }
                }
                Err(error) => batch.iter().for_each(|(i, _)| results[*i] = Err(error.clone())),
            }
        }
        results
    }

    /// Answers to one question as they are found: those of each round of the search best first, each round
    /// differing from all before by [`DecodeOptions::min_difference`] places. The next round runs when the answers
    /// of the last are taken. It ends when a round finds nothing; [`DecodeOptions::num_hypotheses`] does not limit
    /// it.
    ///
    /// # Errors
    /// As [`Self::plan`], or if the line does not fit the model.
    pub fn stream<'a, M: StepModel>(
        &'a self,
        model: &'a M,
        question: &Question,
        cancel: &CancelToken,
    ) -> Result<Answers<'a, M>, DecodeError> {
        let plan = self.plan_for(model, question)?;
        Ok(Answers(BatchAnswers::new(model, &self.options, cancel, vec![Ok(plan)])))
    }

    /// As [`Self::stream`] for many questions: each item comes with the index of its question. A question that
    /// cannot be answered gives one error.
    pub fn stream_batch<'a, M: StepModel>(
        &'a self,
        model: &'a M,
        questions: &[Question],
        cancel: &CancelToken,
    ) -> BatchAnswers<'a, M> {
        let plans = questions.iter().map(|question| self.plan_for(model, question)).collect();
        BatchAnswers::new(model, &self.options, cancel, plans)
    }

    pub(crate) fn plan_for<M: StepModel>(
        &self,
        model: &M,
        question: &Question,
    ) -> Result<Plan<'_>, DecodeError> {
        check_model(model, &self.lexicon, question)?;
        self.plan(question)
    }
}

/// Whether the model has the vocabulary and reads lines of the length.
pub(crate) fn check_model<M: StepModel>(
    model: &M,
    lexicon: &Lexicon,
    question: &Question,
) -> Result<(), DecodeError> {
    if model.vocabulary_size() != lexicon.size() {
        let (model, lexicon) = (model.vocabulary_size(), lexicon.size());
        return Err(DecodeError::VocabularySize { model, lexicon });
    }
    if question.line().len() > model.max_length() {
        let (length, limit) = (question.line().len(), model.max_length());
        return Err(DecodeError::TooLong { length, limit });
    }
    Ok(())
}

/// The constraints that the options ask for, the weightiest first.
fn constraints(options: &DecodeOptions) -> Vec<Box<dyn Constraint>> {
    let mut constraints: Vec<Box<dyn Constraint>> =
        vec![Box::new(MarksAtPlaces), Box::new(CleanOutput { blocked_words: options.blocked_words })];
    if options.repetition {
        constraints.push(Box::new(Repetition));
    }
    if options.no_shared_character {
        constraints.push(Box::new(NoSharedCharacter));
    }
    if !options.forbidden_characters.is_empty() {
        constraints.push(Box::new(options.forbidden_characters.chars().collect::<ForbiddenCharacters>()));
    }
    if options.mirror {
        constraints.push(Box::new(Mirror));
    }
    constraints.push(Box::new(LockedCharacters));
    if let Some(pattern) = &options.tone_pattern {
        constraints.push(Box::new(Tones { pattern: pattern.clone(), book: ToneBook::default() }));
    }
    if options.end_tone {
        constraints.push(Box::new(EndTone));
    }
    if options.tone_opposition_weight != 0.0 {
        let (weight, book) = (options.tone_opposition_weight, ToneBook::default());
        constraints.push(Box::new(ToneOpposition { weight, book }));
    }
    if options.word_class_weight != 0.0 {
        constraints.push(Box::new(WordClasses { weight: options.word_class_weight }));
    }
    if !options.theme.is_empty() {
        constraints.push(Box::new(Theme::new(&options.theme, options.theme_weight)));
    }
    constraints
}

/// A search with its model.
pub(crate) struct Run<'a, M> {
    pub(crate) model: &'a M,
    pub(crate) options: &'a DecodeOptions,
    pub(crate) cancel: &'a CancelToken,
}

impl<M: StepModel> Run<'_, M> {
    /// Lists for `wanted` answers to each question.
    pub(crate) fn lists(&self, plans: &[&Plan<'_>], wanted: usize) -> Vec<NBest> {
        let option = self.options.min_difference;
        plans.iter().map(|plan| NBest::new(wanted, min_difference(option, plan))).collect()
    }

    /// All answers to questions of one length.
    fn answers(&self, plans: &[&Plan<'_>]) -> Result<Vec<Vec<Answer>>, DecodeError> {
        let mut lists = self.lists(plans, self.options.num_hypotheses);
        let mut open: Vec<usize> = (0..plans.len()).collect();
        // The first round finds as many distinct lines as are asked for. Later ones, which must differ from
        // what is chosen, replace those that are too similar, as long as they find any.
        for round in 0.. {
            if open.is_empty() {
                break;
            }
            let width = |list: &NBest| self.options.width(list.missing());
            let found = self.round(plans, &lists, &open, round, width)?;
            let mut still_open = Vec::new();
            for (i, answers) in open.into_iter().zip(found) {
                let added = lists[i].add(answers) > 0;
                if lists[i].missing() > 0 && self.goes_on(added, round) {
                    still_open.push(i);
                }
            }
            open = still_open;
        }
        let mut answers: Vec<Vec<Answer>> = lists.into_iter().map(NBest::finish).collect();
        polish(self.model, self.cancel, self.options, plans, &mut answers)?;
        Ok(answers)
    }

    /// Whether another round may find more after one that did or did not.
    pub(crate) fn goes_on(&self, added: bool, round: usize) -> bool {
        match self.options.search {
            SearchMethod::Sampling => round + 1 < SAMPLING_ROUNDS,
            SearchMethod::Beam | SearchMethod::BestFirst => added,
        }
    }

    /// One round of the search for each open question: what it finds, near-duplicates among it.
    pub(crate) fn round(
        &self,
        plans: &[&Plan<'_>],
        lists: &[NBest],
        open: &[usize],
        round: usize,
        width: impl Fn(&NBest) -> usize,
    ) -> Result<Vec<Vec<Answer>>, DecodeError> {
        let Self { model, options, cancel } = *self;
        match options.search {
            SearchMethod::Beam => {
                let job = |&i: &usize| BeamJob {
                    plan: plans[i],
                    start: plans[i].draft(),
                    width: width(&lists[i]),
                    groups: options.num_beam_groups,
                    penalty: f64::from(options.diversity_penalty),
                    avoid: lists[i].chosen(),
                    min_difference: lists[i].min_difference(),
                };
                beam(model, cancel, &open.iter().map(job).collect::<Vec<_>>())
            }
            SearchMethod::Sampling => {
                let draws = options.num_hypotheses;
                let job = |&i: &usize| SampleJob { plan: plans[i], draws, first_draw: round * draws };
                sample(model, cancel, options, &open.iter().map(job).collect::<Vec<_>>())
            }
            SearchMethod::BestFirst => {
                let own: Vec<&Plan<'_>> = open.iter().map(|&i| plans[i]).collect();
                let avoid: Vec<_> =
                    open.iter().map(|&i| (lists[i].chosen(), lists[i].min_difference())).collect();
                best_first(model, cancel, &own, &avoid)
            }
        }
    }
}
