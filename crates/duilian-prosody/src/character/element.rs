//! The five elements.

use serde::{Deserialize, Serialize};

use super::components;

/// One of the five elements (五行).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// 金.
    Metal,
    /// 木.
    Wood,
    /// 水.
    Water,
    /// 火.
    Fire,
    /// 土.
    Earth,
}

impl Element {
    /// All of them, in the order 金木水火土.
    pub const ALL: [Self; 5] = [Self::Metal, Self::Wood, Self::Water, Self::Fire, Self::Earth];

    /// Its character.
    ///
    /// ```
    /// use duilian_prosody::Element;
    /// assert_eq!(Element::ALL.map(Element::character), ['金', '木', '水', '火', '土']);
    /// ```
    pub fn character(self) -> char {
        match self {
            Self::Metal => '金',
            Self::Wood => '木',
            Self::Water => '水',
            Self::Fire => '火',
            Self::Earth => '土',
        }
    }
}

/// The elements that a character shows: as itself or as one of its parts.
///
/// ```
/// use duilian_prosody::{Element, elements};
/// let elements: Vec<Element> = "烟锁池塘柳".chars().flat_map(elements).collect();
/// assert_eq!(elements, [Element::Fire, Element::Metal, Element::Water, Element::Earth, Element::Wood]);
/// ```
pub fn elements(c: char) -> impl Iterator<Item = Element> {
    let parts = components(c);
    // 金 itself is written with parts that look like others; a whole element shows only itself.
    let whole = Element::ALL.into_iter().any(|element| element.character() == c);
    Element::ALL.into_iter().filter(move |element| {
        let character = element.character();
        c == character || !whole && parts.contains(&character)
    })
}
