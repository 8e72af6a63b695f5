//! Lines as answers with scores that can be compared, and polishing.

use duilian_core::TokenId;

use super::batch::{answer, score_with};
use super::beam::{BeamJob, beam};
use super::forced::{ForcedJob, forced};
use super::nbest::by_score;
use crate::plan::Weights;
use crate::{Answer, CancelToken, DecodeError, DecodeOptions, Draft, Plan, StepModel};

/// Answers with the log-probabilities and scores that they have if they are read from left to right under their
/// plan. `lines` holds the lines of each plan; all plans have one length.
pub(super) fn rescore<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    plans: &[&Plan<'_>],
    lines: Vec<Vec<Vec<TokenId>>>,
) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let jobs: Vec<ForcedJob> = plans
        .iter()
        .zip(&lines)
        .map(|(plan, lines)| ForcedJob { source: plan.source().clone(), lines: lines.clone() })
        .collect();
    let mut log_probs = forced(model, cancel, jobs)?.into_iter();
    let mut answers = Vec::with_capacity(plans.len());
    for (plan, lines) in plans.iter().zip(lines) {
        let own = if lines.is_empty() { Vec::new() } else { log_probs.next().unwrap_or_default() };
        let scored = lines.into_iter().zip(own).map(|(tokens, log_probs)| score(plan, tokens, log_probs));
        answers.push(scored.collect::<Result<Vec<Answer>, DecodeError>>()?);
    }
    Ok(answers)
}

fn score(plan: &Plan<'_>, tokens: Vec<TokenId>, mut log_probs: Vec<f32>) -> Result<Answer, DecodeError> {
    let (mut log_prob, mut score) = (0.0, 0.0);
    let mut draft = plan.draft();
    let mut weights = Weights::default();
    for (place, &token) in tokens.iter().enumerate() {
        if !plan.counts(place) {
            log_probs[place] = 0.0;
            continue;
        }
        let mut weight = 0.0;
        if draft.tokens()[place].is_none() {
            let weights = plan.weigh(&draft, place, &mut weights);
            weight = weights.map_or(0.0, |weights| weights[token.index()]);
            plan.fill(&mut draft, place, token);
        }
        log_prob += f64::from(log_probs[place]);
        score = score_with(score, log_probs[place], weight);
    }
    answer(plan, tokens, log_probs, log_prob, score)
}

/// Fills the least likely places of each answer anew, the others being hints, and takes what has a higher score.
/// The answers of a plan stay distinct, and are sorted again.
pub(crate) fn polish<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    options: &DecodeOptions,
    plans: &[&Plan<'_>],
    answers: &mut [Vec<Answer>],
) -> Result<(), DecodeError> {
    let mut active: Vec<(usize, usize)> =
        answers.iter().enumerate().flat_map(|(i, own)| (0..own.len()).map(move |j| (i, j))).collect();
    for _ in 0..options.polish_rounds {
        // All answers are filled anew before any is replaced, so that the result does not depend on the batches.
        let mut found = Vec::with_capacity(active.len());
        for chunk in active.chunks(options.max_batch_size) {
            let starts: Vec<Draft> = chunk
                .iter()
                .map(|&(i, j)| without_weakest(plans[i], &answers[i][j], options.polish_places))
                .collect();
            let job = |(&(i, _), start): (&(usize, usize), Draft)| BeamJob {
                plan: plans[i],
                start,
                width: options.beam_size,
                groups: 1,
                penalty: 0.0,
                avoid: &[],
                min_difference: 0,
            };
            let jobs: Vec<BeamJob<'_>> = chunk.iter().zip(starts).map(job).collect();
            let lines = beam(model, cancel, &jobs)?
                .into_iter()
                .map(|found| found.into_iter().map(|answer| answer.tokens).collect())
                .collect();
            let chunk_plans: Vec<&Plan<'_>> = chunk.iter().map(|&(i, _)| plans[i]).collect();
            found.extend(rescore(model, cancel, &chunk_plans, lines)?);
        }
        let mut improved = Vec::new();
        for ((i, j), mut scored) in active.into_iter().zip(found) {
            scored.sort_by(by_score);
            // Another answer may be the same line already.
            let known = |line: &Answer| answers[i].iter().any(|answer| answer.tokens == line.tokens);
            let better = scored.into_iter().take_while(|line| line.score > answers[i][j].score);
            if let Some(best) = better.into_iter().find(|line| !known(line)) {
                answers[i][j] = best;
                improved.push((i, j));
            }
        }
        active = improved;
    }
    for answers in answers {
        answers.sort_by(by_score);
    }
    Ok(())
}

/// The answer without its least likely characters.
fn without_weakest(plan: &Plan<'_>, answer: &Answer, places: usize) -> Draft {
    let mut draft = plan.draft();
    let mut open: Vec<usize> = (0..answer.tokens.len()).filter(|&p| draft.tokens()[p].is_none()).collect();
    open.sort_by(|&a, &b| answer.place_log_probs[a].total_cmp(&answer.place_log_probs[b]).then(a.cmp(&b)));
    let mut weakest: Vec<TokenId> = Vec::new();
    for &place in &open {
        let token = answer.tokens[place];
        if weakest.len() < places && !weakest.contains(&token) {
            weakest.push(token);
        }
    }
    for place in open {
        if draft.tokens()[place].is_none() && !weakest.contains(&answer.tokens[place]) {
            plan.fill(&mut draft, place, answer.tokens[place]);
        }
    }
    draft
}

/// Fills the surest place first; at most one line for each plan.
pub(crate) fn best_first<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    plans: &[&Plan<'_>],
    avoid: &[(&[Answer], usize)],
) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let mut drafts: Vec<Draft> = plans.iter().map(|plan| plan.draft()).collect();
    let mut lines: Vec<Option<Vec<TokenId>>> = vec![None; plans.len()];
    let mut open: Vec<usize> = (0..plans.len()).collect();
    while !open.is_empty() {
        let job = |&i: &usize| BeamJob {
            plan: plans[i],
            start: drafts[i].clone(),
            width: 1,
            groups: 1,
            penalty: 0.0,
            avoid: avoid[i].0,
            min_difference: avoid[i].1,
        };
        let jobs: Vec<BeamJob<'_>> = open.iter().map(job).collect();
        let found = beam(model, cancel, &jobs)?;
        let mut still_open = Vec::new();
        for (i, found) in open.into_iter().zip(found) {
            // Where avoiding leads nowhere, the line of the last reading stands.
            let Some(reading) = found.into_iter().next() else { continue };
            if fill_surest(plans[i], &mut drafts[i], &reading) {
                still_open.push(i);
            }
            lines[i] = Some(reading.tokens);
        }
        open = still_open;
    }
    rescore(model, cancel, plans, lines.into_iter().map(|line| line.into_iter().collect()).collect())
}

/// Fills the place at which the reading is surest, and returns whether others are left.
fn fill_surest(plan: &Plan<'_>, draft: &mut Draft, reading: &Answer) -> bool {
    let open = (0..reading.tokens.len()).filter(|&place| draft.tokens()[place].is_none());
    let surest = open.min_by(|&a, &b| reading.place_log_probs[b].total_cmp(&reading.place_log_probs[a]));
    let Some(place) = surest else { return false };
    plan.fill(draft, place, reading.tokens[place]);
    draft.tokens().iter().any(Option::is_none)
}
