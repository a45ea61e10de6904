/**
 * Secrets in files. The files are read on demand and again after each change, even when the whole folder is replaced,
 * as orchestrators do with mounted secrets.
 *
 * Permissions: read (the files and their folders).
 *
 * @module
 */
import { type FileText, type WatchedFile, watchFile } from "../../kernel/files/watch_file.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { judgeAuthorities, judgePair } from "../../pki/credential.ts";
import type { AgentSecret, SecretListener, SecretSource } from "./agent_secret.ts";

export type SecretFiles =
  | { readonly chain: string; readonly key: string }
  | { readonly roots: string };

/** Options of file secrets. Times in ms. */
export interface FileSecretOptions {
  /** Quiet time after a change before the files are read. */
  readonly debounce: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The files of an SDS name: `file-cert:CHAIN~KEY`, `file-root:ROOTS`. Undefined: another name. */
function filesOfName(name: string): SecretFiles | undefined {
  const [, chain, key] = /^file-cert:([^~]+)~([^~]+)$/.exec(name) ?? [];
  if (chain !== undefined && key !== undefined) return { chain, key };
  const roots = /^file-root:([^~]+)$/.exec(name)?.[1];
  return roots === undefined ? undefined : { roots: roots === "system" ? SYSTEM_ROOTS : roots };
}

/** The file in which Debian and its derivatives keep the system's roots. */
const SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Secrets in files.
 * @param files Files by name. Default: the paths in the name itself.
 */
export function fileSecrets(
  options: FileSecretOptions,
  files: (name: string) => SecretFiles | undefined = filesOfName,
): SecretSource {
  return {
    watch(name, listener) {
      const found = files(name);
      if (found === undefined) return undefined;
      const watch = new FileSecretWatch(found, listener, options);
      watch.start();
      return () => watch.stop();
    },
  };
}

/** Time for which missing or unfitting files are tolerated before their first reader is refused, ms. */
const PATIENCE = 10_000;

class FileSecretWatch {
  readonly #files: SecretFiles;
  readonly #listener: SecretListener;
  readonly #options: FileSecretOptions;
  readonly #texts = new Map<string, FileText>();
  readonly #watched: Promise<WatchedFile | undefined>[] = [];
  #timer: Cancel | undefined;
  #patience: Cancel | undefined;
  #served = "";
  #stopped = false;

  constructor(files: SecretFiles, listener: SecretListener, options: FileSecretOptions) {
    this.#files = files;
    this.#listener = listener;
    this.#options = options;
  }

  start(): void {
    for (const path of Object.values(this.#files)) this.#watched.push(this.#watch(path));
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.();
    this.#patience?.();
    for (const watched of this.#watched) watched.then((file) => file?.stop());
  }

  async #watch(path: string): Promise<WatchedFile | undefined> {
    try {
      return await watchFile(path, (text) => {
        this.#texts.set(path, text);
        this.#later();
      });
    } catch (error) {
      this.#options.metrics.counter("num_file_watcher_failures_total").inc();
      if (!this.#stopped) this.#listener.failed(`${path} cannot be watched: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Certificate and key are written one after the other, so changes are read when the files have been quiet. */
  #later(): void {
    if (this.#stopped || this.#texts.size < Object.keys(this.#files).length) return;
    if (this.#served === "") return this.#read();
    this.#timer?.();
    this.#timer = this.#options.clock.after(this.#options.debounce, () => this.#read());
  }

  #read(): void {
    if (this.#stopped) return;
    try {
      const secret = secretOf(this.#files, (path) => textOf(path, this.#texts.get(path)));
      const content = JSON.stringify(secret);
      this.#patience?.();
      this.#patience = undefined;
      if (content === this.#served) return;
      this.#served = content;
      this.#listener.secret(secret);
    } catch (error) {
      this.#refuse((error as Error).message);
    }
  }

  /** A served secret stays in force. A client without a secret is refused after a while. */
  #refuse(reason: string): void {
    const { clock, log, metrics } = this.#options;
    metrics.counter("num_file_secret_failures_total").inc();
    if (this.#served !== "") return log.warn(`${reason}; the certificate that was read before stays in force`);
    this.#patience ??= clock.after(PATIENCE, () => {
      if (!this.#stopped) this.#listener.failed(reason);
    });
  }
}

function textOf(path: string, text: FileText): string {
  if (text === undefined) throw new Error(`${path} does not exist`);
  if (typeof text === "object") throw new Error(`${path} cannot be read: ${text.unreadable}`);
  return text;
}

/** @throws {Error} With the file and the expectation. */
function secretOf(files: SecretFiles, read: (path: string) => string): AgentSecret {
  if ("roots" in files) {
    const roots = read(files.roots);
    const verdict = judgeAuthorities(roots);
    if ("why" in verdict) {
      throw new Error(`${files.roots}: expected certificates in PEM that Envoy takes: it ${verdict.why}`);
    }
    return { kind: "roots", roots };
  }
  const [chain, key] = [read(files.chain), read(files.key)];
  const verdict = judgePair(chain, key);
  if (verdict.problem === "certificate") {
    throw new Error(`${files.chain}: expected a certificate in PEM that Envoy takes: it ${verdict.why}`);
  }
  if (verdict.problem !== undefined) {
    throw new Error(`${files.key}: expected the key of ${files.chain}, in PEM that Envoy takes: it ${verdict.why}`);
  }
  return { kind: "certificate", chain, key };
}
