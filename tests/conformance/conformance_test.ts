/** Chosen tests of the official conformance suite of Gateway API end as the list of known failures says. */
import assert from "node:assert/strict";
import { define } from "../cluster/support/cluster_tests.ts";
import { KNOWN } from "./known.ts";
import type { Outcome } from "./support/output.ts";
import { prepare, startConformanceCluster } from "./support/prepare.ts";
import { runSuite } from "./support/suite.ts";
import { differences } from "./support/summary.ts";

/** Tests of all profiles that together reach most of the ways through the server, and end within seconds each. */
const CHOSEN = [
  "BackendTLSPolicy",
  "GatewayClassObservedGenerationBump",
  "GatewayInvalidTLSConfiguration",
  "GatewayObservedGenerationBump",
  "GatewayWithAttachedRoutes",
  "GRPCExactMethodMatching",
  "GRPCRouteWeight",
  "HTTPRouteCrossNamespace",
  "HTTPRouteHostnameIntersection",
  "HTTPRouteHTTPSListener",
  "HTTPRouteHTTPSListenerDetectMisdirectedRequests",
  "HTTPRouteInvalidBackendRefUnknownKind",
  "HTTPRouteMatching",
  "HTTPRouteReferenceGrant",
  "HTTPRouteSimpleSameNamespace",
  "HTTPRouteWeight",
  "ListenerSetHTTPRouting",
  "MeshFrontendHostname",
  "MeshGRPCRouteWeight",
  "MeshHTTPRouteMatching",
  "TCPRouteWeightedRouting",
  "TLSRouteSimpleSameNamespace",
  "UDPRouteWeightedRouting",
];

define("chosen tests of the suite v1.6.1 end as the list of known failures says", async () => {
  const version = "v1.6.1";
  await using cluster = await startConformanceCluster(version);
  await prepare(cluster.handle, version);
  const outcomes = new Map<string, Outcome>();
  const lines: string[] = [];
  for (const test of CHOSEN) {
    const { ends } = await runSuite(cluster.handle, {
      version,
      choice: { test },
      flags: [],
      log: (line) => lines.push(line),
      ended: () => {},
    });
    outcomes.set(test, ends.find(({ name }) => name === test)?.outcome ?? "failed");
  }
  assert.deepEqual(differences(outcomes, KNOWN[version]), [], lines.slice(-100).join("\n"));
});
