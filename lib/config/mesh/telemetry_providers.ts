/**
 * The uses of extension providers in Telemetries: access logs, tracing and metrics.
 *
 * @module
 */
import type { ExtensionProvider, MeshConfig } from "./types.ts";

/** Fields of providers for each use. */
const MEMBERS = {
  accessLogging: ["proxyFileAccessLog", "proxyHttpAls", "proxyTcpAls", "proxyOtelAls"],
  tracing: ["zipkin", "datadog", "skywalking", "opentelemetry"],
  metrics: ["prometheus"],
} as const satisfies Readonly<Record<string, readonly (keyof ExtensionProvider)[]>>;

const NOTHING_OF: { readonly [U in keyof typeof MEMBERS]: string } = {
  accessLogging: "has no access logs",
  tracing: "has no tracing",
  metrics: "has no metrics",
};

/** Providers that Envoy no longer has. */
const GONE_PROVIDERS = ["lightstep", "stackdriver", "opencensus"] as const;

/** The provider with a name, in any case of letters. */
export function namedProvider(mesh: MeshConfig, name: string): ExtensionProvider | undefined {
  const wanted = name.toLowerCase();
  return mesh.extensionProviders?.find((one) => one.name.toLowerCase() === wanted);
}

/**
 * Why a Telemetry cannot use a provider, worded to follow the provider's name. Whether the provider's service exists is
 * not checked.
 */
export function providerUseProblem(mesh: MeshConfig, name: string, use: keyof typeof MEMBERS): string | undefined {
  const provider = namedProvider(mesh, name);
  if (provider === undefined) return "is not among the extensionProviders of the mesh configuration";
  const gone = GONE_PROVIDERS.find((one) => provider[one] !== undefined);
  if (gone !== undefined) return `is of ${gone}, which Envoy does not have any more: use opentelemetry`;
  if (MEMBERS[use].some((member) => provider[member] !== undefined)) return undefined;
  return NOTHING_OF[use];
}
