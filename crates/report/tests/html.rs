//! The page and the drawings as text: well formed, complete in themselves, nothing from users
//! obeyed. What only a browser can tell is tested by tests/browser.

mod common;

use plimsoll_report::{ThreadSpot, experiment_html, map_svg, thread_spots};
use plimsoll_schema::*;

/// Elements that have no end tag in HTML.
const VOID: [&str; 4] = ["meta", "link", "br", "img"];

/// The names of all elements; panics when a tag is not closed, or closed in the wrong place.
fn elements(markup: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with('!') {
            continue;
        }
        // No attribute value contains `>`: users' text is escaped. A `<` before it is a stray one.
        let end = rest.find('>').expect("a tag that does not end");
        let tag = &rest[..end];
        assert!(!tag.contains('<'), "stray < in {tag:?}");
        assert!(
            tag.matches('"').count().is_multiple_of(2),
            "open quote in {tag:?}"
        );
        rest = &rest[end + 1..];
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric())
            .collect();
        if tag.starts_with('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name.as_str()),
                "</{name}> closes another"
            );
            continue;
        }
        seen.push(name.clone());
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("style ends")..];
        }
        if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    seen
}

fn pages() -> Vec<(&'static str, String)> {
    let map = common::map_of(common::two_sockets());
    let mut empty = common::experiment();
    empty.runs.clear();
    empty.effects.clear();
    empty.efficiency.clear();
    empty.findings.clear();
    empty.arms.clear();
    empty.levels.clear();
    empty.verdict = None;
    empty.status = ExperimentStatus::Running;
    let mut sick = common::experiment();
    for (i, bad) in [f64::NAN, f64::INFINITY, 0.0, -1.0].into_iter().enumerate() {
        sick.runs[i].ops_per_second = Some(bad);
        sick.runs[i].samples[0].seconds = bad;
        sick.efficiency[i].ops_per_second = bad;
        sick.efficiency[i].speedup = Some(bad);
    }
    sick.effects[0].ratio = f64::NAN;
    sick.effects[1].ratio = 0.0;
    sick.effects[2].interval = Some(Interval {
        low: 0.0,
        high: f64::INFINITY,
        confidence: f64::NAN,
    });
    vec![
        (
            "with a map",
            experiment_html(&common::experiment(), Some(&map)),
        ),
        ("without one", experiment_html(&common::experiment(), None)),
        ("small", experiment_html(&common::small(), None)),
        ("hostile", experiment_html(&common::hostile(), Some(&map))),
        ("empty", experiment_html(&empty, None)),
        ("impossible figures", experiment_html(&sick, None)),
    ]
}

fn drawings() -> Vec<String> {
    let machines = [
        common::one_cpu(),
        common::two_cores(),
        common::two_sockets(),
        common::chiplets(),
        common::thousand_cpus(),
        common::odd(),
        common::bare(),
    ];
    let maps = machines.into_iter().map(common::map_of);
    maps.map(|map| map_svg(&map, &thread_spots(&map, BindType::Ts)))
        .collect()
}

#[test]
fn every_page_is_well_formed() {
    for (name, page) in pages() {
        let seen = elements(&page);
        assert!(page.starts_with("<!doctype html>"), "{name}");
        for (element, times) in [
            ("html", 1),
            ("h1", 1),
            ("main", 1),
            ("title", 1),
            ("style", 1),
        ] {
            let count = seen.iter().filter(|s| *s == element).count();
            assert_eq!(count, times, "<{element}> in the page {name}");
        }
    }
}

#[test]
fn no_page_loads_or_runs_anything() {
    for (name, page) in pages() {
        let seen = elements(&page);
        for element in [
            "script", "iframe", "object", "embed", "img", "a", "form", "base", "use",
        ] {
            assert!(
                !seen.iter().any(|s| s == element),
                "<{element}> in the page {name}"
            );
        }
        assert_eq!(
            seen.iter().filter(|s| *s == "link").count(),
            1,
            "only the empty icon: {name}"
        );
        assert!(page.contains("default-src 'none'"), "{name}");
        // Text that looks like markup stands there escaped, never inside a tag.
        for tag in page.split('<').skip(1).filter_map(|t| t.split('>').next()) {
            for word in [
                " src=",
                "url(",
                "http://",
                "https://",
                " onerror",
                " onload",
                "javascript:",
            ] {
                let inside_quotes = tag.contains("&lt;");
                assert!(
                    inside_quotes || !tag.contains(word),
                    "{word} in <{tag}> of {name}"
                );
            }
        }
        let style = page
            .split("<style>")
            .nth(1)
            .unwrap()
            .split("</style>")
            .next()
            .unwrap();
        for word in ["url(", "@import", "http:", "https:", "expression("] {
            assert!(!style.contains(word), "{word} in the style of {name}");
        }
    }
}

#[test]
fn text_from_users_is_shown_and_not_obeyed() {
    let page = experiment_html(&common::hostile(), None);
    for raw in ["<script", "<img", "</title></text>", "\u{1b}"] {
        assert!(!page.contains(raw), "{raw:?} stands raw in the page");
    }
    assert!(page.contains("&lt;script src=&quot;http://evil.example/x.js&quot;&gt;alert(1)"));
    let text = map_svg(
        &MapReport {
            machine: common::hostile().machine,
            ..common::map_of(common::two_sockets())
        },
        &[],
    );
    assert!(!text.contains("<script"));
}

#[test]
fn the_verdict_stands_before_everything_else() {
    let e = common::experiment();
    let page = experiment_html(&e, None);
    let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}"));
    let order = [
        "id=\"verdict\"",
        "Launch with",
        "id=\"threads\"",
        "id=\"effects\"",
        "id=\"throughput\"",
        "id=\"mechanisms\"",
        "id=\"findings\"",
        "id=\"runs\"",
        "id=\"settings\"",
        "id=\"reproduce\"",
    ];
    for pair in order.windows(2) {
        assert!(
            at(pair[0]) < at(pair[1]),
            "{} comes after {}",
            pair[0],
            pair[1]
        );
    }
    assert!(page.contains("plimsoll bench spin --arms u,ts"));
}

#[test]
fn every_effect_and_every_run_is_in_the_page() {
    let e = common::experiment();
    let page = experiment_html(&e, None);
    assert_eq!(page.matches("class=\"n ratio\"").count(), e.effects.len());
    assert_eq!(page.matches("class=\"spark\"").count(), e.runs.len());
    let marks = e.runs.len() + e.effects.len() + e.efficiency.len();
    let keys = page.matches("class=\"key\"").count();
    assert_eq!(page.matches("class=\"mark ").count(), marks + keys);
}

#[test]
fn tables_have_captions_and_drawings_have_words() {
    let page = experiment_html(&common::experiment(), None);
    let seen = elements(&page);
    let count = |name: &str| seen.iter().filter(|s| *s == name).count();
    assert_eq!(count("table"), count("caption"));
    for svg in page
        .split("<svg")
        .skip(1)
        .map(|s| s.split('>').next().unwrap())
    {
        assert!(
            svg.contains("aria-hidden")
                || svg.contains("aria-label")
                || svg.contains("class=\"mark"),
            "<svg{svg}>"
        );
    }
}

#[test]
fn an_effect_without_a_counter_is_said_to_be_unexplained() {
    let mut e = common::experiment();
    assert!(!experiment_html(&e, None).contains("No counter explains"));
    for effect in &mut e.effects {
        for m in &mut effect.mechanisms {
            m.explains = false;
        }
    }
    assert!(
        experiment_html(&e, None).contains("No counter explains the effect of ts at 10, ts at 44")
    );
}

#[test]
fn a_placement_that_was_not_honoured_is_said() {
    let mut e = common::experiment();
    let run = e.runs.iter_mut().find(|r| r.arm == "ts").unwrap();
    run.vm.as_mut().unwrap().bindings[0] = Some(7);
    assert!(
        experiment_html(&e, None).contains("1 of 30\u{a0}runs did not place them as predicted")
    );
}

#[test]
fn drawings_are_well_formed_for_every_machine() {
    for svg in drawings() {
        elements(&svg);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert_eq!(
            svg.matches("http").count(),
            1,
            "nothing but the name space is an address"
        );
        assert!(!svg.contains("NaN") && !svg.contains("\"inf"));
    }
}

#[test]
fn every_cpu_and_every_bound_thread_is_drawn() {
    let map = common::map_of(common::two_sockets());
    let svg = map_svg(&map, &thread_spots(&map, BindType::Ts));
    assert_eq!(svg.matches("class=\"pu").count(), 88);
    assert_eq!(svg.matches("class=\"pu taken\"").count(), 88);
    assert!(svg.contains("anywhere: 88 dirty CPU schedulers"));
    let unbound = map_svg(&map, &thread_spots(&map, BindType::U));
    assert_eq!(unbound.matches("class=\"pu taken\"").count(), 0);
    assert!(unbound.contains("anywhere: 88 normal schedulers"));
}

#[test]
fn a_thread_on_a_cpu_that_does_not_exist_does_no_harm() {
    let map = common::map_of(common::one_cpu());
    let svg = map_svg(&map, &ThreadSpot::schedulers(&[Some(9_999), None]));
    elements(&svg);
    assert!(svg.contains("1 normal scheduler"));
}

/// The colours of a `:root` block, `#rgb` and `#rrggbb`, as channels from 0 to 1.
fn palette(block: &str) -> std::collections::BTreeMap<String, [f64; 3]> {
    block
        .split([';', '{', '}'])
        .filter_map(|item| item.trim().strip_prefix("--")?.split_once(":#"))
        .map(|(name, hex)| {
            let wide = if hex.len() == 3 {
                hex.chars().flat_map(|c| [c, c]).collect()
            } else {
                hex.to_owned()
            };
            let channel = |i: usize| {
                f64::from(u8::from_str_radix(&wide[2 * i..2 * i + 2], 16).unwrap()) / 255.0
            };
            (name.to_owned(), [channel(0), channel(1), channel(2)])
        })
        .collect()
}

/// Contrast ratio of two colours (WCAG 2.2, definitions of contrast ratio and relative luminance).
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |rgb: [f64; 3]| {
        let linear = rgb.map(|c| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_and_marks_stand_out_in_light_dark_and_print() {
    let page = experiment_html(&common::small(), None);
    let blocks: Vec<_> = page
        .split(":root{")
        .skip(1)
        .map(|block| palette(block.split('}').next().unwrap()))
        .collect();
    assert_eq!(blocks.len(), 3, "light, dark, print");
    for colours in blocks {
        // WCAG 2.2: 4.5 for text (1.4.3, AA), 3 for graphics (1.4.11).
        for text in ["ink", "soft", "good", "bad"] {
            for ground in ["page", "faint"] {
                let c = contrast(colours[text], colours[ground]);
                assert!(c >= 4.5, "{text} on {ground}: {c:.2}");
            }
        }
        assert!(contrast(colours["on-taken"], colours["taken"]) >= 4.5);
        for arm in ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "taken"] {
            let c = contrast(colours[arm], colours["page"]);
            assert!(c >= 3.0, "{arm}: {c:.2}");
        }
    }
}
