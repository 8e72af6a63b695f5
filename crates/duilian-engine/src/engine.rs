//! The engine: one place at a time for a batch of rows.

use std::sync::Arc;

use duilian_core::{Direction, TokenId};
use duilian_decoder::{Source, StepModel};
use duilian_weights::{ModelConfig, ModelWeights};

use crate::kernel::{Level, Output, Store, attend, rms_norm, score_room};
use crate::network::{Block, Network, Precision};
use crate::state::{EngineState, Pool, Scratch};
use crate::{EngineError, Shortlist};

/// The token before the first one of an answer.
const BEGIN: TokenId = TokenId(2);
/// Rows that go through all layers together: what is between two layers then stays in the second-level cache.
const ROWS: usize = 96;
/// Rows whose scores are computed together, for the same reason: 32 KB each.
const SCORE_ROWS: usize = 24;
/// Log-probability of tokens that a shortlist leaves out.
const LEFT_OUT: f32 = -30.0;

/// The aligned transformer on a processor, ready to answer. Cloning costs nothing, and threads may share one engine.
///
/// Weights are packed once, when the engine is made. The instructions are chosen then too, by what the processor has.
///
/// ```
/// use duilian_core::{Direction, TokenId};
/// use duilian_decoder::{Source, StepModel};
/// use duilian_engine::{Engine, Precision};
/// use duilian_weights::ModelWeights;
///
/// let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights")?;
/// let engine = Engine::from_weights(&weights, Precision::Int8)?;
/// let source = Source {
///     tokens: vec![TokenId(20), TokenId(21)],
///     hints: vec![None, None],
///     direction: Direction::UpperToLower,
/// };
/// let mut state = engine.start(&[source])?;
/// let mut log_probs = Vec::new();
/// engine.step(&mut state, &[], &mut log_probs)?;
/// let total: f32 = log_probs.iter().map(|p| p.exp()).sum();
/// assert!((total - 1.0).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Engine {
    network: Arc<Network>,
    shortlist: Option<Arc<Shortlist>>,
    level: Level,
    pool: Pool,
}

impl Engine {
    /// Packs weights for the fastest instructions that the processor has.
    ///
    /// # Errors
    /// [`EngineError::Weights`] if a tensor is missing or of another shape than the sizes say.
    pub fn from_weights(weights: &ModelWeights, precision: Precision) -> Result<Self, EngineError> {
        let network = Arc::new(Network::new(weights, precision)?);
        Ok(Self { network, shortlist: None, level: Level::detect(), pool: Pool::default() })
    }

    /// The same engine with other instructions, for comparisons.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The same engine scoring at each place only the tokens that the shortlist has for the given character, and the
    /// hinted one. All others get a log-probability of -30, and what remains sums to 1. Without a shortlist all
    /// tokens are scored.
    ///
    /// # Errors
    /// [`EngineError::ShortlistSize`] if the shortlist is made for another vocabulary.
    pub fn with_shortlist(mut self, shortlist: impl Into<Arc<Shortlist>>) -> Result<Self, EngineError> {
        let shortlist = shortlist.into();
        let (own, model) = (shortlist.vocabulary_size(), self.network.config.vocabulary_size);
        if own != model {
            return Err(EngineError::ShortlistSize { shortlist: own, model });
        }
        self.shortlist = Some(shortlist);
        Ok(self)
    }

    /// Sizes of the network.
    pub fn config(&self) -> &ModelConfig {
        &self.network.config
    }

    /// The instructions in use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Bytes of the packed weights.
    pub fn weight_bytes(&self) -> usize {
        self.network.bytes()
    }

    fn check(&self, tokens: &[TokenId]) -> Result<(), EngineError> {
        let size = self.network.config.vocabulary_size;
        match tokens.iter().position(|t| t.index() >= size) {
            Some(i) => Err(EngineError::UnknownToken { id: tokens[i].0, place: i + 1, size }),
            None => Ok(()),
        }
    }

    fn check_sources(&self, sources: &[Source]) -> Result<usize, EngineError> {
        let Some(first) = sources.first() else {
            return Err(EngineError::malformed("there is no source"));
        };
        let (length, limit) = (first.tokens.len(), self.network.config.max_length);
        if length == 0 {
            return Err(EngineError::malformed("a source is empty"));
        }
        if length > limit {
            return Err(EngineError::TooLong { length, limit });
        }
        for source in sources {
            if source.tokens.len() != length || source.hints.len() != length {
                return Err(EngineError::malformed("sources of one batch differ in length"));
            }
            self.check(&source.tokens)?;
            let hints: Vec<TokenId> = source.hints.iter().map(|hint| hint.unwrap_or(BEGIN)).collect();
            self.check(&hints)?;
        }
        Ok(length)
    }

    /// Numbers of scratch memory a row, and in all for scores of attention or of a shortlist.
    fn resize(&self, scratch: &mut Scratch, rows: usize, length: usize) {
        let config = &self.network.config;
        let wide = (3 * config.d_model).max(config.d_ff);
        scratch.resize(rows, config.d_model, wide, score_room(length, config.heads));
    }

    /// Reads some lines and writes what the decoder needs of them, `[lines * length, memory_width]`.
    fn encode(&self, sources: &[Source], length: usize, scratch: &mut Scratch, memory: &mut [f32]) {
        let net = &*self.network;
        let (d, heads) = (net.config.d_model, net.config.heads);
        let tokens = sources.len() * length;
        self.resize(scratch, tokens, length);
        let embed = (d as f32).sqrt();
        // Given characters, as the decoder's input has them too.
        let (x, given) = (&mut scratch.x[..tokens * d], &mut scratch.normed[..tokens * d]);
        for (token, given) in sources.iter().flat_map(|s| &s.tokens).zip(given.chunks_exact_mut(d)) {
            net.embedding.look_up(token.index(), embed, given);
        }
        x.copy_from_slice(given);
        let (width, aligned) = (net.memory_width(), net.memory_width() - d);
        let output = Output { values: &mut memory[aligned..], stride: width, store: Store::Set };
        net.align_source.apply(self.level, given, d, &mut scratch.codes, output);
        let hinted = &mut scratch.wide;
        for (source, x) in sources.iter().zip(x.chunks_exact_mut(length * d)) {
            let direction = usize::from(source.direction == Direction::LowerToUpper) * d;
            let direction = &net.direction[direction..][..d];
            for (place, x) in x.chunks_exact_mut(d).enumerate() {
                if let Some(hint) = source.hints[place] {
                    net.embedding.look_up(hint.index(), embed, &mut hinted[..d]);
                    let output = Output { values: x, stride: d, store: Store::Add };
                    net.hint.apply(self.level, &hinted[..d], d, &mut scratch.codes, output);
                }
                let from_start = &net.from_start[place * d..][..d];
                let from_end = &net.from_end[(length - 1 - place) * d..][..d];
                for (((x, a), b), c) in x.iter_mut().zip(direction).zip(from_start).zip(from_end) {
                    *x += a + b + c;
                }
            }
        }
        for block in &net.encoder {
            let (normed, wide) = (&mut scratch.normed[..tokens * d], &mut scratch.wide[..tokens * 3 * d]);
            rms_norm(self.level, &scratch.x[..tokens * d], &block.self_norm, normed);
            let output = Output { values: wide, stride: 3 * d, store: Store::Set };
            block.self_qkv.apply(self.level, normed, d, &mut scratch.codes, output);
            for (token, out) in normed.chunks_exact_mut(d).enumerate() {
                if token % length == 0 {
                    scratch.offsets.clear();
                    scratch.offsets.extend((token..token + length).map(|key| key * 3 * d + d));
                }
                let query = &wide[token * 3 * d..][..d];
                attend(self.level, query, wide, &scratch.offsets, heads, &mut scratch.scores, out);
            }
            self.add(&block.self_out, tokens, scratch);
            self.feed_forward(block, tokens, scratch);
        }
        let normed = &mut scratch.normed[..tokens * d];
        rms_norm(self.level, &scratch.x[..tokens * d], &net.encoder_norm, normed);
        // The last columns are there already: what the given characters add to the decoder's input.
        let kept = &mut scratch.wide[..tokens * d];
        for (kept, memory) in kept.chunks_exact_mut(d).zip(memory.chunks_exact(width)) {
            kept.copy_from_slice(&memory[aligned..]);
        }
        let output = Output { values: &mut *memory, stride: width, store: Store::Set };
        net.memory.apply(self.level, normed, d, &mut scratch.codes, output);
        for (token, (kept, memory)) in kept.chunks_exact(d).zip(memory.chunks_exact_mut(width)).enumerate() {
            let place = token % length;
            let from_start = &net.from_start[place * d..][..d];
            let from_end = &net.from_end[(length - 1 - place) * d..][..d];
            let added = kept.iter().zip(from_start).zip(from_end);
            for (memory, ((a, b), c)) in memory[aligned..].iter_mut().zip(added) {
                *memory += a + b + c;
            }
        }
    }

    /// Adds the projection of `normed` to the residual stream.
    fn add(&self, layer: &crate::network::Linear, rows: usize, scratch: &mut Scratch) {
        let d = self.network.config.d_model;
        let output = Output { values: &mut scratch.x[..rows * d], stride: d, store: Store::Add };
        layer.apply(self.level, &scratch.normed[..rows * d], d, &mut scratch.codes, output);
    }

    fn feed_forward(&self, block: &Block, rows: usize, scratch: &mut Scratch) {
        let (d, ff) = (self.network.config.d_model, self.network.config.d_ff);
        let (x, normed) = (&mut scratch.x[..rows * d], &mut scratch.normed[..rows * d]);
        let wide = &mut scratch.wide[..rows * ff];
        rms_norm(self.level, x, &block.ff_norm, normed);
        let output = Output { values: &mut *wide, stride: ff, store: Store::Relu };
        block.ff_in.apply(self.level, normed, d, &mut scratch.codes, output);
        let output = Output { values: x, stride: d, store: Store::Add };
        block.ff_out.apply(self.level, wide, ff, &mut scratch.codes, output);
    }

    /// Takes some rows through the decoder; leaves normalised hidden vectors in `normed` of the scratch memory.
    fn decode(&self, state: &mut EngineState, previous: &[TokenId], first: usize, rows: usize) {
        let net = &*self.network;
        let (d, heads, width) = (net.config.d_model, net.config.heads, net.memory_width());
        let (length, place) = (state.length, state.place);
        self.resize(&mut state.scratch, rows, length);
        let embed = (d as f32).sqrt();
        for (i, x) in state.scratch.x[..rows * d].chunks_exact_mut(d).enumerate() {
            let token = previous.get(first + i).map_or(BEGIN, |&token| token);
            net.embedding.look_up(token.index(), embed, x);
            let source = state.source_of[first + i] as usize;
            let aligned = &state.memory[(source * length + place) * width + width - d..][..d];
            x.iter_mut().zip(aligned).for_each(|(x, a)| *x += a);
        }
        let start = state.place_starts[place];
        for (layer, block) in net.decoder.iter().enumerate() {
            let scratch = &mut state.scratch;
            let (normed, wide) = (&mut scratch.normed[..rows * d], &mut scratch.wide[..rows * 3 * d]);
            rms_norm(self.level, &scratch.x[..rows * d], &block.self_norm, normed);
            let output = Output { values: &mut *wide, stride: 3 * d, store: Store::Set };
            block.self_qkv.apply(self.level, normed, d, &mut scratch.codes, output);
            let answered = &mut state.answered[layer];
            let own = &mut answered[(start + first) * 2 * d..][..rows * 2 * d];
            for (own, wide) in own.chunks_exact_mut(2 * d).zip(wide.chunks_exact(3 * d)) {
                own.copy_from_slice(&wide[d..]);
            }
            for (i, out) in normed.chunks_exact_mut(d).enumerate() {
                let row = first + i;
                let ancestors = &state.ancestors[row * length..][..place];
                let before = ancestors.iter().zip(&state.place_starts).map(|(&a, &s)| s + a as usize);
                scratch.offsets.clear();
                scratch.offsets.extend(before.chain([start + row]).map(|at| at * 2 * d));
                let query = &wide[i * 3 * d..][..d];
                attend(self.level, query, answered, &scratch.offsets, heads, &mut scratch.scores, out);
            }
            self.add(&block.self_out, rows, scratch);
            if let Some(cross) = &block.cross {
                let (normed, wide) = (&mut scratch.normed[..rows * d], &mut scratch.wide[..rows * d]);
                rms_norm(self.level, &scratch.x[..rows * d], &cross.norm, normed);
                let output = Output { values: &mut *wide, stride: d, store: Store::Set };
                cross.query.apply(self.level, normed, d, &mut scratch.codes, output);
                for (i, out) in normed.chunks_exact_mut(d).enumerate() {
                    let from = state.source_of[first + i] as usize * length;
                    scratch.offsets.clear();
                    scratch.offsets.extend((from..from + length).map(|at| at * width + layer * 2 * d));
                    let query = &wide[i * d..][..d];
                    let (offsets, scores) = (&scratch.offsets, &mut scratch.scores);
                    attend(self.level, query, &state.memory, offsets, heads, scores, out);
                }
                self.add(&cross.out, rows, scratch);
            }
            self.feed_forward(block, rows, scratch);
        }
        let scratch = &mut state.scratch;
        let normed = &mut scratch.normed[..rows * d];
        rms_norm(self.level, &scratch.x[..rows * d], &net.decoder_norm, normed);
    }

    /// Log-probabilities of the rows that [`Engine::decode`] has left, `[rows, vocabulary]`.
    fn score(&self, state: &mut EngineState, first: usize, log_probs: &mut [f32]) {
        let (d, size) = (self.network.config.d_model, self.network.config.vocabulary_size);
        let scratch = &mut state.scratch;
        let rows = log_probs.len() / size;
        if self.shortlist.is_none() {
            let hidden = scratch.normed[..rows * d].chunks(SCORE_ROWS * d);
            for (hidden, log_probs) in hidden.zip(log_probs.chunks_mut(SCORE_ROWS * size)) {
                let codes = &mut scratch.codes;
                self.network.embedding.log_probs(self.level, hidden, d, None, codes, log_probs);
            }
            return;
        }
        log_probs.fill(LEFT_OUT);
        let mut row = 0;
        while row < rows {
            // Rows of one line share their candidates.
            let source = state.source_of[first + row];
            let same =
                state.source_of[first + row..first + rows].iter().take_while(|&&s| s == source).count();
            let list = state.candidates.list(source as usize * state.length + state.place);
            if scratch.scores.len() < same * list.len() {
                scratch.scores.resize(same * list.len(), 0.0);
            }
            let scores = &mut scratch.scores[..same * list.len()];
            let hidden = &scratch.normed[row * d..][..same * d];
            let codes = &mut scratch.codes;
            self.network.embedding.log_probs(self.level, hidden, d, Some(list), codes, scores);
            let lines = log_probs[row * size..].chunks_exact_mut(size);
            for (scores, line) in scores.chunks_exact(list.len()).zip(lines) {
                for (&token, score) in list.iter().zip(scores) {
                    line[usize::from(token)] = *score;
                }
            }
            row += same;
        }
    }
}

impl StepModel for Engine {
    type State = EngineState;
    type Error = EngineError;

    fn vocabulary_size(&self) -> usize {
        self.network.config.vocabulary_size
    }

    fn max_length(&self) -> usize {
        self.network.config.max_length
    }

    fn start(&self, sources: &[Source]) -> Result<EngineState, EngineError> {
        let length = self.check_sources(sources)?;
        let mut state = EngineState::new(sources.len(), length, self.network.decoder.len(), &self.pool);
        let width = self.network.memory_width();
        let lines = (ROWS / length).max(1);
        // Every number is written below.
        let mut memory = std::mem::take(&mut state.memory);
        memory.resize(sources.len() * length * width, 0.0);
        for (sources, memory) in sources.chunks(lines).zip(memory.chunks_mut(lines * length * width)) {
            self.encode(sources, length, &mut state.scratch, memory);
        }
        state.memory = memory;
        if let Some(shortlist) = &self.shortlist {
            shortlist.collect(sources, &mut state.candidates);
        }
        Ok(state)
    }

    fn step(
        &self,
        state: &mut EngineState,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        let (rows, place) = (state.rows, state.place);
        if place >= state.length {
            let reason = format!("step {} of lines of {}", place + 1, state.length);
            return Err(EngineError::malformed(reason));
        }
        let previous = if place == 0 { &[] } else { previous };
        if place > 0 && previous.len() != rows {
            return Err(EngineError::malformed(format!("{} tokens for {rows} rows", previous.len())));
        }
        self.check(previous)?;
        let (size, d) = (self.network.config.vocabulary_size, self.network.config.d_model);
        let start = state.answered.first().map_or(0, |layer| layer.len() / (2 * d));
        state.place_starts.push(start);
        for layer in &mut state.answered {
            // Room for all places to come: after the first, most searches keep the number of their rows.
            layer.reserve(rows * (state.length - place) * 2 * d);
            layer.resize((start + rows) * 2 * d, 0.0);
        }
        log_probs.resize(rows * size, 0.0);
        for (i, log_probs) in log_probs.chunks_mut(ROWS * size).enumerate() {
            self.decode(state, previous, i * ROWS, log_probs.len() / size);
            self.score(state, i * ROWS, log_probs);
        }
        for row in 0..rows {
            state.ancestors[row * state.length + place] = row as u32;
        }
        state.place += 1;
        Ok(())
    }

    fn select(&self, state: &mut EngineState, rows: &[usize]) -> Result<(), EngineError> {
        state.select(rows)
    }
}
