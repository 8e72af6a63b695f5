//! Questions in, answers out.

use std::collections::BTreeMap;

use crate::search::{BeamJob, NBest, SampleJob, beam, min_difference, sample};
use crate::{
    Answer, CleanOutput, Constraint, DecodeError, DecodeOptions, EndTone, Lexicon, LockedCharacters,
    MarksAtPlaces, NoSharedCharacter, Plan, Question, Repetition, SamplingOptions, StepModel,
};

/// Rounds of drawing after which sampling is content with fewer answers than asked for.
const SAMPLING_ROUNDS: usize = 4;

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
        let mut constraints: Vec<Box<dyn Constraint>> =
            vec![Box::new(MarksAtPlaces), Box::new(CleanOutput { blocked_words: options.blocked_words })];
        if options.repetition {
            constraints.push(Box::new(Repetition));
        }
        if options.no_shared_character {
            constraints.push(Box::new(NoSharedCharacter));
        }
        constraints.push(Box::new(LockedCharacters));
        if options.end_tone {
            constraints.push(Box::new(EndTone));
        }
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

    /// All constraints on one question, without searching: whether it can be answered, what may stand where.
    ///
    /// # Errors
    /// See [`Plan::new`].
    pub fn plan(&self, question: &Question) -> Result<Plan<'_>, DecodeError> {
        let constraints: Vec<&dyn Constraint> = self.constraints.iter().map(AsRef::as_ref).collect();
        Plan::new(question.clone(), &self.lexicon, &constraints)
    }

    /// Answers one question: up to [`DecodeOptions::num_hypotheses`] distinct answers, best first, at least
    /// one.
    ///
    /// # Errors
    /// [`DecodeError`], whatever stands in the way.
    pub fn answer<M: StepModel>(&self, model: &M, question: &Question) -> Result<Vec<Answer>, DecodeError> {
        let answers = self.answer_batch(model, std::slice::from_ref(question)).pop();
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
        let mut results: Vec<_> = questions.iter().map(|_| Ok(Vec::new())).collect();
        let mut by_length = BTreeMap::<usize, Vec<(usize, Plan<'_>)>>::new();
        for (i, question) in questions.iter().enumerate() {
            match self.plan_for(model, question) {
                Ok(plan) => by_length.entry(question.line().len()).or_default().push((i, plan)),
                Err(error) => results[i] = Err(error),
            }
        }
        for batch in by_length.values().flat_map(|plans| plans.chunks(self.options.max_batch_size)) {
            let plans: Vec<&Plan<'_>> = batch.iter().map(|(_, plan)| plan).collect();
            let found = match &self.options.sampling {
                Some(options) => self.sample(model, &plans, options),
                None => self.beam(model, &plans),
            };
            match found {
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

    fn plan_for<M: StepModel>(&self, model: &M, question: &Question) -> Result<Plan<'_>, DecodeError> {
        if model.vocabulary_size() != self.lexicon.size() {
            let (model, lexicon) = (model.vocabulary_size(), self.lexicon.size());
            return Err(DecodeError::VocabularySize { model, lexicon });
        }
        if question.line().len() > model.max_length() {
            let (length, limit) = (question.line().len(), model.max_length());
            return Err(DecodeError::TooLong { length, limit });
        }
        self.plan(question)
    }

    fn lists(&self, plans: &[&Plan<'_>]) -> Vec<NBest> {
        let option = self.options.min_difference;
        plans.iter().map(|p| NBest::new(self.options.num_hypotheses, min_difference(option, p))).collect()
    }

    fn beam<M: StepModel>(&self, model: &M, plans: &[&Plan<'_>]) -> Result<Vec<Vec<Answer>>, DecodeError> {
        let mut lists = self.lists(plans);
        let mut open: Vec<usize> = (0..plans.len()).collect();
        // The first round finds as many distinct lines as are asked for. Later ones, which must differ from
        // what is chosen, replace those that are too similar, as long as they find any.
        while !open.is_empty() {
            let job = |&i: &usize| BeamJob {
                plan: plans[i],
                width: self.options.width(lists[i].missing()),
                avoid: lists[i].chosen(),
                min_difference: lists[i].min_difference(),
            };
            let jobs: Vec<BeamJob<'_>> = open.iter().map(job).collect();
            let found = beam(model, &jobs)?;
            let mut still_open = Vec::new();
            for (i, answers) in open.into_iter().zip(found) {
                if lists[i].add(answers) > 0 && lists[i].missing() > 0 {
                    still_open.push(i);
                }
            }
            open = still_open;
        }
        Ok(lists.into_iter().map(NBest::finish).collect())
    }

    fn sample<M: StepModel>(
        &self,
        model: &M,
        plans: &[&Plan<'_>],
        options: &SamplingOptions,
    ) -> Result<Vec<Vec<Answer>>, DecodeError> {
        let mut lists = self.lists(plans);
        let draws = self.options.num_hypotheses;
        for round in 0..SAMPLING_ROUNDS {
            let open: Vec<usize> = (0..plans.len()).filter(|&i| lists[i].missing() > 0).collect();
            let jobs: Vec<SampleJob<'_>> = open
                .iter()
                .map(|&i| SampleJob { plan: plans[i], draws, first_draw: round * draws })
                .collect();
            let found = sample(model, options, &jobs)?;
            for (i, answers) in open.into_iter().zip(found) {
                lists[i].add(answers);
            }
        }
        Ok(lists.into_iter().map(NBest::finish).collect())
    }
}
