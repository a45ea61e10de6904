/**
 * The network plugin as one file of JavaScript, without types, for the launcher: a call that has to find, check and read
 * 45 modules and a package spends a fifth of its time on that.
 *
 *     deno run --allow-read --allow-write=dist --allow-run=deno cmd/install-cni/bundle.ts
 *
 * makes it, in `dist/plugin`, by `deno bundle`, which fetches its bundler from npm when it is not there yet. The installer
 * makes nothing: it takes the file if it is of the sources as they are, else the launcher runs the sources.
 *
 * Permissions: read (the tree); to make it, write (dist) and run (deno).
 *
 * @module
 */

/** Folder for the generated files, in the tree. */
const FOLDER = "dist/plugin";

/** Its sources: a number for each file of the tree. */
type Sources = Readonly<Record<string, number>>;

/**
 * Path of the file, when it is there and of the sources as they are.
 *
 * @param root Folder of the tree, with a slash at its end.
 */
export function currentBundle(root: string): string | undefined {
  try {
    const sources: Sources = JSON.parse(Deno.readTextFileSync(`${root}${FOLDER}/sources.json`));
    const rows = Object.entries(sources);
    const same = rows.length > 0 && rows.every(([path, number]) => numberOf(`${root}${path}`) === number);
    return same ? `${root}${FOLDER}/plugin_entry.js` : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Makes the file.
 *
 * @throws {Error} when it cannot be made, for instance because the bundler is not there and cannot be fetched.
 */
export async function makeBundle(root: string): Promise<void> {
  const entry = "cmd/install-cni/plugin_entry.ts";
  const { modules } = JSON.parse(await deno(root, ["info", "--json", entry]));
  const paths: string[] = modules.flatMap(({ local }: { local?: string }) => local?.startsWith(root) ? [local] : []);
  // A change of a package's version is one of these.
  const own = [...paths.map((path) => path.slice(root.length)), "deno.lock"].sort();
  const numbers = Object.fromEntries(own.map((path) => [path, numberOf(`${root}${path}`)]));
  await Deno.remove(`${root}${FOLDER}`, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  // Modules that are imported later stay in files of their own: hardly a call needs it.
  await deno(root, ["bundle", "--quiet", "--code-splitting", "--outdir", FOLDER, entry]);
  await Deno.writeTextFile(`${root}${FOLDER}/sources.json`, JSON.stringify(numbers, null, 1) + "\n");
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

if (import.meta.main) await makeBundle(new URL("../../", import.meta.url).pathname);
