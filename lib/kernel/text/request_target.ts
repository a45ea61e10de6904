/**
 * Paths as people write them, as requests have them.
 *
 * @module
 */

/** Path and query, encoded; undefined: it is no path. A missing slash at the begin is added. */
export function requestTarget(path: string): string | undefined {
  try {
    const { pathname, search } = new URL(`http://host${path.startsWith("/") ? "" : "/"}${path}`);
    return pathname + search;
  } catch {
    return undefined;
  }
}
