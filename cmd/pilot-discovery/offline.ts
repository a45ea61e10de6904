/**
 * Reads a command's files as a mesh, for all commands on files.
 *
 * Permissions: read of the named paths, env (the program's variables).
 *
 * @module
 */
import { readRegularText } from "../../lib/kernel/files/regular.ts";
import { type Output, UsageError } from "../../lib/cli/command.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import { safeText, styleOf } from "../../lib/cli/terminal/style.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import type { FileRead, FolderChanges } from "../../lib/folder/index.ts";
import { type InputTexts, readInputs, UnreadableInput } from "../../lib/offline/inputs.ts";
import { type GivenMeshConfig, meshOfReads } from "../../lib/offline/mesh_of_reads.ts";
import { findProxy, type FoundProxy, NoSuchProxy } from "../../lib/offline/find_proxy.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { NodeRefused } from "../../lib/translate/proxy/identity.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import type { MeshFlagValues } from "./offline_flags.ts";

/** A mesh with its texts. */
export interface ReadMesh {
  readonly mesh: OfflineMesh;
  readonly texts: InputTexts;
}

/** How a mesh is read. */
export interface ReadMeshOptions {
  /** Paths of files stand relative to their folder. */
  readonly relative?: boolean;
}

/**
 * Reads folders, files and standard input as a single mesh.
 * @throws {UsageError} With the unreadable paths, and the mistakes in the mesh configuration.
 */
export async function readMesh(
  paths: readonly string[],
  flags: MeshFlagValues,
  output: Output,
  options: ReadMeshOptions = {},
): Promise<ReadMesh> {
  const texts = await readTexts(paths, output, options);
  const mesh = emptyMesh(texts.reads, await givenMeshConfig(flags), flags);
  await takeTexts(mesh, texts.reads, output);
  return { mesh, texts };
}

/** Reads only the texts. @throws {UsageError} */
export async function readTexts(
  paths: readonly string[],
  output: Output,
  { relative = false }: ReadMeshOptions = {},
): Promise<InputTexts> {
  const progress = progressOn(output);
  const stdin = async () => new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer());
  try {
    return await readInputs(paths, {
      stdin,
      progress: (files) => progress.show(`read ${count(files, "file")}`),
      relative,
    });
  } catch (error) {
    if (error instanceof UnreadableInput) throw new UsageError(error.message);
    throw error;
  } finally {
    progress.end();
  }
}

/**
 * The mesh configuration of a flag.
 * @throws {UsageError} When the file cannot be read.
 */
export async function givenMeshConfig({ meshConfig: file }: MeshFlagValues): Promise<GivenMeshConfig | undefined> {
  if (file === "") return undefined;
  try {
    return { text: await readRegularText(file), name: file };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`flag --meshConfig: ${file}: no such file`);
    throw error;
  }
}

/**
 * A mesh without objects, for texts. `vhds`: virtual hosts are separate resources, as a server would send the hosts.
 * @throws {UsageError} When the mesh configuration of a flag is wrong.
 */
export function emptyMesh(
  reads: readonly FileRead[],
  given: GivenMeshConfig | undefined,
  { domain, registries }: MeshFlagValues,
  { vhds = false }: { readonly vhds?: boolean } = {},
): OfflineMesh {
  const settings = readProgramSettings("pilot-discovery");
  const manifestServices = registries.includes("File");
  return orWrongFile(
    given,
    () => meshOfReads(reads, given, { settings, domain, manifestServices, vhds: vhds && settings.PILOT_ENABLE_VHDS }),
  );
}

function orWrongFile<T>(given: GivenMeshConfig | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`flag --meshConfig: ${given?.name}: ${error.message}`);
    throw error;
  }
}

/**
 * Gives texts to a mesh. Shows the progress on a terminal.
 * @param now Milliseconds of a monotonic clock. Default: the runtime's.
 */
export async function takeTexts(
  mesh: OfflineMesh,
  reads: readonly FileRead[],
  output: Output,
  now?: () => number,
): Promise<FolderChanges> {
  const progress = progressOn(output, now);
  let files = 0;
  function* taken(): Iterable<FileRead> {
    for (const read of reads) {
      yield read;
      files++;
    }
  }
  function* steps(): Generator<void, FolderChanges> {
    const work = mesh.index.applySteps(taken());
    for (let at = 0;; at++) {
      const { done, value } = work.next();
      if (done) return value;
      // A file may have a single document or ten thousand, so the number of files alone says little.
      if (files < reads.length) progress.show(parsedText(at - files, files, reads.length));
      yield;
    }
  }
  try {
    const changes = await paced(steps());
    progress.show(`translating ${count(changes.upserted.length, "object")}`);
    mesh.takeChanges(changes);
    return changes;
  } finally {
    progress.end();
  }
}

/** `parsed 1200 documents, 3 of 20 files`. */
function parsedText(documents: number, files: number, all: number): string {
  return `parsed ${count(documents, "document")}, ${files} of ${count(all, "file")}`;
}

/** Prints the mistakes in the texts on standard error, because standard output is for the command's result. */
export function tellFindings(mesh: OfflineMesh, output: Output): void {
  const style = styleOf(output.terminals?.err ?? NO_TERMINAL);
  for (const found of mesh.findings()) {
    const { severity } = found;
    output.err(safeText(`${style(severity, severity)}: ${formatFinding(found).replace(`${severity}: `, "")}\n`));
  }
  for (const { what, error } of mesh.failures) {
    output.err(`${style("error", "error")}: ${what} could not be made, a defect of this program: ${String(error)}\n`);
  }
}

/**
 * The proxy of a name.
 * @throws {UsageError} With the flag of the name.
 */
export function namedProxy(flag: string, wanted: string, mesh: OfflineMesh): FoundProxy {
  const { proxies, options } = proxiesOf(mesh);
  return orUsage(flag, () => findProxy(wanted, proxies, options));
}

/** Does something with a flag's value; errors about the value are the user's, by the flag. */
export function orUsage<T>(flag: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const known = error instanceof NoSuchProxy || error instanceof NodeRefused || error instanceof RangeError;
    throw known ? new UsageError(`${flag}: ${error.message}`) : error;
  }
}

/** `1 file`, `2 files`, `3 proxies`. */
export function count(n: number, word: string): string {
  return `${n} ${n === 1 ? word : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;
}
