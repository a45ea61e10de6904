/**
 * Modules with names that Deno does not see. Before any command runs, Deno reads and parses each visible import, with
 * all further imports. (`scripts/compile.ts` names these modules to `deno compile`.)
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

/** Imports a module. */
export async function laterModule<K extends keyof Later>(name: K): Promise<Later[K]> {
  return await import(new URL(name, import.meta.url).href);
}
