//! The models that agents may ask for.

use ok::background::models::{Setup, Usual};
use ok::policy::Bundle;
use serde_json::json;

use crate::harness::Test;

#[tokio::test]
async fn everybody_sees_which_models_there_are_what_they_cost_and_whether_they_can_be_asked() {
    let file = "providers:\n  openai: {}\n  local: {kind: ollama}\nmodels:\n  \
                big: {provider: openai, name: gpt-5, context: 400000, capabilities: [tools, vision], price: {input: 125, output: 1000}}\n  \
                small: {provider: local, context: 8000}\n\
                defaults: {default: small, large: big}\n";
    let setup = Setup::of_file(file, &Usual::default(), &|_| None).unwrap();
    let test = Test::with_models(setup, Bundle::built_in()).await;
    let cast = test.cast().await;
    let big = json!({
        "id": "big", "provider": "openai", "context": 400_000, "capabilities": ["tools", "vision"],
        "price_in": 125, "price_out": 1000, "available": false, "default_for": ["large"],
    });
    let small = json!({
        "id": "small", "provider": "local", "context": 8000, "capabilities": [],
        "price_in": 0, "price_out": 0, "available": true, "default_for": ["default"],
    });
    assert_eq!(test.get("/llm/models", &cast.mia).await.json(), json!([big, small]));
    assert_eq!(Test::new().await.get("/llm/models", "").await.status, 401);
}
