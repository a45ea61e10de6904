/**
 * The workload's certificate in files, for programs that do not take it from the proxy.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { inTime } from "../../kernel/files/bounded.ts";
import { readRegularText } from "../../kernel/files/regular.ts";
import type { IssuedCertificate } from "./issued_certificate.ts";

/** Names of the files. */
export const CERTIFICATE_FILES = { key: "key.pem", chain: "cert-chain.pem", roots: "root-cert.pem" } as const;

/** The files with their modes: only its owner may read a key. */
const FILES = [
  { name: CERTIFICATE_FILES.key, part: "key", mode: 0o600 },
  { name: CERTIFICATE_FILES.chain, part: "chain", mode: 0o644 },
  { name: CERTIFICATE_FILES.roots, part: "roots", mode: 0o644 },
] as const;

/**
 * Writes the files that changed: all of them, or none where one cannot be written, because a key and a certificate belong
 * together. Each is replaced in one step, so that nobody reads half of one.
 *
 * @throws Error when one cannot be written
 */
export async function writeCertificateFiles(folder: string, certificate: IssuedCertificate): Promise<void> {
  await makeFolder(folder);
  await replaceFiles(
    FILES.map(({ name, part, mode }) => ({ path: `${folder}/${name}`, text: certificate[part], mode })),
  );
}

/**
 * Writes a file in one step, unless it has that text already; makes its folder.
 *
 * @throws Error naming the path when it cannot be written
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  await makeFolder(path.slice(0, path.lastIndexOf("/")));
  await replaceFiles([{ path, text, mode }]);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new Error(`${path} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}

/** A file as it is to be. */
interface WrittenFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

async function replaceFiles(files: readonly WrittenFile[]): Promise<void> {
  const made: { readonly path: string; readonly beside: string }[] = [];
  try {
    for (const { path, text, mode } of files) {
      if (await readRegularText(path).catch(() => undefined) === text) continue;
      const beside = `${path}.${crypto.randomUUID().slice(0, 8)}`;
      made.push({ path, beside });
      await inTime(beside, () => Deno.writeTextFile(beside, text, { mode, createNew: true }));
    }
    for (const { path, beside } of made) await inTime(path, () => Deno.rename(beside, path));
  } catch (error) {
    for (const { beside } of made) await Deno.remove(beside).catch(() => {/* it was not made, or is in place */});
    throw new Error(`${made.at(-1)?.path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
