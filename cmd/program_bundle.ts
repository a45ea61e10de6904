/**
 * Programs, or parts of programs, as a few files of JavaScript without types. The runtime then has less to find, check,
 * read and keep in memory.
 *
 * Permissions: read (the tree); to make a bundle, write (dist) and run (deno).
 *
 * @module
 */

/** The sources of a bundle and its folder, as paths in the tree. */
export interface BundleSpec {
  /** Folder for the generated files. */
  readonly folder: string;
  readonly entry: string;
  /** Modules that are loaded by a name made at run time. Each module becomes a file beside the entry. */
  readonly late?: readonly string[];
  /**
   * Whether the code is minified. Names of functions and classes stay, so that stacks and profiles remain readable.
   * Lines do not stay. Default: no.
   */
  readonly minified?: boolean;
  /** Whether the file of the entry contains the modules of later imports. Default: no, each has a file of its own. */
  readonly whole?: boolean;
  /** Other files that count as sources. */
  readonly beside?: readonly string[];
}

/** The sources: a number for each file of the tree. */
type Sources = Readonly<Record<string, number>>;

/**
 * Path of the entry. Undefined: the bundle does not exist, or its sources have changed since.
 * @param root Folder of the tree, with a slash at its end.
 */
export function currentBundle(root: string, { folder, entry }: BundleSpec): string | undefined {
  try {
    const sources: Sources = JSON.parse(Deno.readTextFileSync(`${root}${folder}/sources.json`));
    const rows = Object.entries(sources);
    const same = rows.length > 0 && rows.every(([path, number]) => numberOf(`${root}${path}`) === number);
    return same ? `${root}${folder}/${entry.slice(entry.lastIndexOf("/") + 1).replace(/ts$/, "js")}` : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Makes the files by `deno bundle`. The first run fetches the bundler from npm.
 * @throws {Error} When the files cannot be made, for example because the bundler cannot be fetched.
 */
export async function makeBundle(root: string, spec: BundleSpec): Promise<void> {
  const { folder, entry, late = [] } = spec;
  const stubs = `${folder}.entries`;
  const entries = late.length === 0 ? [entry] : await writeStubs(root, stubs, [entry, ...late]);
  try {
    await bundle(root, spec, entries);
  } finally {
    if (late.length > 0) await Deno.remove(`${root}${stubs}`, { recursive: true });
  }
}

async function bundle(
  root: string,
  { folder, minified = false, whole = false, beside = [] }: BundleSpec,
  entries: readonly string[],
) {
  const graphs = await Promise.all(
    entries.map(async (entry) => JSON.parse(await deno(root, ["info", "--json", entry]))),
  );
  const modules = graphs.flatMap((graph) => graph.modules);
  const paths: string[] = modules.flatMap(({ local }: { local?: string }) => local?.startsWith(root) ? [local] : []);
  // `deno.lock` changes with the version of a package.
  const own = [...new Set([...paths.map((path) => path.slice(root.length)), "deno.lock", ...beside])]
    .filter((path) => !path.startsWith(`${folder}.`)).sort();
  const numbers = Object.fromEntries(own.map((path) => [path, numberOf(`${root}${path}`)]));
  await Deno.remove(`${root}${folder}`, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  // Modules with a later import stay in their own files: few starts need the modules.
  const form = [...whole ? [] : ["--code-splitting"], ...minified ? ["--minify", "--keep-names"] : []];
  await deno(root, ["bundle", "--quiet", ...form, "--outdir", folder, ...entries]);
  await Deno.writeTextFile(`${root}${folder}/sources.json`, JSON.stringify(numbers, null, 1) + "\n");
}

/**
 * Modules in a single folder that stand for modules of several folders. The bundler places files like their entries,
 * and shared parts at the top: with stubs in a single folder all files are beside each other.
 */
async function writeStubs(root: string, folder: string, modules: readonly string[]): Promise<string[]> {
  await Deno.mkdir(`${root}${folder}`, { recursive: true });
  const up = "../".repeat(folder.split("/").length);
  return await Promise.all(modules.map(async (module) => {
    const path = `${folder}/${module.slice(module.lastIndexOf("/") + 1)}`;
    await Deno.writeTextFile(`${root}${path}`, `export * from "${up}${module}";\n`);
    return path;
  }));
}

async function deno(root: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("deno", { args, cwd: root }).output();
  if (!success) throw new Error(`deno ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Distinguishes contents of a file; forgery need not be expected here. */
function numberOf(path: string): number {
  return Deno.readFileSync(path).reduce((h, byte) => Math.imul(h ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
}
