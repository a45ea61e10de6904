/**
 * The inputs of a command: folders, files and standard input, together a single mesh.
 *
 * Permissions: read of the named paths.
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import { factsOf, readRegular, readRegularTextSync } from "../kernel/files/regular.ts";
import { MAX_FILE_SIZE } from "../folder/file.ts";
import { FolderFiles } from "../folder/files.ts";
import type { FileRead } from "../folder/index.ts";
import { withoutEnd } from "../kernel/text/edges.ts";

/** Name of standard input in findings, in place of a path. */
const STDIN_NAME = "stdin";

/** An unreadable input. The message has the input's name and the reason. */
export class UnreadableInput extends Error {
  override readonly name = "UnreadableInput";
}

/** Where inputs are read from. */
export interface InputSources {
  /** All of standard input. */
  readonly stdin: () => Promise<Uint8Array>;
  /** Called repeatedly with the number of files so far. */
  readonly progress?: (files: number) => void;
  /** Paths of files are relative to their folder, as in a server. Default: with the folder before them. */
  readonly relative?: boolean;
}

/** The texts of the inputs. */
export interface InputTexts {
  /** The texts, with each file's path as findings show it. */
  readonly reads: readonly FileRead[];
  /** The text of an input file, from memory or again from the disk. Undefined: the file is gone. */
  textOf(path: string): string | undefined;
}

/**
 * Reads folders, files and `-`. The sign `-` stands for standard input.
 *
 * @throws {UnreadableInput} naming every path that does not exist or is neither a file nor a folder.
 */
export async function readInputs(paths: readonly string[], sources: InputSources): Promise<InputTexts> {
  const reads = new Map<string, FileRead>();
  const disk = new Map<string, string>();
  const problems: string[] = [];
  for (const path of new Set(paths)) {
    if (path === "-") {
      reads.set(STDIN_NAME, { path: STDIN_NAME, bytes: await sources.stdin() });
      continue;
    }
    const problem = await readPath(path, sources, (shown, full, read) => {
      reads.set(shown, { ...read, path: shown });
      disk.set(shown, full);
      sources.progress?.(reads.size);
    });
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length > 0) throw new UnreadableInput(problems.join("\n"));
  return { reads: [...reads.values()], textOf: (path) => textOf(reads, disk, path) };
}

/** @returns Why nothing can be read there. */
async function readPath(
  path: string,
  { relative }: InputSources,
  take: (shown: string, full: string, read: FileRead) => void,
): Promise<string | undefined> {
  let info: Deno.FileInfo;
  try {
    info = await factsOf(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `${path}: no such file or folder`;
    return `${path}: cannot be read (${errorMessage(error)})`;
  }
  if (!info.isDirectory) {
    // A pipe, as in `<(kubectl get ...)`, can be read once and has no size.
    const shown = path.replace(/^(?:\.\/)+/, "");
    take(shown, path, { path: shown, bytes: await readGiven(path, info) });
    return undefined;
  }
  const root = withoutEnd(path, "/") || "/";
  const files = new FolderFiles(root);
  for (const file of [...(await files.find("")).files].sort()) {
    const read = await files.read(file);
    const full = root === "/" ? `/${file}` : `${root}/${file}`;
    take(relative || root === "." ? file : full.replace(/^(?:\.\/)+/, ""), full, read);
  }
  return undefined;
}

/** A pipe named by the user is read, too. Nobody else could have put the pipe there. */
async function readGiven(path: string, { isFile }: Deno.FileInfo): Promise<Uint8Array> {
  return isFile ? await readRegular(path, { maxBytes: MAX_FILE_SIZE }) : await Deno.readFile(path);
}

function textOf(reads: ReadonlyMap<string, FileRead>, disk: ReadonlyMap<string, string>, path: string) {
  const bytes = reads.get(path)?.bytes;
  if (bytes instanceof Uint8Array) return new TextDecoder().decode(bytes);
  const full = disk.get(path);
  try {
    return full === undefined ? undefined : readRegularTextSync(full, MAX_FILE_SIZE);
  } catch {
    return undefined; // Gone since: an excerpt is left out, the finding stays.
  }
}
