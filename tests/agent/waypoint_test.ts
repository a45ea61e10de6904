/** The program `pilot-agent proxy waypoint` runs a waypoint, whose port is the same for all workloads. */
import { envoyPath } from "../envoy/path.ts";
import { inOwnNetwork, withoutOwnNetwork } from "../e2e/support/own_network.ts";

const missing = envoyPath() === undefined ? "no Envoy" : withoutOwnNetwork;

Deno.test({
  name: "an agent runs a waypoint with the certificate of its workload" + (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/waypoint_case.ts", import.meta.url)),
});
