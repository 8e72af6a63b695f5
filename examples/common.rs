//! What several examples need: reading pairs, and one error for all.

use std::path::Path;

use duilian::core::Couplet;
