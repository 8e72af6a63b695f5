//! Why there is no answer.

/// Whatever keeps [`Duilian`](crate::Duilian) from answering.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no line: the message names the character and its place.
    #[error(transparent)]
    Input(#[from] duilian_corpus::NormalizeError),
    /// The line cannot be answered.
    #[error(transparent)]
    Decode(#[from] duilian_decoder::DecodeError),
    /// A network cannot be made.
    #[cfg(feature = "flex")]
    #[error(transparent)]
    Model(#[from] duilian_model::ModelError),
    /// The weights cannot be read.
    #[error(transparent)]
    Weights(#[from] duilian_weights::WeightsError),
    /// The engine cannot use the weights.
    #[error(transparent)]
    Engine(#[from] duilian_engine::EngineError),
    /// The vocabulary cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] duilian_tokenizer::TokenizerError),
    /// Weights and vocabulary do not belong together.
    #[error("the weights know {weights} tokens, the vocabulary has {vocabulary}")]
    Mismatch {
        /// Tokens of the weights.
        weights: usize,
        /// Tokens of the vocabulary.
        vocabulary: usize,
    },
}
