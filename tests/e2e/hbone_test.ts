/** Real Envoys accept and make connections by HBONE, whose port is the same for all workloads. */
import { openssl } from "../certificates.ts";
import { envoyPath } from "./support/mesh.ts";
import { inOwnNetwork, withoutOwnNetwork } from "./support/own_network.ts";

const missing = envoyPath() === undefined ? "no Envoy" : openssl ? withoutOwnNetwork : "no openssl";

Deno.test({
  name: "connections by HBONE reach what their caller may reach, and nothing else" + (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/hbone_cases.ts", import.meta.url)),
});
