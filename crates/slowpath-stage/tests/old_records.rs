//! Records of older versions stay readable, and mean what they meant.

use std::path::PathBuf;

use slowpath_record::{Origin, RunKind};
use slowpath_stage::folder::Folder;

/// A record before runs said what they are for: the file's name told proofs apart.
const OLD: &str = r#"{"schema":"slowpath/record/1","origin":"simulated","experiment":"cisco-ftp","variant":"linux","repeat":1,
"seed":7,"plan_digest":"00","environment":null,"health":{"state":"valid","reasons":[]},"captures":[],"series":[],"curves":[],
"transfers":[],"flows":[],"elements":[],"marks":[],"loads":[],"notes":[]}"#;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_an_old_record_is_for_is_told_by_its_name() {
    let place = std::env::temp_dir().join(format!("slowpath-old-records-{}", std::process::id()));
    let scratch = Scratch(place);
    let folder = Folder::create(&scratch.0).unwrap();
    for name in ["linux.1.simulated", "proof-linux.window.1.simulated"] {
        folder
            .write(&format!("runs/{name}.json"), OLD.as_bytes())
            .unwrap();
    }
    let records = folder.records().unwrap();
    let kinds: Vec<RunKind> = records.iter().map(|(_, record)| record.kind).collect();
    assert_eq!(kinds, [RunKind::Plain, RunKind::Proof]);
    assert!(
        records
            .iter()
            .all(|(_, record)| record.origin == Origin::Simulated)
    );
}
