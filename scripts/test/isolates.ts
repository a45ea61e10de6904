/**
 * The isolates in which the files of a group run. Each isolate loads and warms up the tested modules anew, which takes
 * up to a second of CPU time. So in some groups files share isolates, a few for each core: an isolate runs a module that
 * imports the files. A file that measures the heap has an isolate to itself.
 *
 * Permissions: read of the repository, write (a temporary folder).
 *
 * @module
 */
import { pathToFileURL } from "node:url";

/** Measures the heap, in which other tests would leave objects. */
const MEASURES = /support\/memory\.ts"|\bmemoryUsage\(/;

/** Isolates for each core: enough that cores end at about the same time. */
const PER_CORE = 3;

/** @returns The files of each isolate. */
export function isolatesOf(files: readonly string[], cores: number, textOf: (file: string) => string): string[][] {
  const measuring = files.filter((file) => MEASURES.test(textOf(file)));
  const rest = files.filter((file) => !measuring.includes(file));
  const count = Math.min(rest.length, cores * PER_CORE);
  // Neighbours in a folder take similar times, so they are dealt to different isolates.
  const shared = Array.from({ length: count }, (_, i) => rest.filter((_, at) => at % count === i));
  return [...measuring.map((file) => [file]), ...shared];
}

/** Writes the modules of isolates. @returns their paths; an isolate of one file runs the file itself. */
export async function writeIsolates(root: string, folder: string, isolates: readonly string[][]): Promise<string[]> {
  return await Promise.all(isolates.map(async (files, i) => {
    if (files.length === 1) return files[0]!;
    const path = `${folder}/isolate-${i + 1}.js`;
    const imports = files.map((file) => `import ${JSON.stringify(pathToFileURL(`${root}/${file}`).href)};\n`);
    await Deno.writeTextFile(path, imports.join(""));
    return path;
  }));
}

/** The test files in files and folders, sorted. */
export function testFiles(root: string, paths: readonly string[]): string[] {
  const files = (path: string): string[] =>
    path.endsWith(".ts") ? [path.replace(/^\.\//, "")] : [...Deno.readDirSync(`${root}/${path}`)].flatMap((entry) => {
      const inner = `${path.replace(/\/$/, "")}/${entry.name}`;
      return entry.isDirectory ? files(inner) : /_test\.ts$/.test(entry.name) ? [inner] : [];
    });
  return [...new Set(paths.flatMap(files))].sort();
}

/**
 * What the isolates of a killed group were doing: the last finished test of each isolate, and the isolate's files.
 *
 * @param output Of `deno test --parallel`: a line begins with the module of its test.
 */
export function lastTests(modules: readonly string[], isolates: readonly string[][], output: string): string {
  const lines = output.split("\n");
  return isolates.map((files, i) => {
    const path = modules[i]!;
    const name = path.slice(path.lastIndexOf("/") + 1);
    const last = lines.findLast((line) => line.includes(`${name} => `))?.replace(/^.*? => /, "");
    return `\n  last test of ${files.join(", ")}: ${last ?? "none"}`;
  }).join("");
}
