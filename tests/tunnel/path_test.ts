/**
 * The node tunnel of the tests with a real API server, the discovery server, our rules, and a real Envoy as waypoint.
 */
import { inOwnNetwork, withoutOwnNetwork } from "../e2e/support/own_network.ts";
import { envoyPath } from "../envoy/path.ts";
import { noApiServer } from "../orch/support/server/programs.ts";

const missing = noApiServer ?? (envoyPath() === undefined ? "no Envoy" : withoutOwnNetwork);

Deno.test({
  name: "connections of captured pods pass tunnels and a waypoint, and what policies refuse passes nowhere" +
    (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/path_cases.ts", import.meta.url)),
});
