/**
 * Modules that are loaded by a name which is made at run time. An import that the runtime can see is read and parsed,
 * with all that it imports, before the program runs, for any of its commands.
 *
 * @module
 */

/**
 * Address of the module beside another one.
 *
 * @param name File name without its ending.
 * @param own `import.meta.url` of the module that loads it: a packed program has JavaScript where the tree has
 * TypeScript, all of it in one folder.
 */
export function moduleBeside(name: string, own: string): URL {
  return new URL(`${name}.${own.endsWith(".js") ? "js" : "ts"}`, own);
}
