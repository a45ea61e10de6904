/**
 * Addresses of the pages. Each is the address of the same thing as JSON, too.
 *
 * @module
 */

/** The page of an object, by its key (`kind/namespace/name`). */
export function objectUrl(key: string): string {
  return withQuery("/debug/live", { object: key });
}

/** The page of a proxy, by its node id. The node id stays the same when the proxy connects again. */
export function proxyUrl(nodeId: string, more: Readonly<Record<string, string>> = {}): string {
  return withQuery("/debug/config_dump", { proxyID: nodeId, ...more });
}

/** The page of a service, by its key (`namespace/hostname`). */
export function serviceUrl(key: string): string {
  return withQuery("/debug/endpointShardz", { service: key });
}

/** The description of a pod or of another workload, by its name: `namespace/name`. */
export function podDescriptionUrl(name: string): string {
  return withQuery("/debug/describe", { pod: name });
}

/** The description of a service, by its key (`namespace/hostname`). */
export function serviceDescriptionUrl(key: string): string {
  return withQuery("/debug/describe", { service: key });
}

/** A path with a query; empty values are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") found.set(name, String(value));
  }
  const text = found.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The same page with a part of its query changed. An empty value removes a parameter. */
export function changedQuery(
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
  changes: Readonly<Record<string, string | number>>,
): string {
  return withQuery(path, { ...Object.fromEntries(query), ...changes });
}
