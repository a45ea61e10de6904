/**
 * The proof of each sort of findings: how a test follows what it says. A new sort needs a row, else nothing compiles.
 *
 * @module
 */
import type { FindingName } from "../../../lib/config/finding/codes.ts";

/** What of an object is taken out. */
export type RemovedPart = "field" | "object" | "rule";

/** How a finding is followed. */
export type Proof =
  /**
   * It says that something is without effect: taking that out of the texts changes no resource of any proxy. Of a list
   * that would be empty then what holds it goes as well, since an empty one may mean everything. `rule`: the entry of the
   * object's own list that the field is in.
   */
  | { readonly by: "removal"; readonly of: RemovedPart }
  /** It says that something is never used: taking it out changes the end of no request. */
  | { readonly by: "requests"; readonly of: "field" | "rule" }
  /** It says that a destination is not served: no route of its object leads to an endpoint of it. */
  | { readonly by: "reach" }
  /** It says that anybody is trusted: no authority is in what clients are sent. */
  | { readonly by: "authorities" }
  /** It says that another one has the place: without that one the requests of the loser end elsewhere. */
  | { readonly by: "winner" }
  /** It says that an object is refused: it is not in force. */
  | { readonly by: "refusal" }
  /** A test of its own follows it. */
  | { readonly by: "test"; readonly file: string }
  /** Nothing that proxies get shows it: it is about the texts, the orchestrator, or the server over time. */
  | { readonly by: "reading"; readonly why: string };

const reading = (why: string): Proof => ({ by: "reading", why });
const removal = (of: RemovedPart): Proof => ({ by: "removal", of });
const test = (file: string): Proof => ({ by: "test", file });

const MANIFEST = reading("says what a manifest holds and what an orchestrator makes of it");
const LIKELY = reading("says what is likely not meant; both ways are in force");
const OVER_TIME = reading("is about a server over time");
const NOTE = reading("a builder says itself what it left out; goldens of translation hold the resource beside it");

/** See the module. */
export const PROOFS: Readonly<Record<FindingName, Proof>> = {
  "unknown-host": { by: "reach" },
  "unknown-gateway": removal("field"),
  "unknown-subset": { by: "reach" },
  "unknown-delegate": removal("rule"),
  "unresolved-reference": NOTE,
  "port-required": LIKELY,
  "unknown-port": { by: "reach" },
  "unknown-import": removal("field"),
  "unknown-namespace": reading("says that no caller is of a namespace; the condition stays in the resource"),
  "unknown-rule-host": removal("object"),
  "rule-without-clusters": removal("object"),
  "dropped-traffic-policy": removal("field"),
  "hidden-rules": removal("object"),
  "unreachable-rule": { by: "requests", of: "rule" },
  "ineffective-match": { by: "requests", of: "field" },
  "host-not-in-gateway": removal("field"),
  "unserved-gateway-port": MANIFEST,
  "hidden-by-export": { by: "reach" },
  "hidden-subset": { by: "reach" },
  "subset-without-endpoints": { by: "reach" },
  "unseen-route": removal("object"),
  "route-left-out": LIKELY,
  "route-hidden-from-gateway": removal("object"),
  "post-tunnel": reading("says what a program does with a resource that it is sent"),
  "hidden-tcp-rule": { by: "requests", of: "rule" },
  "entry-port-not-served": NOTE,
  "certificate-of-several-gateways": LIKELY,
  "subsets-not-for-gateway": LIKELY,
  "gateways-of-one-host": LIKELY,
  "telemetries-of-one-workload": LIKELY,
  "several-default-telemetries": removal("object"),
  "entries-differ-in-protocol": LIKELY,
  "unknown-annotation": removal("field"),
  "unverified-server": { by: "authorities" },
  "unverified-server-port": { by: "authorities" },
  "address-required": LIKELY,
  "selects-nothing": removal("object"),
  "sidecars-of-one-workload": removal("object"),
  "several-default-sidecars": removal("object"),
  "policy-without-workload": removal("object"),
  "claims-without-authentication": reading("says what an authenticated request has; the rules stay in the resource"),
  "sidecar-in-ambient": MANIFEST,
  "filter-order": LIKELY,
  "filter-replace-ignored": removal("object"),
  "filter-add-ignored": removal("object"),
  "filter-remove-ignored": removal("object"),
  "filter-order-by-version": LIKELY,
  "filter-without-effect": removal("object"),
  "filter-of-no-proxy": removal("object"),
  "filter-route-last": LIKELY,
  "namespace-not-injected": MANIFEST,
  "several-injection-labels": MANIFEST,
  "pod-without-proxy": MANIFEST,
  "image-auto-without-injection": MANIFEST,
  "image-auto-in-pod": MANIFEST,
  "reserved-user": MANIFEST,
  "services-differ-in-transport": MANIFEST,
  "services-differ-in-port": MANIFEST,
  "port-without-protocol": MANIFEST,
  "incomplete-credential": test("tests/analyze/credentials_test.ts"),
  "unusable-credential": test("tests/analyze/credentials_test.ts"),
  "ingress-backend-unavailable": test("tests/discovery/ingress_findings_test.ts"),
  "ingress-part-left-out": test("tests/discovery/ingress_findings_test.ts"),
  "misplaced-annotation": removal("field"),
  "wrong-annotation": LIKELY,
  "deprecated-annotation": LIKELY,
  "alpha-annotation": LIKELY,
  "syntax": reading("is about a text of which nothing is an object"),
  "unreadable-file": reading("is about a file as bytes"),
  "lost-file": OVER_TIME,
  "unknown-kind": { by: "refusal" },
  "unknown-field": { by: "refusal" },
  "missing-field": { by: "refusal" },
  "wrong-value": { by: "refusal" },
  "exclusive-fields": { by: "refusal" },
  "deprecated-field": LIKELY,
  "too-many": reading("counts what is not shown"),
  "duplicate-object": reading("is about two texts of one name, of which the first is in force"),
  "hidden-object": OVER_TIME,
  "derivation-failed": reading("needs a defect"),
  "authority-not-valid": OVER_TIME,
  "no-effect": NOTE,
  "no-log-provider": removal("rule"),
  "no-telemetry-provider": removal("rule"),
  "unusable-telemetry-provider": LIKELY,
  "unknown-registry": reading("is about the networks file"),
  "needs-restart": OVER_TIME,
  "keys-not-fetched": OVER_TIME,
  "outside-root-namespace": OVER_TIME,
  "reaches-no-proxy": test("tests/effect/property_test.ts"),
  "duplicate-subset": removal("object"),
  "too-few-addresses": NOTE,
  "listener-conflict": { by: "winner" },
  "tcp-listener-conflict": { by: "winner" },
  "inbound-conflict": test("tests/offline/check_test.ts"),
  "domain-conflict": NOTE,
  "gateway-not-as-written": NOTE,
  "not-as-written": NOTE,
  "unusable-authorizer": NOTE,
  "http-rule-for-bytes": NOTE,
  "patch-refused": NOTE,
  "patch-partly": NOTE,
  "patch-failed": NOTE,
  "patch-rejected": OVER_TIME,
  "listener-without-chains": NOTE,
  "filter-behind-terminal": reading(
    "says that a proxy refuses a chain; the limits of chains are those of a real Envoy",
  ),
  "policy-port-of-service": test("tests/effect/check_test.ts"),
  "matches-no-request": test("tests/effect/check_test.ts"),
  "hidden-from-own-namespace": test("tests/analyze/visibility_entries_test.ts"),
  "missing-credential": test("tests/analyze/credentials_test.ts"),
  "refused-credential": test("tests/analyze/credentials_test.ts"),
  "suites-without-certificate": test("tests/e2e/credentials_envoy_test.ts"),
  "mesh-configuration-elsewhere": test("tests/offline/check_whole_test.ts"),
  "unknown-cluster": test("tests/discovery/stock_values_test.ts"),
  "upgrade-outside-mesh": test("tests/e2e/websocket_test.ts"),
  "server-without-name": test("tests/e2e/dynamic_dns_test.ts"),
  "patch-beyond-limits": test("tests/patches/limits_test.ts"),
};
