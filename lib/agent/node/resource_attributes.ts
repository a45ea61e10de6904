/**
 * Attributes with the name of the proxy's service in spans of OpenTelemetry. The attributes are a variable of the
 * proxy's process, so that proxies of different services share listeners.
 *
 * @module
 */

/** Envoy's resource detector reads this variable. */
export const RESOURCE_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES";

const SERVICE_NAME = "service.name";

/**
 * The value of the variable: the user's text, with a service name added if the text has none.
 * @param written The value of the agent's own variable. Entries that Envoy could not read are left out.
 * @param service The node's cluster.
 */
export function resourceAttributes(written: string | undefined, service: string): string {
  const entries = (written ?? "").split(",").map((entry) => entry.trim()).filter(isReadable);
  const isNamed = entries.some((entry) => entry.startsWith(`${SERVICE_NAME}=`));
  return [...(isNamed ? [] : [`${SERVICE_NAME}=${service.replaceAll(/[,=]/g, "_")}`]), ...entries].join(",");
}

/** Envoy takes only `key=value`, with no other `=`. */
function isReadable(entry: string): boolean {
  return /^[^=]+=[^=]+$/.test(entry);
}
