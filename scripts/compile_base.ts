/**
 * The runtime's base binary, which `deno compile` puts programs into: whether it is at hand or can be downloaded, asked
 * with a short bound. `deno compile` itself loads all modules first, and repeats a download for minutes in silence.
 *
 * Permissions: read (the binary), net (the host of the download), run (deno).
 *
 * @module
 */

/** Where a base binary may come from. */
export interface BaseSources {
  /** `DENORT_BIN`; empty: not set. */
  readonly given: string;
  /** The path at which `deno compile` keeps a downloaded binary. */
  readonly kept: string;
  /** Address of the download. */
  readonly url: string;
}

/** Longest time for the first answer of the download's host, in milliseconds. */
const PROBE_TIME = 10_000;

/** The sources for this runtime. `given` is the value of `DENORT_BIN`. */
export async function baseSources(given: string): Promise<BaseSources> {
  const path = `release/v${Deno.version.deno}/denort-${Deno.build.target}.zip`;
  const { stdout } = await new Deno.Command("deno", { args: ["info", "--json"], stderr: "null" }).output();
  const { denoDir = "" } = JSON.parse(new TextDecoder().decode(stdout)) as { readonly denoDir?: string };
  return { given, kept: `${denoDir}/dl/${path}`, url: `https://dl.deno.land/${path}` };
}

/** Why no base binary can be had, as sentences for people; undefined: there is one. */
export async function baseProblem(sources: BaseSources, patience = PROBE_TIME): Promise<string | undefined> {
  const { given, kept, url } = sources;
  if (given !== "") {
    return await isFile(given)
      ? undefined
      : `DENORT_BIN: got ${given}, which is no file, expected the path of the runtime's base binary`;
  }
  if (await isFile(kept)) return undefined;
  const why = await unreachable(url, patience);
  return why === undefined ? undefined : unreachableText(url, why);
}

/** What to do when the download fails. */
export function unreachableText(url: string, why: string): string {
  return `the runtime's base binary cannot be downloaded from ${url} (${why}). Download it where that address can be ` +
    `reached, unpack it, and set DENORT_BIN to the path of denort. \`deno task bundle\` needs no base binary.`;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

/** Why an address gives no file; undefined: it gives one. */
async function unreachable(url: string, patience: number): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      ...{ method: "HEAD", redirect: "manual" },
      signal: AbortSignal.timeout(patience),
    });
    await answer.body?.cancel();
    return answer.status < 400 ? undefined : `status ${answer.status}`;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return `no answer within ${patience / 1000} s`;
    }
    // The runtime repeats the address before the reason.
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(text.lastIndexOf(`(${url}): `) < 0 ? 0 : text.lastIndexOf(`(${url}): `) + url.length + 4);
  }
}
