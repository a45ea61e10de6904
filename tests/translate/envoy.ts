/**
 * A real Envoy for tests of whether Envoy accepts built configuration. The path comes from the environment variable
 * `ENVOY`, or else from `.cache/envoy/`.
 *
 * Permissions: env (ENVOY), read and write (temp folder), run (envoy).
 *
 * @module
 */
import { any, encode, TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { SHARED_SCOPE } from "../../lib/translate/telemetry/metrics/stats_logger.ts";
import type { envoy } from "../../proto/gen/types.ts";

const cached = new URL("../../.cache/envoy/envoy/_bin/envoy", import.meta.url).pathname;

/** Path of the Envoy binary, or undefined when there is none. */
export function envoyPath(): string | undefined {
  const path = Deno.env.get("ENVOY") ?? cached;
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Envoy's verdict on a bootstrap. */
export interface Verdict {
  readonly accepted: boolean;
  readonly output: string;
  /** Names of deprecated fields in Envoy's warnings. */
  readonly deprecated: readonly string[];
}

/**
 * Lets Envoy check static resources as strictly as possible (unknown fields are refused). ADS is configured but not
 * dialled. Shared scopes of statistics are checked without their names: with a name, Envoy 1.40 crashes after the
 * verdict, but not in normal operation.
 */
export async function validate(
  path: string,
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): Promise<Verdict> {
  const folder = await Deno.makeTempDir();
  try {
    const bytes = encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap(resources));
    const shares = new TextDecoder().decode(bytes).includes(SHARED_SCOPE);
    const file = `${folder}/bootstrap.${shares ? "json" : "pb"}`;
    await Deno.writeFile(file, shares ? withoutSharing(bytes) : bytes);
    const { success, stderr } = await new Deno.Command(path, {
      args: ["--mode", "validate", "--reject-unknown-dynamic-fields", "-c", file],
      stdout: "null",
      stderr: "piped",
    }).output();
    return verdict(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
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
    await Deno.writeFile(
      `${folder}/cds.pb`,
      encode("envoy.service.discovery.v3.DiscoveryResponse", response(clusters)),
    );
    const { dynamic_resources, ...rest } = bootstrap({});
    const cds_config = { resource_api_version: 2, path_config_source: { path: `${folder}/cds.pb` } } as const;
    const file = `${folder}/bootstrap.pb`;
    const config = { ...rest, dynamic_resources: { ...dynamic_resources, cds_config } };
    await Deno.writeFile(file, encode("envoy.config.bootstrap.v3.Bootstrap", config));
    const child = new Deno.Command(path, {
      args: ["--use-dynamic-base-id", "--reject-unknown-dynamic-fields", "-c", file],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let output = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (APPLIED.test(output) || /update rejected|critical/.test(output)) break;
    }
    child.kill("SIGKILL");
    await child.status;
    return verdict(Number(APPLIED.exec(output)?.[1]) === clusters.length, output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Envoy's count of accepted clusters, without refused clusters. */
const APPLIED = /cds: added\/updated (\d+) cluster.*\n/;

function withoutSharing(bootstrap: Uint8Array): Uint8Array {
  const json = messageJson("envoy.config.bootstrap.v3.Bootstrap", bootstrap, "shown");
  // An extension without fields, which is missing in the descriptors.
  const left = new Set(["sharing_name", "@unknown"]);
  const without = JSON.stringify(json, (key, value) => left.has(key) ? undefined : value);
  return new TextEncoder().encode(without);
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
