/**
 * The workload's certificate in files, for programs that do not take it from the proxy.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import type { IssuedCertificate } from "./issued_certificate.ts";

/** Names of the files, and who may read them: a key is its owner's alone. */
const FILES = [
  { name: "key.pem", part: "key", mode: 0o600 },
  { name: "cert-chain.pem", part: "chain", mode: 0o644 },
  { name: "root-cert.pem", part: "roots", mode: 0o644 },
] as const;

/**
 * Writes the files that changed. Each is replaced in one step, so that nobody reads half of one.
 *
 * @throws Error when one cannot be written
 */
export async function writeCertificateFiles(folder: string, certificate: IssuedCertificate): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { name, part, mode } of FILES) await writeWhole(`${folder}/${name}`, certificate[part], mode);
}

/**
 * Writes a file in one step, unless it has that text already.
 *
 * @throws Error naming the path when it cannot be written
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  if (await Deno.readTextFile(path).catch(() => undefined) === text) return;
  const made = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.writeTextFile(made, text, { mode, createNew: true });
    await Deno.rename(made, path);
  } catch (error) {
    await Deno.remove(made).catch(() => {/* it was not made */});
    throw new Error(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
