/** Values that every Envoy rejects are found before a proxy gets the values, by Envoy's own limits. */
import assert from "node:assert/strict";
import { beyondLimits } from "../../lib/pb/envoy_rules.ts";
import { messageFromJson } from "../../lib/pb/envoy_api.ts";
import { compiledOf, type WrittenPatch } from "./patches.ts";

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const LIMIT = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";

const cluster = (value: object): WrittenPatch => ({ applyTo: "CLUSTER", patch: { operation: "MERGE", value } });
const limit = (more: object): WrittenPatch => ({
  applyTo: "HTTP_FILTER",
  patch: {
    operation: "INSERT_FIRST",
    value: { name: "l", typed_config: { "@type": `type.googleapis.com/${LIMIT}`, ...more } },
  },
});

const CASES: readonly (readonly [name: string, patch: WrittenPatch, left: number, said: RegExp | undefined])[] = [
  [
    "a duration below zero",
    cluster({ outlier_detection: { base_ejection_time: "-5s" } }),
    0,
    /base_ejection_time: -5s, expected more than 0s/,
  ],
  ["a duration of zero", cluster({ outlier_detection: { interval: "0s" } }), 0, /outlier_detection\.interval: 0s/],
  [
    "more than all of them",
    cluster({ outlier_detection: { max_ejection_percent: 101 } }),
    0,
    /101, expected at most 100/,
  ],
  [
    "all mistakes at once",
    cluster({ connect_timeout: "0s", outlier_detection: { interval: "-1s" } }),
    0,
    /connect_timeout.*outlier_detection/,
  ],
  [
    "values within the limits",
    cluster({ outlier_detection: { base_ejection_time: "5s", max_ejection_percent: 100 } }),
    1,
    undefined,
  ],
  ["a part of a message whose other fields are there", cluster({ health_checks: [] }), 1, undefined],
  [
    "an entry that comes whole lacks what it needs",
    cluster({ health_checks: [{ timeout: "1s" }] }),
    0,
    /health_checks\[0\].*interval: missing/,
  ],
  [
    "one of several fields is needed",
    { applyTo: "HTTP_ROUTE", patch: { operation: "INSERT_FIRST", value: { name: "x", match: { prefix: "/" } } } },
    0,
    /nothing, expected one of .*direct_response.*left out/,
  ],
  [
    "a guard beyond the limits stays, so that the proxy rejects it",
    limit({ stat_prefix: "" }),
    1,
    /typed_config\.stat_prefix: "", expected at least 1 characters; proxies reject/,
  ],
  ["a guard within them", limit({ stat_prefix: "x" }), 1, undefined],
];

for (const [name, patch, left, said] of CASES) {
  Deno.test(name, () => {
    const { patches, problems } = compiledOf(patch);
    assert.equal(patches.length, left, JSON.stringify(problems));
    assert.deepEqual(problems.map(({ what }) => what), said === undefined ? [] : ["beyond limits"]);
    if (said) assert.match(problems[0]!.text, said);
  });
}

Deno.test("a message that is merged lacks nothing, the same message whole does", () => {
  const message = messageFromJson(CLUSTER, { transport_socket_matches: [{ name: "x" }] });
  assert.deepEqual(beyondLimits(CLUSTER, messageFromJson(CLUSTER, { eds_cluster_config: {} }), true), []);
  assert.deepEqual(beyondLimits(CLUSTER, message, false).length, 1, "a cluster wants a name");
});
