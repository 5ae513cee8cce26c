//! The code of the guide is the template's, which other tests compile and run.

#[test]
fn the_guide_shows_the_template_as_it_is() {
    let guide = include_str!("../../../docs/nif/making-a-nif-yield.md");
    let template = include_str!("../template/src/lib.rs");
    // The first block is the function as it was before.
    let blocks: Vec<&str> = guide
        .split("```rust\n")
        .skip(2)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 3);
    for paragraph in blocks.iter().flat_map(|block| block.split("\n\n")) {
        assert!(template.contains(paragraph.trim()), "{paragraph}");
    }
}
