//! What many large changes at once leave to others.

use serde_json::{Value, json};

use super::brain::{company, create};
use crate::harness::together;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_stops_somebody_does_not_wait_behind_imports() {
    let (test, cast) = company().await;
    let records: Vec<Value> = (0..1_500).map(|number| json!({ "number": format!("n{number}") })).collect();
    let import = json!({ "records": records });
    let imports = (0..12).map(|_| test.post("/brain/collections/invoices/import", &cast.mia, import.clone()));
    let kills = async {
        let mut told = Vec::new();
        for _ in 0..6 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            for off in [false, true] {
                let kill = json!({ "scope": "actor:max", "off": off, "reason": "drill" });
                told.push(test.post("/kill", &test.admin, kill).await.status.as_u16());
            }
        }
        told
    };
    let (imported, told) = tokio::join!(together(imports), kills);
    assert_eq!(told, [200; 12]);
    let done = imported.iter().filter(|answer| answer.status == 200).count();
    assert!(done > 0, "{}", imported[0].text());
    for other in imported.iter().filter(|answer| answer.status != 200) {
        // Nothing was done, and it is said when to ask again.
        assert!(other.status == 503 && !other.text().contains("not known"), "{}", other.text());
    }
}

#[tokio::test]
async fn a_large_change_counts_for_as_many_as_its_bytes_would_be() {
    let (test, cast) = company().await;
    let fields = json!({ "name": { "type": "text", "required": true }, "text": { "type": "long_text" } });
    create(&test, "letters", json!({ "key": ["name"], "fields": fields })).await;
    let long = "x".repeat(60_000);
    let records: Vec<Value> = (0..80).map(|number| json!({ "name": format!("{number}"), "text": long })).collect();
    let import = json!({ "records": records });
    assert!(import.to_string().len() > 4 << 20);
    let mut last = 0;
    for _ in 0..7 {
        last = test.post("/brain/collections/letters/import", &cast.mia, import.clone()).await.status.as_u16();
    }
    assert_eq!(last, 429, "6,000 times 4 KiB in a minute");
}
