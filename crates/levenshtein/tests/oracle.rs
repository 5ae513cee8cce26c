//! Every way to a distance against the textbook dynamic program.

use std::sync::Arc;
use std::task::Poll;

use plimsoll_levenshtein::{
    Distance, Error, Found, InstructionSet, Limit, Options, Query, Search, Unit, distance, matrix,
    operations, similarity,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Two rows of the textbook program over anything that can be compared.
fn plain<T: PartialEq>(a: &[T], b: &[T]) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i as u64 + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (corner + u64::from(x != y)).min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()]
}

fn points(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn stepped(a: &[u8], b: &[u8], options: Options, set: InstructionSet, steps: &[u64]) -> Found {
    let mut distance = Distance::new(a, b, options)
        .unwrap()
        .with_instruction_set(set);
    let mut steps = steps.iter().cycle();
    loop {
        if let Poll::Ready(found) = distance.step(*steps.next().unwrap()).unwrap() {
            return found;
        }
    }
}

/// Strings around the borders of words and strips, over small and large alphabets, alone or as
/// two edits of one.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let length = || {
        prop_oneof![
            0..20usize,
            60..70usize,
            250..260usize,
            500..530usize,
            1000..1300usize
        ]
    };
    let symbols = prop_oneof![Just(1u8), Just(2), Just(4), Just(26), Just(255)];
    let free = (length(), length(), symbols)
        .prop_flat_map(|(m, n, top)| (vec(0..=top, m), vec(0..=top, n)));
    let edited = (
        vec(0u8..5, 0..1500usize),
        vec((any::<prop::sample::Index>(), 0u8..7), 0..40),
    )
        .prop_map(|(a, edits)| {
            let mut b = a.clone();
            for (place, edit) in edits {
                let place = place.index(b.len() + 1);
                match edit {
                    0..3 if place < b.len() => drop(b.remove(place)),
                    3..5 if place < b.len() => b[place] = edit,
                    _ => b.insert(place, edit),
                }
            }
            (a, b)
        });
    prop_oneof![free, edited]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-cäß€😀]{0,90}",
        "\\PC{0,60}",
        "[a-z]{0,70}",
        "[аб漢字x]{300,700}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_instruction_set_and_step_size_gives_the_textbook_distance(
        (a, b) in pair(),
        steps in vec(prop_oneof![1u64..20, 1u64..3000], 1..5),
    ) {
        let expected = plain(&a, &b);
        prop_assert_eq!(distance(&a, &b, Options::default()).unwrap(), Some(expected));
        for set in InstructionSet::available() {
            let found = stepped(&a, &b, Options::default(), set, &steps);
            prop_assert_eq!(found, Found { distance: Some(expected), longest: a.len().max(b.len()) as u64 });
        }
    }

    #[test]
    fn a_limit_changes_nothing_but_what_is_above_it(
        (a, b) in pair(),
        off in -3i64..4,
        any in 0u64..2000,
        steps in vec(1u64..3000, 1..3),
    ) {
        let expected = plain(&a, &b);
        for limit in [any, expected.saturating_add_signed(off)] {
            let options = Options { limit: Limit::Distance(limit), ..Options::default() };
            let wanted = Some(expected).filter(|d| *d <= limit);
            prop_assert_eq!(distance(&a, &b, options).unwrap(), wanted);
            for set in InstructionSet::available() {
                prop_assert_eq!(stepped(&a, &b, options, set, &steps).distance, wanted);
            }
        }
    }

    #[test]
    fn a_least_similarity_keeps_exactly_what_reaches_it((a, b) in pair(), least in 0.0f64..=1.0) {
        let longest = a.len().max(b.len());
        let exact = similarity(&a, &b, Options::default()).unwrap().unwrap();
        let expected = if longest == 0 { 1.0 } else { 1.0 - plain(&a, &b) as f64 / longest as f64 };
        prop_assert_eq!(exact, expected);
        for least in [least, exact] {
            let options = Options { limit: Limit::Similarity(least), ..Options::default() };
            let wanted = Some(exact).filter(|s| *s >= least);
            prop_assert_eq!(similarity(&a, &b, options).unwrap(), wanted);
        }
    }

    #[test]
    fn code_points_are_counted_as_such(a in text(), b in text(), steps in vec(1u64..500, 1..4)) {
        let (left, right) = (points(&a), points(&b));
        let expected = plain(&left, &right);
        let options = Options { unit: Unit::CodePoints, ..Options::default() };
        prop_assert_eq!(distance(a.as_bytes(), b.as_bytes(), options).unwrap(), Some(expected));
        for set in InstructionSet::available() {
            let found = stepped(a.as_bytes(), b.as_bytes(), options, set, &steps);
            prop_assert_eq!(found.distance, Some(expected));
            prop_assert_eq!(found.longest, left.len().max(right.len()) as u64);
        }
    }

    #[test]
    fn the_distance_is_a_metric((a, b) in pair(), (c, _) in pair()) {
        let d = |x: &[u8], y: &[u8]| distance(x, y, Options::default()).unwrap().unwrap();
        prop_assert_eq!(d(&a, &b), d(&b, &a));
        prop_assert_eq!(d(&a, &a), 0);
        prop_assert_eq!(d(&a, &b) == 0, a == b);
        prop_assert!(d(&a, &c) <= d(&a, &b) + d(&b, &c));
    }

    #[test]
    fn a_search_gives_what_each_pair_gives(
        query in prop_oneof![vec(0u8..4, 0..70usize), vec(0u8..9, 500..1200usize)],
        texts in vec(prop_oneof![vec(0u8..4, 0..90usize), vec(0u8..9, 900..1500usize)], 0..9),
        limit in prop_oneof![Just(Limit::None), (0u64..900).prop_map(Limit::Distance)],
        steps in vec(1u64..2000, 1..4),
    ) {
        let expected: Vec<_> = texts
            .iter()
            .map(|text| plain(&query, text))
            .map(|d| Some(d).filter(|d| !matches!(limit, Limit::Distance(most) if *d > most)))
            .collect();
        // The symbols are ASCII, so that both units must agree.
        for unit in [Unit::Bytes, Unit::CodePoints] {
            let query = Arc::new(Query::new(&query, unit).unwrap());
            let mut search = Search::new(query, texts.clone(), limit).unwrap();
            let mut step = steps.iter().cycle();
            let found = loop {
                if let Poll::Ready(found) = search.step(*step.next().unwrap()).unwrap() {
                    break found;
                }
            };
            let found: Vec<_> = found.iter().map(|f| f.distance).collect();
            prop_assert_eq!(&found, &expected);
        }
    }

    #[test]
    fn a_search_counts_code_points(query in text(), texts in vec(text(), 0..9)) {
        let expected: Vec<_> =
            texts.iter().map(|t| Some(plain(&points(&query), &points(t)))).collect();
        let query = Arc::new(Query::new(query.as_bytes(), Unit::CodePoints).unwrap());
        let found = Search::new(query, texts, Limit::None).unwrap().finish().unwrap();
        let found: Vec<_> = found.iter().map(|f| f.distance).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_full_matrix_is_the_textbook_program((a, b) in pair(), step in 1u64..5000) {
        let mut whole = matrix::Matrix::new(&a, &b).unwrap();
        let found = loop {
            if let Poll::Ready(found) = whole.step(step) {
                break found;
            }
        };
        prop_assert_eq!(found, plain(&a, &b));
        prop_assert_eq!(matrix::distance(&a, &b).unwrap(), found);
    }
}

#[test]
fn a_step_does_about_what_it_is_told() {
    let a: Vec<u8> = (0..5000u32).map(|i| (i * i % 251) as u8).collect();
    let b: Vec<u8> = (0..5000u32).map(|i| (i * 7 % 241) as u8).collect();
    let mut distance = Distance::new(&a, &b, Options::default()).unwrap();
    let mut steps = 0;
    while distance.step(1000).unwrap().is_pending() {
        steps += 1;
    }
    let expected = operations(a.len(), b.len()) / 1000;
    assert!(
        (expected * 9 / 10..2 * expected).contains(&steps),
        "{steps} steps, {expected} expected"
    );
}

#[test]
fn a_finished_distance_stays_finished() {
    let mut distance = Distance::new(b"ab", b"b", Options::default()).unwrap();
    while distance.step(1).unwrap().is_pending() {}
    let again = Found {
        distance: Some(1),
        longest: 2,
    };
    assert_eq!(distance.step(1).unwrap(), Poll::Ready(again));
}

#[test]
fn bytes_that_are_not_utf8_are_named() {
    let options = Options {
        unit: Unit::CodePoints,
        ..Options::default()
    };
    let mut long = vec![b'a'; 5000];
    assert_eq!(
        distance(b"fine", b"b\xff", options),
        Err(Error::NotUtf8 {
            which: "second",
            at: 1
        })
    );
    long.push(0xc3);
    assert_eq!(
        distance(&long, b"b", options),
        Err(Error::NotUtf8 {
            which: "first",
            at: 5000
        })
    );
    let query = Query::new(b"a\xf0\x9f", Unit::CodePoints);
    assert_eq!(
        query.unwrap_err(),
        Error::NotUtf8 {
            which: "query",
            at: 1
        }
    );
    let query = Arc::new(Query::new(b"a", Unit::CodePoints).unwrap());
    let search = Search::new(query, vec![&b"\xe2\x82"[..]], Limit::None).unwrap();
    assert_eq!(
        search.finish().unwrap_err(),
        Error::NotUtf8 {
            which: "candidate",
            at: 0
        }
    );
}

#[test]
fn sizes_beyond_the_caps_are_refused() {
    let huge = vec![0; plimsoll_levenshtein::MAX_BYTES + 1];
    let refused = Distance::new(&huge, &huge, Options::default()).unwrap_err();
    assert_eq!(refused, Error::TooLong { bytes: huge.len() });
    assert!(matches!(
        Query::new(&huge, Unit::Bytes),
        Err(Error::QueryTooLong { .. })
    ));
    assert!(matches!(
        matrix::Matrix::new(&huge, &huge),
        Err(Error::OutOfMemory { .. })
    ));
}

#[test]
fn a_similarity_that_is_no_fraction_is_refused() {
    for least in [-0.1, 1.1, f64::NAN] {
        let options = Options {
            limit: Limit::Similarity(least),
            ..Options::default()
        };
        assert_eq!(distance(b"a", b"b", options), Err(Error::BadSimilarity));
    }
}
