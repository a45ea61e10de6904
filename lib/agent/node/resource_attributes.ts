/**
 * Attributes by which spans of OpenTelemetry name the proxy's service: a variable of its process, so that proxies of
 * different services share listeners.
 *
 * @module
 */

/** The variable that Envoy's resource detector reads. */
export const RESOURCE_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES";

const SERVICE_NAME = "service.name";

/**
 * The value of the variable: the user's text, with a name of the service where it has none.
 *
 * @param written That of the agent's own variable. Entries that Envoy could not read are left out.
 * @param service The node's cluster.
 */
export function resourceAttributes(written: string | undefined, service: string): string {
  const entries = (written ?? "").split(",").map((entry) => entry.trim()).filter(isReadable);
  const isNamed = entries.some((entry) => entry.startsWith(`${SERVICE_NAME}=`));
  return [...(isNamed ? [] : [`${SERVICE_NAME}=${service.replaceAll(/[,=]/g, "_")}`]), ...entries].join(",");
}

/** Envoy takes `key=value` alone, with no other `=`. */
function isReadable(entry: string): boolean {
  return /^[^=]+=[^=]+$/.test(entry);
}
