/** Real Envoys: a waypoint in front of workloads, called by HBONE, whose port is the same for all workloads. */
import { openssl } from "../certificates.ts";
import { envoyPath } from "./support/mesh.ts";
import { inOwnNetwork, withoutOwnNetwork } from "./support/own_network.ts";

const missing = envoyPath() === undefined ? "no Envoy" : openssl ? withoutOwnNetwork : "no openssl";

Deno.test({
  name: "a waypoint sends connections to its services on, by the rules and policies of each service, and no others" +
    (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/waypoint_cases.ts", import.meta.url)),
});

Deno.test({
  name: "a waypoint of workloads sends connections to their addresses on, by its own policies, and no others" +
    (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () =>
    inOwnNetwork(new URL("support/workload_waypoint_cases.ts", import.meta.url), {
      addresses: ["10.1.0.1", "10.1.0.2", "10.1.0.3"],
    }),
});
