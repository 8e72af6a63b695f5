//! What is known of one character besides its tone and class: parts, radical, readings, element, number.

mod components;
mod element;
mod number;
mod radical;
mod syllables;

pub(crate) use components::{commonest_component, is_split_in};
pub use components::{
    component_of, components, decompositions, has_component, is_split, shared_component, shares_component,
    splits, visible_components,
};
pub use element::{Element, elements};
pub use number::number_value;
pub use radical::radical;
pub use syllables::{Syllable, are_homophones, homophones, syllables};
