/**
 * A real Envoy's verdict on configuration.
 *
 * Permissions: read and write (temp folder), run (envoy).
 *
 * @module
 */
import { any, encode, TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { SHARED_SCOPE } from "../../lib/translate/telemetry/metrics/stats_logger.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { type EnvoyBootstrap, startEnvoyProcess, writeBootstrap } from "../../scripts/envoy.ts";

/** Envoy's verdict on a bootstrap. */
export interface Verdict {
  readonly accepted: boolean;
  readonly output: string;
  /** Names of deprecated fields in Envoy's warnings. */
  readonly deprecated: readonly string[];
}

/** Runs Envoy with arguments, without serving. @returns the verdict on the configuration that the arguments name */
export async function validateBy(path: string, args: readonly string[]): Promise<Verdict> {
  const command = new Deno.Command(path, { args: ["--mode", "validate", ...args], stdout: "null", stderr: "piped" });
  const { success, stderr } = await command.output();
  return verdict(success, new TextDecoder().decode(stderr));
}

/** Lets Envoy check a bootstrap. Fields unknown to Envoy are refused. */
export async function validateBootstrap(path: string, bootstrap: EnvoyBootstrap): Promise<Verdict> {
  const folder = await Deno.makeTempDir();
  try {
    const file = await writeBootstrap(folder, "bootstrap", bootstrap);
    return await validateBy(path, ["--reject-unknown-dynamic-fields", "-l", "warning", "-c", file]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Lets Envoy check static resources as strictly as possible (unknown fields are refused). ADS is configured but not
 * dialled. Shared scopes of statistics are checked without their names: with a name, Envoy 1.40 crashes after the
 * verdict, but not in normal operation.
 */
export function validate(
  path: string,
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): Promise<Verdict> {
  const bytes = encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap(resources));
  const shares = new TextDecoder().decode(bytes).includes(SHARED_SCOPE);
  return validateBootstrap(path, shares ? withoutSharing(bytes) : bytes);
}

/**
 * Sends clusters to a running Envoy like CDS, and resolves with whether Envoy accepted all. (Unlike static clusters,
 * these clusters may use secrets over ADS.)
 */
export async function acceptClusters(
  path: string,
  clusters: readonly envoy.config.cluster.v3.Cluster[],
): Promise<Verdict> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/cds.pb`;
    await Deno.writeFile(file, encode("envoy.service.discovery.v3.DiscoveryResponse", response(clusters)));
    const { dynamic_resources, ...rest } = bootstrap({});
    const cds_config = { resource_api_version: 2, path_config_source: { path: file } } as const;
    const admin = { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } };
    const config = { ...rest, admin, dynamic_resources: { ...dynamic_resources, cds_config } };
    await using running = await startEnvoyProcess({
      ...{ binary: path, folder, components: ["upstream:info"] },
      bootstrap: encode("envoy.config.bootstrap.v3.Bootstrap", config),
    });
    await running.until("verdict", () => APPLIED.test(running.output) || /update rejected/.test(running.output));
    return verdict(Number(APPLIED.exec(running.output)?.[1]) === clusters.length, running.output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Envoy's count of accepted clusters, without refused clusters. */
const APPLIED = /cds: added\/updated (\d+) cluster.*\n/;

function withoutSharing(bootstrap: Uint8Array): object {
  const json = messageJson("envoy.config.bootstrap.v3.Bootstrap", bootstrap, "shown");
  // An extension without fields, which is missing in the descriptors.
  const left = new Set(["sharing_name", "@unknown"]);
  return JSON.parse(JSON.stringify(json, (key, value) => left.has(key) ? undefined : value));
}

function response(
  clusters: readonly envoy.config.cluster.v3.Cluster[],
): envoy.service.discovery.v3.DiscoveryResponse {
  const name = "envoy.config.cluster.v3.Cluster";
  return { version_info: "1", type_url: TYPE_URL_PREFIX + name, resources: clusters.map((c) => any(name, c)) };
}

function verdict(accepted: boolean, output: string): Verdict {
  const deprecated = [...output.matchAll(/Using deprecated option '([^']+)'/g)].map((m) => m[1]!);
  return { accepted, output, deprecated };
}

function bootstrap(
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): envoy.config.bootstrap.v3.Bootstrap {
  const ads = { name: "ads", connect_timeout: { seconds: 1 }, type: 0 } as const;
  return {
    node: { id: "test", cluster: "test" },
    bootstrap_extensions: [{
      name: "envoy.bootstrap.internal_listener",
      typed_config: {
        type_url: `${TYPE_URL_PREFIX}envoy.extensions.bootstrap.internal_listener.v3.InternalListener`,
        value: new Uint8Array(),
      },
    }],
    static_resources: { ...resources, clusters: [ads, ...(resources.clusters ?? [])] },
    dynamic_resources: {
      ads_config: {
        api_type: 2,
        transport_api_version: 2,
        grpc_services: [{ envoy_grpc: { cluster_name: "ads" } }],
      },
    },
  };
}
