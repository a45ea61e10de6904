/**
 * Programs, or parts of them, as a few files of JavaScript without types: the runtime then has less to find, check, read
 * and keep in memory.
 *
 * Permissions: read (the tree); to make one, write (dist) and run (deno).
 *
 * @module
 */

/** What is made of what; paths in the tree. */
export interface BundleSpec {
  /** Folder for the generated files. */
  readonly folder: string;
  readonly entry: string;
  /** Files that count as sources beside the modules. */
  readonly beside?: readonly string[];
}

/** Its sources: a number for each file of the tree. */
type Sources = Readonly<Record<string, number>>;

/**
 * Path of the entry, when it is there and of the sources as they are.
 *
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
 * Makes the files by `deno bundle`, which fetches its bundler from npm when it is not there yet.
 *
 * @throws {Error} when they cannot be made, for instance because the bundler is not there and cannot be fetched.
 */
export async function makeBundle(root: string, { folder, entry, beside = [] }: BundleSpec): Promise<void> {
  const { modules } = JSON.parse(await deno(root, ["info", "--json", entry]));
  const paths: string[] = modules.flatMap(({ local }: { local?: string }) => local?.startsWith(root) ? [local] : []);
  // A change of a package's version is one of these.
  const own = [...paths.map((path) => path.slice(root.length)), "deno.lock", ...beside].sort();
  const numbers = Object.fromEntries(own.map((path) => [path, numberOf(`${root}${path}`)]));
  await Deno.remove(`${root}${folder}`, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  // Modules that are imported later stay in files of their own: hardly a start needs them.
  await deno(root, ["bundle", "--quiet", "--code-splitting", "--outdir", folder, entry]);
  await Deno.writeTextFile(`${root}${folder}/sources.json`, JSON.stringify(numbers, null, 1) + "\n");
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
