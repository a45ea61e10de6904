/**
 * Blobs by digest, with the inputs that led to them: a blob of known inputs is not made again. A finished blob is
 * renamed into place, so a killed run leaves no blob that looks complete.
 *
 * Permissions: read and write (the store's folder).
 *
 * @module
 */
import { createHash } from "node:crypto";

/** A blob's digest, `sha256:...`, and size in bytes. */
export interface Blob {
  readonly digest: string;
  readonly size: number;
}

/** Suffix of unfinished files. */
const UNFINISHED = ".unfinished";

/** A folder of blobs. */
export class BlobStore {
  /** @param folder Without a slash at the end. */
  constructor(readonly folder: string) {}

  /** Makes the folder, and removes what killed runs left there. Call it with the lock of the folder. */
  async prepare(): Promise<void> {
    await Deno.mkdir(`${this.folder}/blobs/sha256`, { recursive: true });
    await Deno.mkdir(`${this.folder}/inputs`, { recursive: true });
    for (const { name } of Deno.readDirSync(this.folder)) {
      if (name.endsWith(UNFINISHED)) await Deno.remove(`${this.folder}/${name}`, { recursive: true });
    }
  }

  /** A path for a file or folder in the making. */
  unfinished(name: string): string {
    return `${this.folder}/${name}-${Deno.pid}${UNFINISHED}`;
  }

  /** The path of a blob. */
  path({ digest }: Blob): string {
    return `${this.folder}/${pathInArchive(digest)}`;
  }

  /** The blob that was made of the inputs. Undefined if there is none. */
  find(inputs: string): Blob | undefined {
    try {
      const blob: Blob = JSON.parse(Deno.readTextFileSync(`${this.folder}/inputs/${inputs}.json`));
      return Deno.statSync(this.path(blob)).size === blob.size ? blob : undefined;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** Takes over a file, and notes the inputs. */
  async take(path: string, inputs: string): Promise<Blob> {
    const blob = { digest: await digestOfFile(path), size: (await Deno.stat(path)).size };
    await Deno.rename(path, this.path(blob));
    const note = this.unfinished(`inputs-${inputs}`);
    await Deno.writeTextFile(note, JSON.stringify(blob));
    await Deno.rename(note, `${this.folder}/inputs/${inputs}.json`);
    return blob;
  }

  /** Takes over a value as JSON. */
  async takeJson(value: unknown): Promise<Blob> {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const blob = { digest: digestOf(bytes), size: bytes.length };
    const path = this.unfinished("json");
    await Deno.writeFile(path, bytes);
    await Deno.rename(path, this.path(blob));
    return blob;
  }

  /** Removes all blobs and inputs but those of the digests. */
  async keepOnly(digests: ReadonlySet<string>): Promise<void> {
    for (const { name } of Deno.readDirSync(`${this.folder}/inputs`)) {
      const blob = this.find(name.replace(/\.json$/, ""));
      if (blob === undefined || !digests.has(blob.digest)) await Deno.remove(`${this.folder}/inputs/${name}`);
    }
    for (const { name } of Deno.readDirSync(`${this.folder}/blobs/sha256`)) {
      if (!digests.has(`sha256:${name}`)) await Deno.remove(`${this.folder}/blobs/sha256/${name}`);
    }
  }
}

/** The path of a blob in an OCI layout. */
export function pathInArchive(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

/** The digest of bytes or a text. */
export function digestOf(content: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** The digest of a file. The file is not held in memory. */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return `sha256:${hash.digest("hex")}`;
}
