//! A token that somebody else has, or has pasted where none belongs.

use super::Place;

#[tokio::test]
async fn whoever_revokes_a_token_is_told_of_the_requests_that_were_made_with_it() {
    let place = Place::with_company();
    place.ana("actor add-human lea --role lead");
    place.ana("actor add-team team:ops --lead lea");
    place.ana("actor add-human ben --role admin");
    let server = place.serve();
    let issued = place.ok("--as lea --format json token issue");
    let issued: serde_json::Value = serde_json::from_str(&issued.stdout).unwrap();
    let text = |field: &str| issued[field].as_str().unwrap();
    let asked = reqwest::Client::new().post(format!("http://{}/api/actors", server.address()));
    let new = serde_json::json!({ "id": "new", "kind": "person", "team": "team:ops" });
    let asked = asked.bearer_auth(text("token")).json(&new).send().await.unwrap();
    let asked: serde_json::Value = asked.json().await.unwrap();
    let id = asked["approval"].as_str().unwrap();
    // Its value, as somebody has found it.
    std::fs::write(place.path().join("leaked.txt"), format!("{}\n", text("token"))).unwrap();
    let find = |path: &str| {
        let from = std::fs::File::open(place.path().join(path)).unwrap();
        let output = place.command(&["--as", "ana", "token", "find"]).stdin(from).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, found) = find("leaked.txt");
    assert!(code == Some(0) && found.contains(text("id")) && !found.contains(text("token")), "{found}");
    // Or a line, a header or a link in which it stands; not two of them.
    let line = format!("curl -H 'Authorization: Bearer {}'\n", text("token"));
    std::fs::write(place.path().join("line.txt"), &line).unwrap();
    let (code, found) = find("line.txt");
    assert!(code == Some(0) && found.contains(text("id")), "{found}");
    std::fs::write(place.path().join("escaped.txt"), format!("\u{e4}Bearer%20{}\\n", text("token"))).unwrap();
    let (code, found) = find("escaped.txt");
    assert!(code == Some(0) && found.contains(text("id")), "{found}");
    let other = place.ana("token issue").stdout;
    std::fs::write(place.path().join("two.txt"), line + &other).unwrap();
    let (code, told) = find("two.txt");
    assert!(code == Some(64) && told.contains("holds the values of 2 tokens"), "{told}");
    std::fs::write(place.path().join("half.txt"), text("token").split_at(20).0).unwrap();
    let (code, told) = find("half.txt");
    assert!(code == Some(64) && told.contains("holds no value of a token, whole") && !told.contains("ok_Z"), "{told}");
    // Pasted where none belongs, it is not told on.
    for line in ["token find {}", "log --actor {}", "actor show {}", "kill actor:{}", "--format json kill actor:{}"] {
        let told = place.ok(&line.replace("{}", text("token")));
        assert!(told.code == 64 && !told.stderr.contains(text("token")), "{told}");
    }
    let revoked = place.ana(&format!("token revoke {}", text("id")));
    assert!(revoked.stderr.contains(&format!("made or decided with it wait on: {id}.")), "{revoked}");
    let shown = place.ana(&format!("token show {}", text("id")));
    assert!(shown.stdout.contains(&format!("request  {id}")), "{shown}");
    let again = place.ana(&format!("token revoke {}", text("id")));
    assert!(again.stderr.contains(" was revoked 20"), "{again}");
    for line in ["approval list", &format!("approval show {id}"), &format!("approval explain {id}")] {
        let shown = place.ok(&format!("--as ben {line}"));
        assert!(shown.stdout.contains("revoked"), "{shown}");
    }
    let ended = place.ana(&format!("token revoke {} --requests", text("id")));
    assert!(ended.stdout.contains("ended    1"), "{ended}");
}
