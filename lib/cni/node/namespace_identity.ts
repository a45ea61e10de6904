/**
 * Which network namespace stands behind a path. A path may come to mean another namespace.
 *
 * Permissions: read (the path).
 *
 * @module
 */

/** Device and inode of a namespace's file. Undefined: there is no file, or the program may not look at it. */
export function identityOf(netns: string): string | undefined {
  try {
    const { dev, ino } = Deno.statSync(netns);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
