//! What people and programs read: terminal tables, drawings, self-contained HTML.
//!
//! Records of [`plimsoll_schema`] go in, text comes out; nothing here measures, decides or touches
//! the file system. One module per kind of output:
//!
//! * [`map_text`], [`experiment_text`], [`calibration_text`], [`runs_table`], [`compare_text`]: a terminal of a given
//!   width, never wider;
//! * [`map_svg`]: the machine with threads on it, one SVG file;
//! * [`experiment_html`]: one HTML file that needs no network, no script and no other file.

pub mod number;

mod html;
mod jitter;
mod shape;
mod spots;
mod svg;
mod terminal;
mod words;

pub use html::{experiment_html, jitter_html};
pub use spots::{ThreadSpot, thread_spots};
pub use svg::map_svg;
pub use terminal::{
    RunsRow, calibration_text, capacity_text, compare_text, emphasised, experiment_text,
    jitter_text, map_text, runs_table,
};
