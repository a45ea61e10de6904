/**
 * The workload's certificate in files, for programs that do not get the certificate from the proxy.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { inTime } from "../../kernel/files/bounded.ts";
import { readRegularText } from "../../kernel/files/regular.ts";
import {
  dropFile,
  type PreparedFile,
  prepareFile,
  removeUnfinishedFiles,
  syncFolder,
  unfinishedPath,
} from "../../kernel/files/whole_file.ts";
import type { IssuedCertificate } from "./issued_certificate.ts";

/** Names of the files. */
export const CERTIFICATE_FILES = { key: "key.pem", chain: "cert-chain.pem", roots: "root-cert.pem" } as const;

/** The files with their modes: only the owner may read a key. */
const FILES = [
  { name: CERTIFICATE_FILES.key, part: "key", mode: 0o600 },
  { name: CERTIFICATE_FILES.chain, part: "chain", mode: 0o644 },
  { name: CERTIFICATE_FILES.roots, part: "roots", mode: 0o644 },
] as const;

/** Unfinished files of earlier versions, left behind when an agent was killed. */
const EARLIER = /^(?:key|cert-chain|root-cert)\.pem\.[0-9a-f]{8}$/;

/**
 * Writes the changed files: all files, or none if one file cannot be written, because a key and a certificate belong
 * together. Each file is replaced in one step, so that nobody reads half a file. While the key is replaced there is no
 * certificate. So a reader, even after a kill in between, finds a matching pair, or finds that a file is missing. (A
 * folder that is swapped by a symbolic link would have both files at each moment, but the agent has no permission to
 * make links.)
 * @throws {Error} When a file cannot be written.
 */
export async function writeCertificateFiles(folder: string, certificate: IssuedCertificate): Promise<void> {
  await makeFolder(folder);
  await removeUnfinishedFiles(folder, Object.values(CERTIFICATE_FILES), EARLIER);
  await replaceFiles(
    FILES.map(({ name, part, mode }) => ({ path: `${folder}/${name}`, text: certificate[part], mode })),
    `${folder}/${CERTIFICATE_FILES.chain}`,
  );
}

/**
 * Writes a file in one step, unless the file has the text already. Creates the file's folder.
 * @throws {Error} With the path when the file cannot be written.
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const [folder, name] = [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/") + 1)];
  await makeFolder(folder);
  await removeUnfinishedFiles(folder, [name]);
  await replaceFiles([{ path, text, mode }]);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new Error(`${path} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}

/** A file to write. */
interface WrittenFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** @param absent The file that is missing while several files are replaced. */
async function replaceFiles(files: readonly WrittenFile[], absent?: string): Promise<void> {
  const made: PreparedFile[] = [];
  let [at, old]: [string | undefined, string | undefined] = [undefined, undefined];
  try {
    for (const { path, text, mode } of files) {
      at = path;
      if (await readRegularText(path).catch(() => undefined) !== text) made.push(await prepareFile(path, text, mode));
    }
    const last = made.find(({ path }) => path === absent);
    if (last !== undefined && made.length > 1) old = await setAside(last);
    for (const one of [...made.filter((each) => each !== last), ...(last === undefined ? [] : [last])]) {
      at = one.path;
      await inTime(one.path, () => Deno.rename(one.beside, one.path));
    }
  } catch (error) {
    if (old !== undefined && absent !== undefined) {
      await Deno.rename(old, absent).catch(() => {/* the next one is written */});
    }
    for (const { beside } of made) await dropFile(beside);
    throw new Error(`${at} cannot be written: ${(error as Error).message}`, { cause: error });
  }
  if (old !== undefined) await dropFile(old);
  const [first] = made;
  if (first !== undefined) await syncFolder(first.path.slice(0, first.path.lastIndexOf("/")));
}

/** Renames a file that is about to be replaced to an unfinished file's name. Undefined: the file does not exist. */
async function setAside({ path }: PreparedFile): Promise<string | undefined> {
  const aside = unfinishedPath(path);
  try {
    await Deno.rename(path, aside);
    return aside;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
