//! Which models there are, as the settings say, and whether they can be asked.

use ok::background::models::{Setup, Usual};
use ok::types::models::ProviderKind;

use super::{Place, assert_snapshot, session};
use crate::harness::fake::{Fake, Reply};

#[test]
fn the_doctor_asks_each_provider_whether_it_takes_its_key() {
    let place = Place::new();
    let fakes: Vec<Fake> = ProviderKind::ALL.iter().map(|kind| Fake::new(*kind, vec![Reply::Say("hm")])).collect();
    let providers: String = ProviderKind::ALL
        .iter()
        .zip(&fakes)
        .map(|(kind, fake)| format!("  {kind}: {{base_url: '{}'}}\n", fake.url))
        .chain(["  other: {kind: openai, base_url: 'http://localhost:1', key_variable: OTHER_KEY}\n".to_owned()])
        .collect();
    std::fs::write(place.path().join("models.yaml"), format!("providers:\n{providers}models: {{}}\n")).unwrap();
    let keys = [
        ("OK_LLM_CONFIG", "models.yaml"),
        ("ANTHROPIC_API_KEY", "sk-right"),
        ("OPENAI_API_KEY", "sk-wrong"),
        ("GOOGLE_API_KEY", "sk-right"),
    ];
    let ran = place.ok_with("doctor", &keys);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stdout,
        "ok    anthropic  offers 2 models\n\
         ok    gemini     offers 1 model\n\
         ok    ollama     offers 1 model\n\
         FAIL  openai     it answered 401: invalid key [key]\n\
         FAIL  other      there is no key for it\n"
    );
    assert_eq!(fakes.iter().map(|fake| fake.got().len()).sum::<usize>(), 0, "nothing was asked that costs anything");
    // By its variable alone, without scheme, as people set it.
    let host = fakes[3].url.trim_start_matches("http://").trim_end_matches('/');
    let ran = place.ok_with("doctor --format json", &[("OLLAMA_HOST", host)]);
    assert_eq!((ran.code, ran.stdout.trim()), (0, r#"[{"ok":true,"provider":"ollama","message":"offers 1 model"}]"#));
    let ran = place.ok_with("doctor", &[("GOOGLE_API_KEY", "sk-right\r")]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("GOOGLE_API_KEY: the key has a character that no key has"), "{}", ran.stdout);
}

#[test]
fn what_is_wrong_with_the_models_is_told_with_the_file_the_field_and_the_line() {
    let place = Place::new();
    let models = "models:\n  m: {provider: openai, context: 100000}\n";
    let files = [
        (
            "providers: {openai: {}}\nmodels:\n  m:\n    provider: openai\n    context: 100000\n    contxt: 1\n",
            "unknown field",
        ),
        ("providers: {gateway: {}}\nmodels: {}\n", "no kind"),
        ("providers: {openai: {base_url: 'http://llm.example.org'}}\nmodels: {}\n", "in the clear"),
        (
            "providers: {ollama: {base_url: 'http://llm.example.org', key_variable: KEY}}\nmodels: {}\n",
            "in the clear, too",
        ),
        ("providers: {openai: {base_url: 'https://u:p@llm.example.org'}}\nmodels: {}\n", "a password"),
        ("providers: {openai: {key: sk-1}}\nmodels: {}\n", "a key"),
        (&format!("providers: {{anthropic: {{}}}}\n{models}"), "another provider"),
        (
            &format!("providers: {{openai: {{}}}}\n{models}defaults: {{large: n}}\nlimits: {{attempts: 0}}\n"),
            "a default, limits",
        ),
        ("providers: {openai: {}}\nmodels:\n  m: {provider: openai, context: 5, price: {input: -1}}\n", "a price"),
        ("providers: {openai: {}}\nmodels:\n  a::b: {provider: openai, context: 9, fallbacks: [c]}\n", "a model"),
        ("providers: {openai: {}, openai: {}}\nmodels: {}\n", "twice"),
        ("[]", "no map"),
    ];
    let ran = files.map(|(text, what)| {
        std::fs::write(place.path().join("models.yaml"), text).unwrap();
        let mut ran = place.ok_with("doctor", &[("OK_LLM_CONFIG", "models.yaml"), ("OPENAI_API_KEY", "sk")]);
        ran.shown = format!("{what}: ok doctor");
        ran
    });
    assert_snapshot("what_is_wrong_with_the_models", session(ran));
}

#[test]
fn a_server_says_at_its_start_which_providers_do_not_take_their_keys_unless_told_not_to_ask() {
    let place = Place::with_company();
    let fake = Fake::new(ProviderKind::Gemini, vec![Reply::Say("hm")]);
    std::fs::write(place.path().join("models.yaml"), fake.config()).unwrap();
    let variables = [("OK_LLM_CONFIG", "models.yaml"), ("FAKE_KEY", "sk-wrong"), ("OK_LLM_CHECK", "0")];
    let server = place.serve_with(&variables);
    assert!(!server.stop().stderr.contains("model provider"));
    assert_eq!(fake.listed(), 0);
    let mut server = place.serve_with(&variables[..2]);
    assert_eq!(server.says(), "the model provider fake cannot be asked: it answered 401: invalid key [key]");
    server.stop();
}

#[test]
fn a_server_with_wrong_models_does_not_start_and_commands_go_on() {
    let place = Place::with_company();
    let wrong = [("OK_LLM_CONFIG", "absent.yaml")];
    let lines = ["serve --bind 127.0.0.1:0", "--as ana kill global", "--as ana kill global --off"];
    assert_snapshot("a_server_with_wrong_models", session(lines.map(|line| place.ok_with(line, &wrong))));
}

#[test]
fn the_example_of_the_guide_is_right() {
    let guide = include_str!("../../docs/guides/agents.md");
    let example = guide.split("```yaml\n# models.yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let setup = Setup::of_file(example, &Usual::default(), &|_| None).unwrap();
    assert_eq!(setup.catalog.models["claude-sonnet-4-5"].price.input, 300);
    assert_eq!(setup.catalog.providers["gateway"].base_url, "https://llm.example.org/v1/");
    let wrong = Setup::of_file("providers: {plan: {kind: ollama}}\nmodels: {}\n", &Usual::default(), &|_| None);
    assert_eq!(wrong.err().unwrap(), "providers.plan: plans answer under this name; take another");
}

#[test]
fn an_agent_is_asked_from_the_command_line_without_a_server_and_without_a_plan() {
    let place = Place::with_company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let fake = Fake::new(ProviderKind::Ollama, vec![Reply::Call(&[("me_read", "{}")]), Reply::Say("I am the clerk.")]);
    let host = [("OLLAMA_HOST", fake.url.as_str()), ("OK_AS", "ana")];
    let ran = place.ok_with("ask --agent clerk 'Who are you?'", &host);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        ran.stdout,
        "  1  model llama3.2 ollama\n  2  tool me.read clerk\n  3  model llama3.2 ollama: I am the clerk.\n\nI am the clerk.\n"
    );
}

#[test]
fn tools_that_echo_answer_what_they_were_asked_where_they_are_wanted() {
    let place = Place::with_company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    place.ana("actor add-agent clerk --team team:ops --owner ben --trust standard");
    let plan = r#"{"steps": [{"call": {"tool": "echo.once", "with": {"text": "paid"}}}]}"#;
    std::fs::write(place.path().join("plan.json"), plan).unwrap();
    let ran = place.ana("--dev-echo-tools ask --agent clerk 'Pay' --plan plan.json");
    assert_eq!(ran.stdout, "  1  tool echo.once {\"text\":\"paid\"}: paid\n", "{}", ran.stderr);
    let ran = place.ana("ask --agent clerk 'Pay' --plan plan.json");
    assert!(ran.stderr.contains("there is no tool `echo.once`"), "{}", ran.stderr);
}

#[test]
fn what_a_run_waits_for_is_told_also_of_its_parts_and_the_command_ends_with_4() {
    let place = Place::with_company();
    place.ana("actor add-team team:ops --lead ana");
    place.ana("actor add-human ben --role member");
    for agent in ["clerk", "aide"] {
        place.ana(&format!("actor add-agent {agent} --team team:ops --owner ben --trust standard"));
    }
    let ask = |plan: &str, more: &str| {
        std::fs::write(place.path().join("plan.yaml"), plan).unwrap();
        place.ana(&format!("ask --agent clerk 'Pay' --plan plan.yaml {more}"))
    };
    let part = "steps: [{delegate: {agent: aide, text: x, plan: {steps: [{ask: {text: 'which one?', to: ana}}]}}}]";
    let ran = ask(part, "");
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains(" is waiting_input\nIt asks ana: which one?\nThe answer: `ok answer run_"), "{ran}");
    let part = ran.stderr.split('`').find_map(|command| command.strip_prefix("ok answer ")?.split(' ').next()).unwrap();
    let answered = place.ana(&format!("answer {part} 'the red one'"));
    assert!(answered.stdout.contains("question ana «which one?»: the red one"), "{answered}");
    let ran = ask("steps: [{model: {text: so, cost_cents: 5}}]", "--budget-cents 2");
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("Its agent asks for more; an approver runs `ok approve apr_"), "{ran}");
    let ran = ask("steps: [{wait: {seconds: 3600}}]", "");
    assert!(ran.code == 4 && ran.stderr.contains("a server or `ok tick --now "), "{ran}");
    place.ana("kill actor:clerk");
    let ran = ask("steps: [{say: hello}]", "");
    assert!(ran.code == 4 && ran.stderr.contains("A kill switch holds it"), "{ran}");
}
