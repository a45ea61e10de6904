/**
 * Modules loaded under a name that is made at run time. If the name stood in the code, the runtime would read and parse
 * the module, with all modules that it imports, before any command of the program runs.
 *
 * @module
 */

/**
 * Address of the module beside another module.
 *
 * @param name File name without the ending.
 * @param own `import.meta.url` of the loading module. In a packed program modules are JavaScript, all in one folder; in
 * the tree modules are TypeScript.
 */
export function moduleBeside(name: string, own: string): URL {
  return new URL(`${name}.${own.endsWith(".js") ? "js" : "ts"}`, own);
}
