/**
 * The import graph of the tree, read from the text of the files.
 *
 * Permissions: read of the repository.
 *
 * @module
 */

/** An import, with both ends relative to the repository. */
export interface ImportArrow {
  readonly from: string;
  /** A file of the tree, or a bare specifier (`node:fs`, `yaml`). */
  readonly to: string;
  readonly line: number;
  /** Types only: erased before the program runs. */
  readonly typeOnly: boolean;
  /** Loaded on demand, not at the start. */
  readonly lazy: boolean;
}

/** Every TypeScript file under some folders, sorted. */
export function sourceFiles(root: string, folders: readonly string[]): string[] {
  const found: string[] = [];
  const walk = (dir: string) => {
    for (const entry of Deno.readDirSync(`${root}/${dir}`)) {
      const path = `${dir}/${entry.name}`;
      if (entry.isDirectory && entry.name !== "gen" && entry.name !== "testdata") walk(path);
      else if (entry.isFile && entry.name.endsWith(".ts")) found.push(path);
    }
  };
  for (const folder of folders) {
    try {
      walk(folder);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return found.sort();
}

const statement =
  /^\s*(?:import|export)\s+(type\s)?[^;"']*?from\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

/** The imports of a file. */
export function importsOf(root: string, file: string): ImportArrow[] {
  const text = Deno.readTextFileSync(`${root}/${file}`).replace(/\/\*[\s\S]*?\*\//g, (c) => c.replace(/[^\n]/g, " "));
  const arrows: ImportArrow[] = [];
  for (const match of text.matchAll(statement)) {
    const specifier = match[2] ?? match[3] ?? match[4]!;
    const line = text.slice(0, match.index).split("\n").length;
    arrows.push({
      from: file,
      to: resolve(file, specifier),
      line,
      typeOnly: match[1] !== undefined,
      lazy: match[4] !== undefined,
    });
  }
  return arrows;
}

/** All files loaded before the first line of a file runs, each with the importing file. */
export function loadedWith(root: string, file: string): Map<string, string> {
  return loaded(root, file, ({ lazy }) => !lazy);
}

/** The files of the tree that a program may load, at its start or later. */
export function reachedFrom(root: string, file: string): string[] {
  return [...loaded(root, file, () => true).keys()].filter((path) => path.endsWith(".ts"));
}

function loaded(root: string, file: string, follows: (arrow: ImportArrow) => boolean): Map<string, string> {
  const found = new Map([[file, ""]]);
  for (const from of found.keys()) {
    if (!from.endsWith(".ts")) continue;
    for (const arrow of importsOf(root, from)) {
      if (!arrow.typeOnly && follows(arrow) && !found.has(arrow.to)) found.set(arrow.to, from);
    }
  }
  return found;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
