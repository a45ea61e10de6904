/**
 * Turns paths as written by people into request targets.
 *
 * @module
 */

/** Path and query, encoded. A missing leading slash is added. Undefined for an invalid path. */
export function requestTarget(path: string): string | undefined {
  try {
    const { pathname, search } = new URL(`http://host${path.startsWith("/") ? "" : "/"}${path}`);
    return pathname + search;
  } catch {
    return undefined;
  }
}
