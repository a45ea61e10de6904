/**
 * The authority that an operator brings along: a watched folder of PEM files, mounted or written, or a secret. Replaced
 * files are in force when they fit together; until then the last fitting set stays in force.
 *
 * Permissions: read (the folder).
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import { isRegular } from "../kernel/files/regular.ts";
import { CurrentValue } from "../pki/current.ts";
import { PkiError } from "../pki/pki_error.ts";
import type { FileText, WatchedFile } from "../kernel/files/watch_file.ts";
import { type FileTexts, watchFiles, type WatchFilesOptions } from "../kernel/files/watch_files.ts";
import type { Logger } from "../kernel/log/log.ts";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { type MaterialTexts, readMaterial, sameCertificates, type SigningMaterial } from "./material.ts";

/** The files of an authority. */
interface FileSet {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
  readonly chain?: string;
}

/** The file names of a secret `cacerts`, and the file names of a TLS secret in other tools. */
const SETS: readonly FileSet[] = [
  { certificate: "ca-cert.pem", key: "ca-key.pem", roots: "root-cert.pem", chain: "cert-chain.pem" },
  { certificate: "tls.crt", key: "tls.key", roots: "ca.crt" },
];
const REVOCATION_LISTS = "ca-crl.pem";
const FILES = [...SETS.flatMap(({ certificate, key, roots, chain }) => [certificate, key, roots, chain ?? []]).flat()];

/** How an authority is brought along. */
export interface PluggedInOptions {
  /** `ROOT_CA_DIR` */
  readonly folder: string;
  /** Whether other roots may replace the roots in force (`MESH_MULTIROOT_MESH`). */
  readonly multiRoot: boolean;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Logger;
  /** Reads and watches the files. Default: files in the folder. */
  readonly watch?: (options: WatchFilesOptions<string>) => Promise<WatchedFile>;
}

/** Whether a folder has a file of an authority, even if others are missing. */
export async function hasPluggedIn(folder: string): Promise<boolean> {
  for (const file of FILES) {
    if (await isRegular(`${folder}/${file}`)) return true;
  }
  return false;
}

/** Milliseconds until refused files are checked again. */
const RETRY = 60_000;

/** An authority from files. */
export class PluggedIn {
  readonly material: CurrentValue<SigningMaterial | undefined>;
  readonly #options: PluggedInOptions;
  #watched: WatchedFile | undefined;
  #taking: Promise<void> = Promise.resolve();
  /** The last refusal. An equal refusal is not logged again. */
  #refusal: string | undefined;
  #retry: Cancel | undefined;
  #stopped = false;

  private constructor(options: PluggedInOptions) {
    this.#options = options;
    this.material = new CurrentValue<SigningMaterial | undefined>(undefined);
  }

  /**
   * Reads the files and goes on watching the files.
   *
   * @throws {PkiError} when a file is missing, or the files do not fit together
   */
  static async start(options: PluggedInOptions): Promise<PluggedIn> {
    const plugged = new PluggedIn(options);
    let fault: unknown;
    const paths = [...FILES, REVOCATION_LISTS].map((name) => `${options.folder}/${name}`);
    const watch = options.watch ?? watchFiles;
    plugged.#watched = await watch({
      ...{ paths, clock: options.clock },
      onTexts: (texts) => {
        if (plugged.material.current() === undefined) void plugged.#takeOr(texts, (error) => fault = error);
        else void plugged.#takeOr(texts, () => plugged.#retryLater(texts));
      },
    });
    await plugged.#taking;
    if (plugged.material.current() !== undefined) return plugged;
    await plugged.stop();
    throw fault;
  }

  /** Ends watching. */
  async stop(): Promise<void> {
    await this.#watched?.stop();
    this.#stopped = true;
    this.#retry?.();
    await this.#taking;
  }

  #takeOr(texts: FileTexts<string>, refused: (error: unknown) => void): Promise<void> {
    this.#retry?.();
    return this.#taking = this.#taking.then(() => this.#take(texts)).catch((error) => {
      this.#refuse(error);
      refused(error);
    });
  }

  /** Tries refused files again: a certificate may begin later, or have ended only by a wrong clock. */
  #retryLater(texts: FileTexts<string>): void {
    if (this.#stopped) return;
    this.#retry = this.#options.clock.after(RETRY, () => {
      void this.#takeOr(texts, () => this.#retryLater(texts));
    });
  }

  async #take(files: FileTexts<string>): Promise<void> {
    const { folder, clock, multiRoot, log } = this.#options;
    const { texts, names } = readTexts(files, folder);
    const called = { ...names, chain: names.chain ?? "chain", revocationLists: REVOCATION_LISTS };
    const next = await readMaterial(texts, clock.now(), called);

    const before = this.material.current();
    if (before !== undefined && !multiRoot && !sameCertificates(before.roots, next.roots)) {
      const subjects = (material: SigningMaterial) => material.roots.map(({ subject }) => subject).join("; ");
      throw new PkiError(
        `${names.roots}: expected the roots in force (${subjects(before)}), got others (${subjects(next)}): without ` +
          "MESH_MULTIROOT_MESH, proxies that trust only the old roots would refuse the new certificates",
      );
    }
    this.#refusal = undefined;
    if (before !== undefined && isSame(before, next)) return;
    this.material.set(next);
    const { certificate: { subject, issuer }, notAfter } = next;
    if (before !== undefined) {
      log.info("took another certificate for the authority", {
        folder,
        subject,
        issuer,
        until: new Date(notAfter).toISOString(),
      });
    }
  }

  #refuse(error: unknown): void {
    const reason = errorMessage(error);
    if (reason === this.#refusal || this.material.current() === undefined) return;
    this.#refusal = reason;
    this.#options.log.error("the authority's files were refused; the authority in force stays", {
      folder: this.#options.folder,
      reason,
    });
  }
}

/** The texts of the first set with a certificate or key. An error names a file that the set lacks. */
function readTexts(
  files: FileTexts<string>,
  folder: string,
): { readonly texts: MaterialTexts; readonly names: FileSet } {
  const names = SETS.find((set) => isThere(files, folder, set.certificate) || isThere(files, folder, set.key)) ??
    SETS[0]!;
  const text = (name: string): string => {
    const found = files[`${folder}/${name}`];
    if (typeof found === "string") return found;
    const why = found === undefined ? "it is not there" : found.unreadable;
    throw new PkiError(`${name}: expected a file in ${folder} beside the others of an authority: ${why}`);
  };
  const optional = (name: string | undefined) =>
    name !== undefined && isThere(files, folder, name) ? text(name) : undefined;
  return {
    names,
    texts: {
      ...{ certificate: text(names.certificate), key: text(names.key), roots: text(names.roots) },
      ...{ chain: optional(names.chain), revocationLists: optional(REVOCATION_LISTS) },
    },
  };
}

function isThere(files: FileTexts<string>, folder: string, name: string): boolean {
  const text: FileText = files[`${folder}/${name}`];
  return text !== undefined;
}

function isSame(a: SigningMaterial, b: SigningMaterial): boolean {
  return a.certificate.fingerprint === b.certificate.fingerprint && a.rootsPem === b.rootsPem &&
    a.between.join("") === b.between.join("") && listsText(a) === listsText(b);
}

function listsText({ revocations }: SigningMaterial): string {
  return revocations.map(({ signature }) => signature.toHex()).join();
}
