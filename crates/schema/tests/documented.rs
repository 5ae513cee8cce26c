//! The JSON Schemas in docs/schemas are those of the records.

use std::path::Path;

#[test]
fn the_documented_schemas_are_those_of_the_records() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas"));
    let update = std::env::var_os("PLIMSOLL_UPDATE_EXPECTED").is_some();
    for (name, schema) in plimsoll_schema::json_schemas() {
        let file = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if update {
            std::fs::write(&file, &text).unwrap();
        }
        let documented = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            documented == text,
            "{} is not what the records say: run this test with PLIMSOLL_UPDATE_EXPECTED=1 and look at the difference",
            file.display()
        );
    }
}
