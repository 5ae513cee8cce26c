use crate::words::clean;

/// `text` as HTML or XML text or attribute value: nothing in it can end the element or attribute
/// that it stands in, and control characters are gone.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_escaped_can_open_or_close_anything(text in "\\PC{0,64}") {
            prop_assert!(!escape(&text).contains(['<', '>', '"', '\'']));
        }

        #[test]
        fn what_was_escaped_reads_back(text in "[a-z<>&\"' ;#0-9]{0,64}") {
            let back = escape(&text)
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
            prop_assert_eq!(back, text);
        }
    }
}
