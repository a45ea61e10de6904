/**
 * Host names and wildcards: `*.example.com` stands for every host with the ending `.example.com`, `*` for all.
 *
 * @module
 */

/** Whether a host is a pattern. */
export function isWildcard(host: string): boolean {
  return host.startsWith("*");
}

/**
 * Whether `pattern` (a host or a wildcard) covers `host`. A wildcard host is covered only by itself or a wider
 * wildcard.
 */
export function covers(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  if (!isWildcard(pattern)) return pattern === host;
  const suffix = pattern.slice(1);
  return (isWildcard(host) ? host.slice(1) : host).endsWith(suffix);
}

/** Whether two patterns have a host in common. */
export function overlaps(a: string, b: string): boolean {
  return covers(a, b) || covers(b, a);
}

/**
 * The wildcards over a host, most specific first: `a.b.c` gives `*.b.c`, `*.c`, `*`. A wildcard does not count as
 * covering itself: `*.b.c` gives `*.c`, `*`.
 */
export function wildcardsOver(host: string): string[] {
  const found: string[] = [];
  let dot = isWildcard(host) ? host.indexOf(".", 2) : host.indexOf(".");
  while (dot >= 0) {
    found.push("*" + host.slice(dot));
    dot = host.indexOf(".", dot + 1);
  }
  if (host !== "*") found.push("*");
  return found;
}
