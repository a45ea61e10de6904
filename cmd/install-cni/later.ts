/**
 * Modules with names that Deno does not see. Before any command runs, Deno reads and parses each visible import, with
 * all further imports. (`scripts/compile.ts` names these modules to `deno compile`.)
 *
 * Permissions: read (the modules).
 *
 * @module
 */
import { moduleBeside } from "../../lib/kernel/program/late_module.ts";

/** The modules with their exports. */
interface Later {
  node: typeof import("./node.ts");
  plugin: typeof import("./plugin.ts");
  start: typeof import("./start.ts");
  zds: typeof import("./zds.ts");
}

/** Imports a module. */
export async function laterModule<K extends keyof Later>(name: K): Promise<Later[K]> {
  return await import(moduleBeside(name, import.meta.url).href);
}
