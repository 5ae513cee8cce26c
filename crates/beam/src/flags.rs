//! The syntax of `ERL_FLAGS` and its sisters.

/// Joins words so that `erlexec` splits them into the same words again.
///
/// Every other character than the plain ones is escaped with a backslash, the one form of quoting
/// that means the same to it everywhere: inside its double quotes a backslash is an ordinary
/// character, inside its single quotes it is not.
pub(crate) fn join<S: AsRef<str>>(words: &[S]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let word = word.as_ref();
        if word.is_empty() {
            text.push_str("\"\"");
        }
        for character in word.chars() {
            if character.is_ascii()
                && !character.is_ascii_alphanumeric()
                && !"_+-,./:=@%".contains(character)
            {
                text.push('\\');
            }
            text.push(character);
        }
    }
    text
}

/// `first`, then `second`, where both are in the syntax of the variables. Nothing is trimmed: the
/// last space of a text may be an escaped one.
pub(crate) fn concat(first: &str, second: &str) -> String {
    match (first, second) {
        (first, "") => first.to_owned(),
        ("", second) => second.to_owned(),
        (first, second) => format!("{first} {second}"),
    }
}
