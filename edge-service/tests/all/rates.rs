//! Rates by address, caller and route.

use service_runtime::HostOptions;

use crate::support::{Edge, answering, code, options, requests, route, verifier};
use crate::tokens::token;

#[tokio::test]
async fn rate_limits_of_8_hold_an_address_with_429_and_say_when_to_come_again() {
    let service = answering("ok");
    let mut options = options();
    options.address_rate = Some("3/h".parse().unwrap());
    let routes = vec![route("/", &service)];
    let edge = Edge::with(&options, HostOptions::default(), None, routes).await;
    for remaining in [2, 1, 0] {
        let answered = edge.get("/x").send().await.unwrap();
        assert!(answered.status().is_success());
        let limit = answered.headers()["ratelimit"].to_str().unwrap().to_owned();
        assert!(
            limit.starts_with(&format!("\"address\";r={remaining};t=")),
            "{limit}"
        );
        assert_eq!(
            answered.headers()["ratelimit-policy"],
            "\"address\";q=3;w=3600"
        );
    }
    let refused = edge.get("/x").send().await.unwrap();
    let seconds: u64 = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=1_200).contains(&seconds), "{seconds}");
    let (status, code) = code(refused).await;
    assert_eq!((status.as_u16(), code.as_str()), (429, "RATE_LIMITED"));
    assert_eq!(requests(&service).len(), 3);
    // Probes are not counted.
    assert!(
        edge.get("/__live")
            .send()
            .await
            .unwrap()
            .status()
            .is_success()
    );
}

#[tokio::test]
async fn rate_limits_of_8_are_those_of_each_caller_wherever_they_come_from() {
    let service = answering("ok");
    let mut options = options();
    options.address_rate = None;
    options.caller_rate = Some("1/h".parse().unwrap());
    let routes = vec![route("/", &service)];
    let edge = Edge::with(&options, HostOptions::default(), Some(verifier()), routes).await;
    for (name, status) in [("anna", 200), ("anna", 429), ("bert", 200), ("anna", 429)] {
        let answered = edge
            .get("/x")
            .header("authorization", token(name))
            .send()
            .await
            .unwrap();
        assert_eq!(answered.status().as_u16(), status, "{name}");
        assert_eq!(
            answered.headers()["ratelimit-policy"],
            "\"caller\";q=1;w=3600"
        );
    }
    assert_eq!(requests(&service).len(), 2);
}

#[tokio::test]
async fn the_limit_of_a_route_leaves_others_alone_and_bad_tokens_do_not_use_it_up() {
    let (one, other) = (answering("one"), answering("other"));
    let mut limited = route("/one", &one);
    limited.rate = Some("1/h".parse().unwrap());
    let routes = vec![limited, route("/other", &other)];
    let edge = Edge::with(&options(), HostOptions::default(), Some(verifier()), routes).await;
    for _ in 0..3 {
        let refused = edge
            .get("/one")
            .header("authorization", "Bearer x")
            .send()
            .await
            .unwrap();
        assert_eq!(refused.status().as_u16(), 401);
    }
    for (path, status) in [("/one", 200), ("/one", 429), ("/other", 200)] {
        let answered = edge
            .get(path)
            .header("authorization", token("anna"))
            .send()
            .await
            .unwrap();
        assert_eq!(answered.status().as_u16(), status, "{path}");
    }
    assert_eq!((requests(&one).len(), requests(&other).len()), (1, 1));
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_are_counted_one_by_one() {
    let service = answering("ok");
    let mut options = options();
    options.address_rate = Some("1/h".parse().unwrap());
    let mut host = HostOptions::default();
    host.callers.proxies = "127.0.0.1".parse().unwrap();
    let edge = Edge::with(&options, host, None, vec![route("/", &service)]).await;
    for (client, status) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.1", 429)] {
        let answered = edge
            .get("/x")
            .header("x-forwarded-for", client)
            .send()
            .await
            .unwrap();
        assert_eq!(answered.status().as_u16(), status, "{client}");
    }
}
