/**
 * The line of a text with the value of a finding.
 *
 * @module
 */
import { type Finding, findingObject } from "./finding.ts";

/** A line of a file. */
export interface SourceExcerpt {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
  /** 1-based column of the value, or of the field; in characters. */
  readonly column: number;
  /** Characters of the value, or of the field's name. */
  readonly length: number;
}

/** A text with a secret that is not clearly delimited. */
const SECRET = /\bkind["']?\s*:\s*["']?Secret\b/;

/** Shown characters of a line. Of a file without line breaks only the beginning is shown. */
const MAX_LINE = 400;

/** A text as excerpts need it: split into lines once, for any number of findings. */
export class SourceLines {
  readonly #text: string;
  #lines: readonly string[] | undefined;
  #namesSecret: boolean | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param number 1-based. */
  line(number: number): string | undefined {
    return (this.#lines ??= this.#text.split(/\r?\n/))[number - 1];
  }

  /** Whether some object of the text is a Secret. */
  get namesSecret(): boolean {
    return this.#namesSecret ??= SECRET.test(this.#text);
  }
}

/**
 * The excerpt; undefined where the text does not have the line, for an object as a whole, and for secrets: printed
 * excerpts end in the logs of build machines.
 */
export function excerptOf(found: Finding, text: SourceLines | undefined): SourceExcerpt | undefined {
  const { line, field, column } = found.place;
  const { kind } = findingObject(found);
  if (kind === "Secret" || (kind === "" && text?.namesSecret)) return undefined;
  const whole = line > 0 && field !== "" ? text?.line(line) : undefined;
  if (whole === undefined || whole.trim() === "") return undefined;
  const shown = whole.slice(0, MAX_LINE);
  const key = /(?:^|\.)([^.[\]]+)(?:\[\d+\])*$/.exec(field)?.[1] ?? "";
  const keyAt = key === "" ? -1 : positionOfKey(shown, key);
  const value = unquoted(found.value);
  const from = keyAt < 0 ? 0 : keyAt + key.length;
  const valueAt = value === "" ? -1 : valueFrom(shown, value, column) ?? shown.indexOf(value, from);
  const indent = shown.length - shown.trimStart().length;
  const [start, length] = valueAt >= 0
    ? [valueAt, value.length]
    : keyAt >= 0
    ? [keyAt, key.length]
    : [indent, shown.trim().length];
  return { line, text: shown, column: [...shown.slice(0, start)].length + 1, length: Math.max(1, length) };
}

/** The start of a value by its column, after an opening quote; undefined: the value is not there. */
function valueFrom(text: string, value: string, column: number | undefined): number | undefined {
  if (column === undefined) return undefined;
  const at = /^["']$/.test(text.charAt(column - 1)) ? column : column - 1;
  return text.startsWith(value, at) ? at : undefined;
}

/** The position of a key as YAML and JSON write it. */
function positionOfKey(text: string, key: string): number {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    const isAlone = at === 0 || /[\s{,["'-]/.test(text[at - 1]!);
    if (isAlone && /^["']?\s*:/.test(text.slice(at + key.length))) return at;
  }
  return -1;
}

/** Values in findings are JSON. In files texts often stand without quotes. */
function unquoted(value: string): string {
  if (!value.startsWith('"')) return /^[[{]/.test(value) ? "" : value;
  try {
    return String(JSON.parse(value));
  } catch {
    return ""; // Shortened: what is left is not in the text as it stands.
  }
}

/** Excerpts of files. Each file is read and split once. */
export class FileExcerpts {
  readonly #textOf: (file: string) => string | undefined;
  readonly #sources = new Map<string, SourceLines | undefined>();

  /** @param textOf The text of a file; undefined: the file is gone, and has no excerpts. */
  constructor(textOf: (file: string) => string | undefined) {
    this.#textOf = textOf;
  }

  /** The excerpt for a finding; undefined also for a finding outside of files. See {@linkcode excerptOf}. */
  of(found: Finding): SourceExcerpt | undefined {
    const { origin } = found.place;
    return origin?.from === "file" ? excerptOf(found, this.#sourceOf(origin.file)) : undefined;
  }

  #sourceOf(file: string): SourceLines | undefined {
    return this.#sources.getOrInsertComputed(file, () => {
      const text = this.#textOf(file);
      return text === undefined ? undefined : new SourceLines(text);
    });
  }
}
