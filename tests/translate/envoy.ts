/**
 * A real Envoy for tests: does it accept what we build?
 *
 * It is found by the environment variable `ENVOY`, else in `.cache/envoy/`.
 *
 * Permissions: env (ENVOY), read and write (temp folder), run (envoy).
 *
 * @module
 */
import { encode } from "../../lib/pb/codec.ts";
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

/** What Envoy says of a bootstrap. */
export interface Verdict {
  readonly accepted: boolean;
  readonly output: string;
  /** Names of deprecated fields that it warns of. */
  readonly deprecated: readonly string[];
}

/** Lets Envoy check static resources as strictly as it can (unknown fields refuse them). ADS is configured but not dialled. */
export async function validate(
  path: string,
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): Promise<Verdict> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/bootstrap.pb`;
    await Deno.writeFile(file, encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap(resources)));
    const { success, stderr } = await new Deno.Command(path, {
      args: ["--mode", "validate", "--reject-unknown-dynamic-fields", "-c", file],
      stdout: "null",
      stderr: "piped",
    }).output();
    const output = new TextDecoder().decode(stderr);
    const deprecated = [...output.matchAll(/Using deprecated option '([^']+)'/g)].map((m) => m[1]!);
    return { accepted: success, output, deprecated };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function bootstrap(
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): envoy.config.bootstrap.v3.Bootstrap {
  const ads = { name: "ads", connect_timeout: { seconds: 1 }, type: 0 } as const;
  return {
    node: { id: "test", cluster: "test" },
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
