//! Which contexts give the same operation the same answer, so that requests can share it.

use std::hash::{Hash, Hasher};

use super::RequestContext;

impl RequestContext {
    /// Returns whether the same operation gets the same answer in this context and in a different one: the callers, what
    /// is passed on to upstream services, the languages and what is allowed are equal.
    ///
    /// Deadline, cancellation, identifier and account of memory make no difference, and neither do the headers by which
    /// logs and traces are put together: `X-Request-ID`, `traceparent` and `tracestate`.
    ///
    /// ```
    /// use graphql_service::{Forwarded, RequestContext};
    ///
    /// let sent = |entries: &[(&str, &str)]| {
    ///     RequestContext::new().with_forwarded(Forwarded::new(entries.iter().copied()))
    /// };
    /// let first = sent(&[("authorization", "Bearer a"), ("traceparent", "00-1-2-01")]);
    /// assert!(first.is_interchangeable(&sent(&[("authorization", "Bearer a")])));
    /// assert!(!first.is_interchangeable(&sent(&[("authorization", "Bearer b")])));
    /// ```
    #[must_use]
    pub fn is_interchangeable(&self, other: &Self) -> bool {
        // Exhaustive, so that a new field does not compile before it is compared or left out on purpose.
        let RequestContext {
            call,
            introspection,
            caller,
            idempotency_key,
            memory: _,
            overdue: _,
            forwarded,
            freshness: _,
            sequences,
        } = self;
        call.is_interchangeable(&other.call)
            && *introspection == other.introspection
            && *caller == other.caller
            && *idempotency_key == other.idempotency_key
            && forwarded.significant().eq(other.forwarded.significant())
            && sequences.awaited() == other.sequences.awaited()
    }

    /// Hashes some of what [`RequestContext::is_interchangeable`] compares, and nothing else.
    pub fn hash_interchangeable(&self, state: &mut impl Hasher) {
        for entry in self.forwarded.significant() {
            entry.hash(state);
        }
        if let Some(caller) = &self.caller {
            (&caller.name, &caller.roles, caller.superuser).hash(state);
        }
        self.call.accept_language.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    use std::sync::Arc;
    use std::time::Duration;

    use call_context::{CallContext, Caller, MemoryBudget, Meter, Snapshots, Tally, Trace};
    use serde_json::json;

    use super::super::{Forwarded, Introspection};
    use super::*;

    fn hash(context: &RequestContext) -> u64 {
        let mut state = BuildHasherDefault::<DefaultHasher>::default().build_hasher();
        context.hash_interchangeable(&mut state);
        state.finish()
    }

    fn caller() -> Caller {
        let claims = json!({ "sub": "ada", "tenant": 1 })
            .as_object()
            .cloned()
            .unwrap();
        Caller::with_roles(["Reader"])
            .with_name("ada")
            .with_claims(claims)
    }

    fn forwarded(entries: &[(&str, &str)]) -> Forwarded {
        Forwarded::new(entries.iter().copied())
    }

    /// Headers of a client.
    const HEADERS: [(&str, &str); 3] = [
        ("authorization", "Bearer a"),
        ("cookie", "c=1"),
        ("baggage", "tenant=1"),
    ];

    fn context() -> RequestContext {
        let call = CallContext::new()
            .with_accept_language(vec!["en".to_owned()])
            .with_request_id("first");
        RequestContext::from(call)
            .with_caller(Arc::new(caller()))
            .with_forwarded(forwarded(&HEADERS))
            .with_awaited("7".parse().unwrap())
    }

    type Change = fn(RequestContext) -> RequestContext;

    fn with_caller(context: RequestContext, change: impl FnOnce(&mut Caller)) -> RequestContext {
        let mut caller = caller();
        change(&mut caller);
        context.with_caller(Arc::new(caller))
    }

    fn with_headers(
        context: RequestContext,
        change: impl FnOnce(&mut Vec<(&str, &str)>),
    ) -> RequestContext {
        let mut headers = HEADERS.to_vec();
        change(&mut headers);
        context.with_forwarded(forwarded(&headers))
    }

    fn with_call(
        mut context: RequestContext,
        change: impl FnOnce(&mut CallContext),
    ) -> RequestContext {
        change(&mut context.call);
        context
    }

    #[test]
    fn a_single_difference_that_may_matter_is_one() {
        let differences: [(&str, Change); 25] = [
            ("no caller", |mut it| {
                it.caller = None;
                it
            }),
            ("name", |it| {
                with_caller(it, |caller| caller.name = Some("bob".to_owned()))
            }),
            ("no name", |it| with_caller(it, |caller| caller.name = None)),
            ("another role", |it| {
                with_caller(it, |caller| caller.roles[0] = "Editor".to_owned())
            }),
            ("one more role", |it| {
                with_caller(it, |caller| caller.roles.push("Editor".to_owned()))
            }),
            ("superuser", |it| {
                with_caller(it, |caller| caller.superuser = true)
            }),
            ("a claim", |it| {
                with_caller(it, |caller| caller.claims["tenant"] = json!(2))
            }),
            ("the type of a claim", |it| {
                with_caller(it, |caller| caller.claims["tenant"] = json!("1"))
            }),
            ("no claims", |it| {
                with_caller(it, |caller| caller.claims.clear())
            }),
            ("a token", |it| {
                with_headers(it, |headers| headers[0].1 = "Bearer b")
            }),
            ("a cookie", |it| {
                with_headers(it, |headers| headers[1].1 = "c=2")
            }),
            ("baggage", |it| {
                with_headers(it, |headers| headers[2].1 = "tenant=2")
            }),
            ("one header less", |it| {
                with_headers(it, |headers| headers.truncate(2))
            }),
            ("one header more", |it| {
                with_headers(it, |headers| headers.push(("x-tenant", "1")))
            }),
            ("a header twice", |it| {
                with_headers(it, |headers| headers.push(HEADERS[2]))
            }),
            ("another order", |it| {
                with_headers(it, |headers| headers.swap(0, 1))
            }),
            ("a name that only looks alike", |it| {
                with_headers(it, |headers| headers.push(("x-request-ids", "1")))
            }),
            ("a language", |it| {
                with_call(it, |call| call.accept_language = vec!["de".to_owned()])
            }),
            ("languages", |it| {
                with_call(it, |call| call.accept_language.push("de".to_owned()))
            }),
            ("introspection", |it| {
                it.with_introspection(Introspection::Refused)
            }),
            ("a key", |it| it.with_idempotency_key("k")),
            ("what is awaited", |it| {
                it.with_awaited("8".parse().unwrap())
            }),
            ("a trace", |it| {
                with_call(it, |call| call.trace = Some(Arc::new(Trace::default())))
            }),
            ("a meter", |it| {
                with_call(it, |call| call.meter = Some(Arc::new(Meter::new(1))))
            }),
            ("snapshots", |it| {
                with_call(it, |call| call.snapshots = Some(Arc::new(Snapshots::new())))
            }),
        ];
        assert!(context().is_interchangeable(&context()));
        for (what, change) in differences {
            let (one, other) = (context(), change(context()));
            assert!(!one.is_interchangeable(&other), "{what}");
            assert!(!other.is_interchangeable(&one), "{what}");
        }
    }

    #[test]
    fn deadline_identifier_and_correlation_headers_make_no_difference() {
        let equal: [(&str, Change); 7] = [
            ("identifier", |it| {
                with_call(it, |call| call.request_id = "second".to_owned())
            }),
            ("deadline", |it| {
                it.clone()
                    .with_call(it.call.with_timeout(Duration::from_secs(1)))
            }),
            ("tally", |it| {
                with_call(it, |call| call.tally = Some(Arc::new(Tally::default())))
            }),
            ("memory", |it| {
                it.with_memory(Arc::new(MemoryBudget::new(1).account()))
            }),
            ("X-Request-ID", |it| {
                with_headers(it, |headers| headers.insert(0, ("X-Request-ID", "2")))
            }),
            ("traceparent", |it| {
                with_headers(it, |headers| headers.push(("traceparent", "00-1")))
            }),
            ("tracestate", |it| {
                with_headers(it, |headers| headers.push(("TraceState", "a=1")))
            }),
        ];
        for (what, change) in equal {
            let (one, other) = (context(), change(context()));
            assert!(
                one.is_interchangeable(&other) && other.is_interchangeable(&one),
                "{what}"
            );
            assert_eq!(hash(&one), hash(&other), "{what}");
        }
    }
}
