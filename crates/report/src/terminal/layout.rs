//! A page of text that is never wider than asked: headings, paragraphs, tables.

use crate::words::{clean, prose};

/// Narrower than this nothing readable can be set; smaller widths are treated as this.
const MIN_WIDTH: usize = 40;

/// A text under construction.
pub struct Page {
    width: usize,
    text: String,
}

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

impl Page {
    pub fn new(width: usize) -> Self {
        Self {
            width: width.max(MIN_WIDTH),
            text: String::new(),
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn finish(self) -> String {
        self.text
    }

    /// A heading: a line of its own that is not indented, after an empty line.
    pub fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.paragraph(&prose(text), "", "");
    }

    /// Text wrapped at spaces: the first line after `first`, all others after `rest`.
    pub fn paragraph(&mut self, text: &str, first: &str, rest: &str) {
        for line in wrap(text, first, rest, self.width) {
            self.line(&line);
        }
    }

    /// Text under a heading.
    pub fn body(&mut self, text: &str) {
        self.paragraph(text, "  ", "  ");
    }

    /// One item of a list.
    pub fn item(&mut self, text: &str) {
        self.paragraph(&prose(text), "  • ", "    ");
    }

    /// A line that is known to fit. No-break spaces have done their work by then and become plain
    /// ones, so that what is searched for in the output is found.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.replace('\u{a0}', " ").trim_end());
        self.text.push('\n');
    }

    /// A table under a heading. Columns that do not fit are wrapped inside, the widest first; where
    /// even that is too wide, each row becomes a list of its cells.
    pub fn table(&mut self, columns: &[(&str, Align)], rows: &[Vec<String>]) {
        const INDENT: usize = 2;
        const GAP: usize = 2;
        const NARROWEST: usize = 8;
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| clean(cell)).collect())
            .collect();
        let mut widths: Vec<usize> = columns
            .iter()
            .enumerate()
            .map(|(i, (name, _))| {
                let cells = rows
                    .iter()
                    .filter_map(|row| row.get(i))
                    .map(|c| columns_of(c));
                cells.fold(columns_of(name), usize::max)
            })
            .collect();
        let room = self.width - INDENT - GAP * (columns.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let widest = (0..widths.len())
                .filter(|&i| columns[i].1 == Align::Left && widths[i] > NARROWEST)
                .max_by_key(|&i| widths[i]);
            match widest {
                Some(i) => widths[i] -= 1,
                None => return self.records(columns, &rows),
            }
        }
        let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        for row in std::iter::once(&names).chain(&rows) {
            let cells: Vec<Vec<String>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| wrap(cell, "", "", width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for y in 0..height {
                let mut line = " ".repeat(INDENT);
                for (x, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                    let text = cell.get(y).map_or("", String::as_str);
                    let pad = " ".repeat(width.saturating_sub(columns_of(text)));
                    match columns[x].1 {
                        Align::Left => line += &format!("{text}{pad}"),
                        Align::Right => line += &format!("{pad}{text}"),
                    }
                    line += &" ".repeat(GAP);
                }
                self.line(&line);
            }
        }
    }

    /// Names and values, values aligned and wrapped under themselves.
    pub fn pairs(&mut self, rows: &[(&str, String)]) {
        let name_width = rows.iter().map(|(name, _)| columns_of(name)).max();
        let column = name_width.unwrap_or(0).min(self.width / 2);
        for (name, value) in rows {
            let pad = " ".repeat(column.saturating_sub(columns_of(name)));
            let rest = " ".repeat(column + 4);
            self.paragraph(value, &format!("  {name}{pad}  "), &rest);
        }
    }

    fn records(&mut self, columns: &[(&str, Align)], rows: &[Vec<String>]) {
        for row in rows {
            for (i, ((name, _), cell)) in columns.iter().zip(row).enumerate() {
                let first = if i == 0 { "  • " } else { "    " };
                let text = if name.is_empty() {
                    cell.clone()
                } else {
                    format!("{name}: {cell}")
                };
                self.paragraph(&text, first, "      ");
            }
        }
    }
}

/// Columns that a text takes on a terminal: East Asian wide characters take two.
pub fn columns_of(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

fn char_columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Lines of at most `width` columns; words longer than a line are cut.
pub fn wrap(text: &str, first: &str, rest: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    let next = |line: &mut String, lines: &mut Vec<String>| {
        lines.push(std::mem::replace(line, rest.to_owned()));
    };
    for word in clean(text).split(' ').filter(|w| !w.is_empty()) {
        let gap = usize::from(!empty);
        if columns_of(&line) + gap + columns_of(word) <= width {
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
            continue;
        }
        if !empty {
            next(&mut line, &mut lines);
            empty = true;
        }
        for c in word.chars() {
            if !empty && columns_of(&line) + char_columns(c) > width {
                next(&mut line, &mut lines);
            }
            line.push(c);
            empty = false;
        }
    }
    lines.push(line);
    lines
}

/// `text` with its headings in bold, for a terminal that knows ANSI escapes: a heading is a line
/// that is not indented and does not draw.
pub fn emphasised(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let body = line.trim_end_matches('\n');
            let end = &line[body.len()..];
            match body.chars().next() {
                Some(c) if !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(&c) => {
                    format!("\u{1b}[1m{body}\u{1b}[0m{end}")
                }
                _ => line.to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_makes_a_line_wider_than_asked(text in "\\PC{0,200}", width in 40usize..100) {
            let mut page = Page::new(width);
            page.heading(&text);
            page.item(&text);
            page.table(
                &[("a", Align::Left), ("b", Align::Right), ("c", Align::Left)],
                &[vec![text.clone(), "1".to_owned(), text.clone()], vec!["x".to_owned(), text.clone(), String::new()]],
            );
            for line in page.finish().lines() {
                prop_assert!(columns_of(line) <= width, "{line:?}");
            }
        }

        #[test]
        fn wrapping_loses_no_word(words in proptest::collection::vec("[a-z]{1,12}", 0..40)) {
            let text = words.join(" ");
            prop_assert_eq!(wrap(&text, "", "", 40).join(" "), text);
        }
    }

    #[test]
    fn escape_sequences_in_names_are_not_obeyed() {
        let line = &wrap("a\u{1b}[2Jb\u{202e}c", "", "", 40)[0];
        assert_eq!(line, "a\u{fffd}[2Jb\u{fffd}c");
    }

    #[test]
    fn headings_are_bold_and_drawings_are_not() {
        assert_eq!(
            emphasised("Head\n  body\n┌─┐\n"),
            "\u{1b}[1mHead\u{1b}[0m\n  body\n┌─┐\n"
        );
    }
}
