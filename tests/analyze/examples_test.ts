import assert from "node:assert/strict";
import { FINDING_NAMES, FINDING_ROWS, type FindingName } from "../../lib/finding/codes.ts";
import { ANALYZERS } from "../../lib/analyze/analyzers.ts";
import type { MeshConfig } from "../../lib/config/mesh/types.ts";
import { findingsIn, type Variables } from "./support/analyzed.ts";

const folder = new URL("../testdata/findings/", import.meta.url);

/** Sorts without examples: about files, sources and running servers, or from translation with its own tests. */
const without: Readonly<Partial<Record<FindingName, string>>> = {
  "unreadable-file": "is about a file as bytes",
  "lost-file": "is about a file over time",
  "hidden-object": "needs two sources",
  "authority-not-valid": "is about a server and its clock",
  "derivation-failed": "needs a defect",
  "unknown-registry": "is about the networks file",
  "needs-restart": "is about a server over time",
  "too-many": "has more than a hundred mistakes",
  "unresolved-reference": "comes from translation",
  "no-effect": "comes from translation",
  "unread-definition": "is about definitions of an API server",
  "keys-not-fetched": "is about a server over time",
  "unknown-cluster": "is about connected proxies",
  "outside-root-namespace": "is about a server over time",
  "root-namespace-of-empty-folder": "is about a server over time",
  "unusable-mesh-configuration": "is about a text of which nothing is in force",
  "reaches-no-proxy": "comes from translation",
  "duplicate-subset": "comes from translation",
  "scope-without-effect": "is about the mesh configuration",
  "too-few-addresses": "comes from translation",
  "listener-conflict": "comes from translation",
  "tcp-listener-conflict": "comes from translation",
  "inbound-conflict": "comes from translation",
  "domain-conflict": "comes from translation",
  "gateway-not-as-written": "comes from translation",
  "gateway-port-without-rule": "comes from translation",
  "not-as-written": "comes from translation",
  "unusable-authorizer": "comes from translation",
  "http-rule-for-bytes": "comes from translation",
  "patch-refused": "comes from translation",
  "patch-partly": "comes from translation",
  "patch-beyond-limits": "comes from translation",
  "patch-rejected": "is about a server over time",
  "rollout-taken-back": "is about a server over time",
  "rollout-in-progress": "is about a server over time",
  "rollout-at-once": "is about a server over time",
  "patch-failed": "comes from translation",
  "listener-without-chains": "comes from translation",
};

/** Sorts that follow from others: the example triggers them too. */
const follows: Readonly<Partial<Record<FindingName, readonly FindingName[]>>> = {
  "refused-credential": ["wrong-value"],
};

const NETWORKS: Variables = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true };

/** Settings of the program with which an example triggers its finding. */
const variables: Readonly<Partial<Record<FindingName, Variables>>> = {
  "gateway-api-off": { PILOT_ENABLE_GATEWAY_API: false },
  "unused-external-backend": { PILOT_ENABLE_ALPHA_GATEWAY_API: true },
  "refused-mesh-parameters": { PILOT_ENABLE_ALPHA_GATEWAY_API: true },
  // The Gateway of the example is a waypoint.
  "client-behind-waypoint": { PILOT_ENABLE_AMBIENT_WAYPOINTS: true },
  "waypoint-not-used": { PILOT_ENABLE_AMBIENT_WAYPOINTS: true },
  "gateway-without-network": NETWORKS,
  "global-service-without-gateway": NETWORKS,
};

/** Mesh configurations with which an example triggers its finding. */
const meshes: Readonly<Partial<Record<FindingName, Partial<MeshConfig>>>> = {
  "global-service-without-gateway": {
    serviceScopeConfigs: [{ servicesSelector: { matchLabels: { "mesh.io/global": "true" } }, scope: "GLOBAL" }],
  },
};

function example(name: string, which: "triggers" | "clean"): string {
  return Deno.readTextFileSync(new URL(`${name}/${which}.yaml`, folder));
}

for (const name of FINDING_NAMES.filter((one) => !Object.hasOwn(without, one))) {
  Deno.test(`example of ${name}: the first triggers it, and it alone; the second nothing`, () => {
    const mesh = meshes[name] ?? {};
    const found = findingsIn({ "example.yaml": example(name, "triggers") }, mesh, variables[name]);
    const names = [...follows[name] ?? [], name];
    assert.deepEqual([...new Set(found.map((one) => one.name))], names, JSON.stringify(found, undefined, 1));
    const clean = findingsIn({ "example.yaml": example(name, "clean") }, mesh, variables[name]);
    assert.deepEqual(clean.map(({ message }) => message), []);
  });
}

Deno.test("each folder of examples is of a sort, and each sort that an analyzer reports has one", () => {
  const names = [...Deno.readDirSync(folder)].map((entry) => entry.name);
  assert.deepEqual(names.filter((name) => !(FINDING_NAMES as readonly string[]).includes(name)), []);
  assert.deepEqual(ANALYZERS.flatMap(({ reports }) => reports).filter((name) => Object.hasOwn(without, name)), []);
});

Deno.test("a code belongs to one sort, except for sorts of the same mistake at several places", () => {
  const codes = FINDING_NAMES.map((name) => FINDING_ROWS[name].code);
  const shared = new Set(codes.filter((code, at) => codes.indexOf(code) !== at));
  assert.deepEqual([...shared].sort(), ["MSH0101", "MSH0106", "MSH0161", "MSH1022"]);
});
