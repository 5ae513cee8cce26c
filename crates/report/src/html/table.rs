use super::escape;

/// A table with a caption. Cells are HTML; headers are text. Columns whose header starts with `>`
/// hold numbers and are set to the right.
pub fn table(class: &str, caption: &str, headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\
         <table class=\"{class}\"><caption>{0}</caption><thead><tr>",
        escape(caption)
    );
    let number = |i: usize| headers.get(i).is_some_and(|header| header.starts_with('>'));
    for (i, header) in headers.iter().enumerate() {
        let class = if number(i) { " class=\"n\"" } else { "" };
        let text = escape(header.trim_start_matches('>'));
        out += &format!("<th scope=\"col\"{class}>{text}</th>");
    }
    out += "</tr></thead><tbody>\n";
    for row in rows {
        out += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            let class = if number(i) { " class=\"n\"" } else { "" };
            out += &if i == 0 {
                format!("<th scope=\"row\"{class}>{cell}</th>")
            } else {
                format!("<td{class}>{cell}</td>")
            };
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

/// Names and values.
pub fn definitions(pairs: &[(String, String)]) -> String {
    let mut out = "<dl class=\"pairs\">\n".to_owned();
    for (name, value) in pairs {
        out += &format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            escape(name),
            escape(value)
        );
    }
    out + "</dl>\n"
}

/// A command that one click selects as a whole.
pub fn command(text: &str) -> String {
    format!(
        "<pre class=\"command\"><code>{}</code></pre>\n",
        escape(text)
    )
}

/// A list of sentences.
pub fn list(class: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul class=\"{class}\">\n{items}</ul>\n")
}
