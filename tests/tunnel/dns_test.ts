/** The DNS proxy of the node tunnel of the tests, with a real API server, the discovery server and our rules. */
import { missing as missingFor } from "../dns/support/namespace.ts";
import { inOwnNetwork, withoutOwnNetwork } from "../e2e/support/own_network.ts";
import { noApiServer } from "../orch/support/server/programs.ts";
import { NODE_ADDRESS } from "./support/network.ts";

const missing = noApiServer ?? withoutOwnNetwork ?? missingFor(["dig", "curl"]);

/** As in a pod of the namespace `shop`. */
const RESOLV_CONF = `nameserver ${NODE_ADDRESS}
search shop.svc.cluster.local svc.cluster.local cluster.local
options ndots:5
`;

Deno.test({
  name: "names of the mesh are answered by tunnels, for captured pods alone, and other names by the name server" +
    (missing ? ` (ignored: ${missing})` : ""),
  ignore: missing !== undefined,
  fn: () => inOwnNetwork(new URL("support/dns_cases.ts", import.meta.url), { resolvConf: RESOLV_CONF }),
});
