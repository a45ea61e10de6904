/**
 * What is made once a machine for tests, in the user's cache folder.
 *
 * Permissions: env (XDG_CACHE_HOME, HOME), read and write (the cache folder).
 *
 * @module
 */

/** The folder for tests. Undefined if the environment has no cache folder. */
export function testCache(): string | undefined {
  const home = Deno.env.get("HOME");
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? (home === undefined ? undefined : `${home}/.cache`);
  return cache === undefined ? undefined : `${cache}/mesh-tests`;
}

/**
 * The folder for tests.
 *
 * @throws {Error} If the environment has no cache folder.
 */
export function requiredTestCache(): string {
  const cache = testCache();
  if (cache === undefined) throw new Error("neither XDG_CACHE_HOME nor HOME is set: expected one, for a cache folder");
  return cache;
}

/** Runs work while holding the lock of a folder, which is made. The system frees the lock of a killed process. */
export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await Deno.mkdir(folder, { recursive: true });
  using lock = await Deno.open(`${folder}/lock`, { create: true, write: true });
  await lock.lock(true);
  return await work();
}
