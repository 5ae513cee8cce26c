//! Says what is going on, on standard error: a bar on a terminal, a line a block elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_lab::Progress;

/// How progress is shown.
pub enum Shower {
    /// Not at all.
    Quiet,
    /// A bar.
    Bar(ProgressBar),
    /// A line for each block; holds the last block that was named.
    Lines(Option<usize>),
}

impl Shower {
    /// Chooses by `--quiet` and by what standard error is.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(None);
        }
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} runs, {eta} left · {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::Bar(ProgressBar::new(0).with_style(style))
    }

    /// A run starts.
    pub fn step(&mut self, progress: &Progress<'_>) {
        match self {
            Self::Quiet => {}
            Self::Bar(bar) => {
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done as u64);
                bar.set_message(format!(
                    "block {} of {}, arm {}, level {}",
                    progress.next.block + 1,
                    progress.blocks,
                    progress.arm,
                    progress.next.level
                ));
            }
            Self::Lines(last) => {
                if last.replace(progress.next.block) != Some(progress.next.block) {
                    eprintln!("block {} of {}", progress.next.block + 1, progress.blocks);
                }
            }
        }
    }

    /// All runs are made.
    pub fn end(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
