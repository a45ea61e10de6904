/**
 * Mesh configuration that several control planes share.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { ParsedMesh } from "../../config/mesh/parse.ts";
import type { FileText, WatchedFile } from "../../kernel/files/watch_file.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { WatchedText } from "./mesh_text.ts";

/**
 * Mesh configuration that several control planes share (`SHARED_MESH_CONFIG`). It lies beneath the configuration of
 * each control plane. The last good version is in force.
 */
export class SharedMesh {
  findings: readonly Finding[] = [];
  readonly #text: WatchedText | undefined;
  readonly #parse: (text: string) => ParsedMesh;
  readonly #kernel: Pick<Kernel, "log">;
  /** The text of the last good version; undefined: no version was good. */
  #good: string | undefined;
  #watched: WatchedFile | undefined;

  constructor(text: WatchedText | undefined, parse: (text: string) => ParsedMesh, kernel: Pick<Kernel, "log">) {
    this.#text = text;
    this.#parse = parse;
    this.#kernel = kernel;
  }

  /** Begins; `changed` is called after each reading but the first. */
  async start(changed: () => void): Promise<void> {
    this.#watched = await this.#text?.watch((text) => {
      if (this.#take(text) && this.#watched !== undefined) changed();
    });
  }

  /** Parsed again at each call, because the defaults beneath it change. */
  parsed(): ParsedMesh | undefined {
    return this.#good === undefined ? undefined : this.#parse(this.#good);
  }

  async stop(): Promise<void> {
    await this.#watched?.stop();
  }

  #take(text: FileText): boolean {
    const log = this.#kernel.log.scope("default");
    // When the text disappears, its settings stay in force, like the settings of a lost file.
    if (typeof text !== "string" || text === this.#good) return false;
    const { value, findings } = this.#parse(text);
    this.findings = findings;
    for (const { message, severity } of findings) {
      if (severity === "error") log.error(`shared mesh configuration refused: ${message}`, { from: this.#text?.name });
      else log.warn(message, { from: this.#text?.name });
    }
    if (value === undefined) return false;
    this.#good = text;
    return true;
  }
}
