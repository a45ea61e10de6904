/**
 * An archive (tar, gzip) that is written while its parts are collected, with a bound on its content.
 *
 * @module
 */
import { createTarPacker } from "modern-tar";

/** A part of the archive. */
export interface ArchivePart {
  /** Path in the archive. */
  readonly path: string;
  readonly text: string;
}

/** What became of the parts. */
export interface ArchiveCounts {
  readonly files: number;
  readonly bytes: number;
  /** Paths that the bound left out. */
  readonly leftOut: readonly string[];
}

/** Bounds of an archive, in bytes before compression. */
export interface ArchiveBounds {
  /** Of a part: its end is cut off. */
  readonly part: number;
  /** Of all parts: further parts are left out. */
  readonly all: number;
}

/**
 * Writes an archive. The last part tells what is in it.
 *
 * @param last Makes the last part, which is always written.
 */
export async function writeArchive(
  parts: AsyncIterable<ArchivePart>,
  last: (counts: ArchiveCounts) => ArchivePart,
  to: WritableStream<Uint8Array>,
  { part: maxPart, all: maxAll }: ArchiveBounds,
  now: Date,
): Promise<ArchiveCounts> {
  const { readable, controller } = createTarPacker();
  const written = readable.pipeThrough(new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>)
    .pipeTo(to);
  let [files, bytes] = [0, 0];
  const leftOut: string[] = [];
  const names = new FreeNames();
  const add = async ({ path, text }: ArchivePart) => {
    const data = cut(new TextEncoder().encode(text), maxPart);
    const writer = controller.add({ name: names.take(path), size: data.length, mode: 0o600, mtime: now }).getWriter();
    await writer.write(data);
    await writer.close();
    files++;
    bytes += data.length;
  };
  try {
    for await (const part of parts) {
      if (bytes + Math.min(part.text.length, maxPart) > maxAll) leftOut.push(part.path);
      else await add(part);
    }
    await add(last({ files, bytes, leftOut }));
    controller.finalize();
  } catch (error) {
    controller.error(error);
    await written.catch(() => {});
    throw error;
  }
  await written;
  return { files, bytes, leftOut };
}

const CUT = new TextEncoder().encode("\n[cut]\n");

/** The beginning of a long part, and a mark. */
function cut(data: Uint8Array, most: number): Uint8Array {
  if (data.length <= most) return data;
  const kept = new Uint8Array(most);
  kept.set(data.subarray(0, most - CUT.length));
  kept.set(CUT, most - CUT.length);
  return kept;
}

/**
 * Paths in an archive. Different names of objects may be alike as names of files: two long names, or names that differ only in case, where an archive is unpacked on a disk that ignores case.
 */
class FreeNames {
  readonly #taken = new Set<string>();

  /** The path, or the path with a number before its last extension if another part has the path. */
  take(path: string): string {
    const dot = path.lastIndexOf(".");
    const at = dot > path.lastIndexOf("/") ? dot : path.length;
    let free = path;
    for (let n = 2; this.#taken.has(free.toLowerCase()); n++) free = `${path.slice(0, at)}~${n}${path.slice(at)}`;
    this.#taken.add(free.toLowerCase());
    return free;
  }
}

/** A name of an object as a name of a file. */
export function fileName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, MAX_NAME);
  return plain.startsWith(".") ? `_${plain}` : plain || "_";
}

/** Longest name of a file, in characters. */
const MAX_NAME = 80;
