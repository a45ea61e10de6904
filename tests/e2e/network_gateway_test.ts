/** Real Envoys: a gateway between networks, called by HBONE, whose port is the same for all workloads. */
import { openssl } from "../certificates.ts";
import { envoyPath } from "./support/mesh.ts";
import { inOwnNetwork, withoutOwnNetwork } from "./support/own_network.ts";

const missing = envoyPath() === undefined ? "no Envoy" : openssl ? withoutOwnNetwork : "no openssl";

Deno.test({
  name: "services of scope GLOBAL are reached in another network by HBONE in HBONE, and nothing else is" +
    (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/network_gateway_cases.ts", import.meta.url)),
});
