/**
 * A text of the mesh: mesh configuration or mesh networks. The text is watched, and its last good version is kept.
 *
 * Permissions: read of the file and its folder.
 *
 * @module
 */
import { fieldFinding, type Finding, findingIdentity } from "../../finding/finding.ts";
import { meshPlace, type ParsedMeshText } from "../../config/mesh/parse.ts";
import { type FileText, type WatchedFile, watchFile } from "../../kernel/files/watch_file.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { NO_FILE, type WatchedText } from "./mesh_text.ts";
import { meshFileFault, type MeshFileOption, missingMeshFile, type StartFault } from "../settings/start_error.ts";

/** One of the two files. */
interface MeshFile<T> {
  readonly option: MeshFileOption;
  readonly kind: "MeshConfig" | "MeshNetworks";
  readonly file: string;
  /** Read in place of an absent file. */
  readonly text: WatchedText | undefined;
  readonly parse: (text: string) => ParsedMeshText<T>;
  readonly mustExist: boolean;
  /** Written fields without an effect. */
  readonly inert?: (value: T) => readonly string[];
}

/** A watched file with its settings and findings. */
export class WatchedPart<T> {
  /** The settings in force; undefined until there is a text without errors. */
  value: T | undefined;
  findings: readonly Finding[] = [];
  readonly #part: MeshFile<T>;
  readonly #kernel: Pick<Kernel, "log" | "metrics">;
  /** The text of the value in force; blank: the defaults. */
  #text = "";
  #watched: WatchedFile | undefined;
  /** The fault of a file that cannot be read at the start, apart from faults in its text. */
  #unusable: StartFault | undefined;

  constructor(part: MeshFile<T>, kernel: Pick<Kernel, "log" | "metrics">) {
    this.#part = part;
    this.#kernel = kernel;
  }

  /**
   * Reads the file and goes on watching the file. `changed` is called after each reading; the first call comes before
   * the promise resolves.
   */
  async start(changed: () => void): Promise<void> {
    const { option, file, text } = this.#part;
    const take = (text: FileText) => {
      this.#take(text);
      changed();
    };
    if (text !== undefined) {
      this.#watched = await text.watch(take);
      return;
    }
    if (file === NO_FILE || file === "") return take("");
    try {
      this.#watched = await watchFile(file, take);
    } catch (error) {
      const fault = meshFileFault(option, file, error);
      if (fault === undefined) throw error;
      this.#unusable = fault;
    }
  }

  /** Whether a text with settings exists. Otherwise the defaults are in force. */
  get isWritten(): boolean {
    return this.#text.trim() !== "";
  }

  async stop(): Promise<void> {
    await this.#watched?.stop();
  }

  /** Reads the text in force again after a change of the defaults beneath it. */
  parseAgain(): void {
    if (this.value === undefined) return;
    this.value = this.#part.parse(this.#text).value ?? this.value;
  }

  /** The errors of the file, which prevent a start. */
  faults(): StartFault[] {
    const { option } = this.#part;
    if (this.#unusable !== undefined) return [this.#unusable];
    const { file } = this.#part;
    return this.findings.filter(({ severity }) => severity === "error").map(({ message, place: { line } }) => ({
      option,
      text: `${file}${line > 0 ? `:${line}` : ""}: ${message}`,
    }));
  }

  #take(text: FileText): void {
    const lost = this.#lost(text);
    if (lost !== undefined) return this.#report([lost]);
    const said = typeof text === "string" ? text : "";
    if (text === undefined && this.value === undefined) {
      if (this.#part.mustExist) {
        this.#unusable = missingMeshFile(this.#part.option, this.#part.file);
        return;
      }
      this.#kernel.log.scope("default").info("no such file; the defaults hold", { file: this.#part.file });
    }
    const parsed = this.#part.parse(said);
    this.#report(parsed.findings);
    // When the same text returns after an absence, nothing is translated again.
    if (parsed.value === undefined || (this.value !== undefined && said === this.#text)) return;
    if (said.trim() !== "" && this.value === undefined) {
      this.#kernel.log.scope("default").info("settings are read and followed", { file: this.#part.file });
    }
    this.value = parsed.value;
    this.#text = said;
    const fields = this.#part.inert?.(parsed.value) ?? [];
    if (fields.length === 0) return;
    this.#kernel.log.scope("default").warn("fields without effect in this version", { file: this.#part.file, fields });
  }

  /** Why the file has lost its text; undefined: the file has a text, or the defaults are in force anyway. */
  #lost(text: FileText): Finding | undefined {
    if (typeof text === "object") {
      return this.#loss(`the file cannot be read (${text.unreadable})`, "a file that can be read");
    }
    if (text !== undefined && text.trim() !== "") return undefined;
    if (this.value === undefined || this.#text.trim() === "") return undefined;
    return this.#loss(
      text === undefined ? "the file is gone" : "the file is empty",
      "its earlier content, or {} for the defaults",
    );
  }

  #loss(what: string, expected: string): Finding {
    const { kind, file } = this.#part;
    const kept = this.value === undefined ? "" : "; its last settings stay in force";
    const found = fieldFinding("lost-file", "error", { ...meshPlace(kind, file), field: "file" }, undefined, expected);
    return { ...found, message: `${what}${kept}, expected ${expected}` };
  }

  /** Logs new and resolved findings, and keeps the present findings. */
  #report(findings: readonly Finding[]): void {
    const { kind, file } = this.#part;
    const log = this.#kernel.log.scope("default");
    const before = new Set(this.findings.map(findingIdentity));
    const now = new Set(findings.map(findingIdentity));
    for (const found of findings.filter((one) => !before.has(findingIdentity(one)))) {
      const { severity, message, value, expected, code, place: { line, field } } = found;
      const fields = { file, line, field, value, expected, code };
      if (severity === "error") {
        this.#kernel.metrics.counter("pilot_total_rejected_configs").inc({ type: kind, name: file });
        log.error(`mesh configuration refused: ${message}`, fields);
      } else log.warn(message, fields);
    }
    for (const { place: { line, field } } of this.findings.filter((one) => !now.has(findingIdentity(one)))) {
      log.info("a finding is gone", { file, line, field });
    }
    this.findings = findings;
  }
}
