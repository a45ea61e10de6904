/**
 * Modules named where Deno does not look: an import that it can see is read and parsed, with all that it imports, before
 * the program runs, for any of its commands. (`scripts/compile.ts` names them to `deno compile`.)
 *
 * Permissions: read (the modules).
 *
 * @module
 */

/** The modules with their exports. */
interface Later {
  "node.ts": typeof import("./node.ts");
  "plugin.ts": typeof import("./plugin.ts");
  "start.ts": typeof import("./start.ts");
}

/** Imports one of them. */
export async function laterModule<K extends keyof Later>(name: K): Promise<Later[K]> {
  return await import(new URL(name, import.meta.url).href);
}
