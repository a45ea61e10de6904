/**
 * The configuration of injection in force: from the first place with a configuration, else the built-in configuration.
 * A text with mistakes changes nothing: the last good configuration stays, and all mistakes are reported.
 *
 * @module
 */
import { parseYaml } from "../../config/yaml/parse.ts";
import { readCheckedConfig } from "../../injection/templates/checked_config.ts";
import type { InjectionConfig } from "../../injection/types.ts";
import { type InjectionValues, readValues } from "../../injection/values.ts";
import type { FileText } from "../../kernel/files/watch_file.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { InjectionTexts } from "./texts.ts";

/** A configuration without mistakes. */
export interface InjectionConfigState {
  /** The source of the configuration in words, for messages. */
  readonly place: string;
  readonly config: InjectionConfig;
  readonly values: InjectionValues;
}

const BUILT_IN = "built in";

export class InjectionConfiguration {
  readonly #log: Logger;
  readonly #listeners: (() => void)[] = [];
  #state: InjectionConfigState | undefined;
  #problems: readonly string[] = [];
  /** The texts in force. When the same texts return after an absence, nothing has changed. */
  #text = "";

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Undefined: no configuration was good yet. */
  get state(): InjectionConfigState | undefined {
    return this.#state;
  }

  /** Problems of the present texts, a line each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Calls a listener after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Takes the present texts; undefined: no place has texts. */
  take(texts: InjectionTexts | undefined): void {
    if (texts === undefined && this.#state !== undefined && this.#state.place !== BUILT_IN) {
      // While files are copied or a config map is replaced, the texts are missing for a moment. Pods must not change.
      return this.#refused(this.#state.place, ["the text is gone, expected the earlier content"]);
    }
    const { place = BUILT_IN, config: configText, values: valuesText } = texts ?? {};
    const config = read("config", configText, readCheckedConfig);
    const values = read("values", valuesText, readValues);
    const problems = [config, values].flatMap((one) => "problems" in one ? one.problems : []);
    if ("problems" in config || "problems" in values) return this.#refused(place, problems);
    if (this.#problems.length > 0) this.#log.info("the injection's configuration has no mistakes any more", { place });
    this.#problems = [];
    const text = JSON.stringify([place, configText, valuesText]);
    if (this.#state !== undefined && text === this.#text) return;
    this.#text = text;
    this.#state = { place, ...config, ...values };
    this.#log.info("pods are injected by this configuration", { place });
    for (const listener of this.#listeners) listener();
  }

  #refused(place: string, problems: readonly string[]): void {
    if (JSON.stringify(problems) === JSON.stringify(this.#problems)) return;
    this.#problems = problems;
    const kept = this.#state === undefined ? "no pod is injected" : "the last good configuration stays in force";
    this.#log.error(`the injection's configuration is refused; ${kept}`, { place, problems });
  }
}

type RefusedText = { readonly problems: readonly string[] };

/** Reads a text. A blank text counts as missing. Each problem begins with the text's key. */
function read<T extends object>(key: string, text: FileText, of: (tree: unknown) => T | RefusedText): T | RefusedText {
  if (typeof text === "object") return { problems: [`${key}: the text cannot be read (${text.unreadable})`] };
  const parsed = parseYaml(text ?? "");
  if ("problem" in parsed) {
    return { problems: [`${key}:${parsed.problem.line + 1}: ${parsed.problem.reason}`] };
  }
  const made = of(parsed.tree);
  return "problems" in made ? { problems: made.problems.map((problem) => `${key}: ${problem}`) } : made;
}
