/**
 * The server's certificate from files, watched: what is replaced there is in force when certificate and key fit together.
 *
 * Permissions: read (the files).
 *
 * @module
 */
import type { WatchedFile } from "../kernel/files/watch_file.ts";
import { type FileTexts, watchFiles } from "../kernel/files/watch_files.ts";
import type { Logger } from "../kernel/log/log.ts";
import type { Clock } from "../kernel/time/clock.ts";
import { isKeyOf, readCertificates, writeCertificates } from "../pki/certificate.ts";
import { CurrentValue, type ServerCertificate } from "../pki/current.ts";
import { PkiError } from "../pki/pki_error.ts";
import { PrivateKey } from "../pki/private_key.ts";

/** Paths of the server's certificate, of its key, and of the authority of both ends. */
export interface IdentityFiles {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
}

/** How files are used. */
export interface FileIdentityOptions {
  readonly files: IdentityFiles;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Logger;
}

/** See the module. */
export class FileIdentity {
  /** The certificate with its key. */
  readonly identity: CurrentValue<ServerCertificate>;
  /** The authority beside them, as PEM: clients' certificates are checked against it, too. */
  readonly roots: CurrentValue<string>;
  readonly #watched: WatchedFile;
  readonly #settled: () => Promise<void>;

  private constructor(first: TakenFiles, watched: WatchedFile, settled: () => Promise<void>) {
    this.identity = new CurrentValue(first.certificate);
    this.roots = new CurrentValue(first.roots);
    this.#watched = watched;
    this.#settled = settled;
  }

  /**
   * Reads the files and goes on watching them.
   *
   * @throws {PkiError} when one cannot be read, or the key is another certificate's
   */
  static async start({ files, clock, log }: FileIdentityOptions): Promise<FileIdentity> {
    let current: FileIdentity | undefined;
    let first: TakenFiles | undefined;
    let fault: unknown;
    let taking: Promise<void> = Promise.resolve();
    const take = async (texts: FileTexts<string>) => {
      const taken = await takeFiles(files, texts, clock.now());
      first ??= taken;
      if (current === undefined) return;
      if (taken.roots !== current.roots.current()) current.roots.set(taken.roots);
      const { certificatePem } = current.identity.current();
      if (taken.certificate.certificatePem === certificatePem) return;
      current.identity.set(taken.certificate);
      log.info("took another certificate for the server", { file: files.certificate });
    };
    const watched = await watchFiles({
      paths: Object.values<string>({ ...files }),
      clock,
      onTexts: (texts) => {
        taking = taking.then(() => take(texts)).catch((error) => {
          fault ??= error;
          if (current === undefined) return;
          log.error("the server's certificate files were refused; those in force stay", { error });
        });
      },
    });
    await taking;
    if (first !== undefined) return current = new FileIdentity(first, watched, () => taking);
    await watched.stop();
    throw fault;
  }

  /** Ends watching. */
  async stop(): Promise<void> {
    await this.#watched.stop();
    await this.#settled();
  }
}

interface TakenFiles {
  readonly certificate: ServerCertificate;
  readonly roots: string;
}

async function takeFiles(files: IdentityFiles, texts: FileTexts<string>, now: number): Promise<TakenFiles> {
  const text = (path: string): string => {
    const found = texts[path];
    if (typeof found === "string") return found;
    throw new PkiError(`${path}: expected a file that can be read: ${found?.unreadable ?? "it is not there"}`);
  };
  const certificates = readCertificates(text(files.certificate), files.certificate);
  const key = await PrivateKey.read(text(files.key), files.key);
  const roots = writeCertificates(readCertificates(text(files.roots), files.roots));
  const [own] = certificates;
  if (own === undefined || !isKeyOf(key, own)) {
    throw new PkiError(`${files.key}: expected the key of the certificate in ${files.certificate}`);
  }
  if (own.notAfter <= now) {
    throw new PkiError(`${files.certificate}: it expired at ${new Date(own.notAfter).toISOString()}`);
  }
  return { certificate: { certificatePem: writeCertificates(certificates), keyPem: key.pem() }, roots };
}
