/**
 * Tokens of the machine, and the service that exchanges the workload's token for other tokens. The modules that make
 * tokens are loaded on demand.
 *
 * Permissions: net (metadata server, providers of tokens, the service's port), write (the token's file).
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { HttpServer } from "../../http/server.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { SettingsOf } from "../../kernel/settings/catalogue.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { familiesOf } from "../bootstrap/families.ts";
import { googleServer } from "../cloud/cloud.ts";
import { writeWhole } from "../secrets/output_files.ts";
import type { GoogleIdentity } from "../tokens/google_identity.ts";
import type { AgentInput, TokenServiceInput } from "./agent_input.ts";

/** Inputs of the machine's token and of the token service. */
export interface TokenParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Values of `CREDENTIAL_FETCHER_TYPE`: a token in a file, or the machine's own. */
const FETCHERS = ["JWT", "GoogleComputeEngine"];
const MACHINE = "GoogleComputeEngine";
/** The only provider of tokens. */
const PLUGIN = "GoogleTokenExchange";

/** Faults that keep an agent from starting: a sentence each. */
export function tokenFaults(
  settings: Pick<SettingsOf<"pilot-agent">, "CREDENTIAL_FETCHER_TYPE" | "CREDENTIAL_IDENTITY_PROVIDER">,
  { port, plugin }: TokenServiceInput,
): string[] {
  const faults: string[] = [];
  const expect = (what: string, value: string, expected: readonly string[]) => {
    if (!expected.includes(value)) {
      faults.push(`${what}: got ${JSON.stringify(value)}, expected ${expected.join(" or ")}`);
    }
  };
  expect("variable CREDENTIAL_FETCHER_TYPE", settings.CREDENTIAL_FETCHER_TYPE, FETCHERS);
  expect("variable CREDENTIAL_IDENTITY_PROVIDER", settings.CREDENTIAL_IDENTITY_PROVIDER, [MACHINE]);
  if (plugin !== undefined || port > 0) expect("flag --tokenManagerPlugin", plugin ?? "", [PLUGIN]);
  return faults;
}

/** The machine's token, not requested yet. Undefined: the workload's token is in a file. */
export async function machineToken(
  { settings, paths }: AgentInput,
  { clock, log }: TokenParts,
): Promise<GoogleIdentity | undefined> {
  if (settings.CREDENTIAL_FETCHER_TYPE !== MACHINE) return undefined;
  const { GoogleIdentity } = await import("../tokens/google_identity.ts");
  const file = paths.tokens[0]!;
  return new GoogleIdentity({
    server: googleServer(settings),
    audience: settings.TRUST_DOMAIN,
    store: (token) => writeWhole(file, token, 0o640),
    clock,
    log: log.scope("cloudcred"),
  });
}

/**
 * Starts the service on the loopback address of the workload's first family.
 *
 * @throws Error when the port cannot be used
 */
export async function startTokenService(input: AgentInput, { clock, log, metrics }: TokenParts): Promise<HttpServer> {
  const { settings, cloud, workload, tokenService: { port } } = input;
  const [{ GoogleTokens }, { tokenRoutes }, { compliantExchange }] = await Promise.all([
    import("../tokens/google_tokens.ts"),
    import("../tokens/token_service.ts"),
    import("../../sockets/fetch/policy_exchange.ts"),
  ]);
  const provider = settings.CREDENTIAL_FETCHER_TYPE === MACHINE
    ? settings.CREDENTIAL_IDENTITY_PROVIDER
    : cloud.metadata.gcp_gke_cluster_url ?? "";
  const manager = new GoogleTokens({
    exchangeEndpoint: settings.MESH_STS_EXCHANGE_ENDPOINT,
    accessEndpoint: settings.MESH_STS_ACCESS_ENDPOINT,
    audience: `identitynamespace:${settings.TRUST_DOMAIN}:${provider}`,
    projectNumber: cloud.metadata.gcp_project_number ?? "",
    quotaProject: settings.CLOUD_QUOTA_PROJECT,
    exchange: compliantExchange(settings.COMPLIANCE_POLICY),
    ...{ clock, metrics },
  });
  const scope = log.scope("security");
  const server = new HttpServer({ routes: tokenRoutes(manager, () => clock.now(), scope), log: scope, clock });
  const { localhost } = familiesOf(workload.addresses, settings.MESH_DUAL_STACK);
  try {
    await server.listen(hostAndPort(localhost, port));
    return server;
  } catch (error) {
    throw new Error(`--stsPort ${port}: ${(error as Error).message}`, { cause: error });
  }
}
