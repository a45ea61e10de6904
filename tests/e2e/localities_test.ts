/**
 * Real requests fail over, are distributed and are retried by the localities in the registry, for each kind of
 * registry.
 */
import { noApiServer } from "../orch/support/server/programs.ts";
import { FAR_ADDRESS, NEAR_ADDRESS } from "./support/locality_addresses.ts";
import { envoyPath } from "./support/mesh.ts";
import { inOwnNetwork, withoutOwnNetwork } from "./support/own_network.ts";

const missing = withoutOwnNetwork ?? noApiServer ?? (envoyPath() === undefined ? "there is no Envoy" : undefined);

Deno.test({
  name:
    "a client whose agent knows no locality fails over, is distributed and retries by the one that each registry knows" +
    (missing === undefined ? "" : ` (ignored: ${missing})`),
  ignore: missing !== undefined,
  fn: () =>
    inOwnNetwork(new URL("./support/locality_cases.ts", import.meta.url), { addresses: [NEAR_ADDRESS, FAR_ADDRESS] }),
});
