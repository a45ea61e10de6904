/**
 * Known findings, not reported again: codes suppressed by a command line, and a baseline. A baseline lists the findings
 * at the time of its writing.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import * as z from "zod";
import { readCode } from "../../finding/codes.ts";
import { type Finding, findingKeys } from "../../finding/finding.ts";
import { typedKey } from "../../config/typed/typed_kind.ts";

/** A suppression or a baseline that cannot be read. The message says what was expected. */
export class UnreadableKnown extends Error {
  override readonly name = "UnreadableKnown";
}

/** Whether a finding is suppressed. */
export type Suppression = (found: Finding) => boolean;

/**
 * Reads suppressions: `MSH0101` (or `IST0101`), or `MSH0101=VirtualService/shop/*` for objects by a pattern. `*` stands
 * for any characters.
 *
 * @throws {UnreadableKnown} naming every text that is not a suppression
 */
export function readSuppressions(texts: readonly string[]): Suppression {
  const wrong: string[] = [];
  const rules = texts.flatMap((text) => {
    const [code = "", ...pattern] = text.split("=");
    const read = readCode(code);
    const objects = typedKey(pattern.join("=").trim().replace(/ +/g, "/"));
    if (read === undefined || (pattern.length > 0 && objects === "")) wrong.push(JSON.stringify(text));
    return read === undefined ? [] : [{ code: read, objects: pattern.length === 0 ? undefined : patternOf(objects) }];
  });
  if (wrong.length > 0) {
    throw new UnreadableKnown(
      `got ${wrong.join(", ")}, expected a code (MSH0101, IST0101), or code=kind/namespace/name`,
    );
  }
  return (found) =>
    rules.some(({ code, objects }) =>
      code === found.code && (objects === undefined || findingKeys(found).slice(0, 1).some((key) => objects(key)))
    );
}

/**
 * Whether a text matches a pattern. Stars stand for any characters, or for none. The first place of each part is the
 * right place.
 */
function patternOf(pattern: string): (text: string) => boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    let at = text.startsWith(first) ? first.length : -1;
    for (const part of others) {
      const found = at < 0 ? -1 : text.indexOf(part, at);
      at = found < 0 ? -1 : found + part.length;
    }
    return at >= 0 && text.length - last.length >= at && text.endsWith(last);
  };
}

const baselineFile = z.object({
  version: z.literal(1),
  findings: z.array(z.object({
    code: z.string(),
    name: z.string(),
    object: z.string(),
    field: z.string(),
    value: z.string(),
  })),
});

/** A baseline as written. */
export type Baseline = z.infer<typeof baselineFile>;

/** A finding of a baseline, without its line: a finding is still known after a move. */
type KnownFinding = Baseline["findings"][number];

export function baselineOf(findings: readonly Finding[]): Baseline {
  const known = findings.map(knownOf).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  return { version: 1, findings: known };
}

/** Reads a baseline. @throws {UnreadableKnown} when the text is none */
export function readBaseline(text: string): Baseline {
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch (error) {
    throw new UnreadableKnown(`the file is not JSON: ${errorMessage(error)}`);
  }
  const read = baselineFile.safeParse(tree);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UnreadableKnown(`the file is not a baseline: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}

/** Findings, split by a baseline. */
export interface SplitFindings {
  readonly fresh: readonly Finding[];
  readonly known: readonly Finding[];
  /** Findings of the baseline that are gone. */
  readonly gone: number;
}

/** Splits findings. The baseline covers as many equal findings as it lists. */
export function splitBy(baseline: Baseline, findings: readonly Finding[]): SplitFindings {
  const left = new Map<string, number>();
  for (const one of baseline.findings) left.set(idOf(one), (left.get(idOf(one)) ?? 0) + 1);
  const [fresh, known]: [Finding[], Finding[]] = [[], []];
  for (const found of findings) {
    const id = idOf(knownOf(found));
    const count = left.get(id) ?? 0;
    if (count > 0) left.set(id, count - 1);
    (count > 0 ? known : fresh).push(found);
  }
  return { fresh, known, gone: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

function knownOf(found: Finding): KnownFinding {
  const { code, name, value, place: { field, origin } } = found;
  const object = findingKeys(found)[0] ?? (origin?.from === "file" ? origin.file : "");
  return { code, name, object, field, value };
}

/** A fingerprint for programs, equal for the same finding on another line. */
export function findingFingerprint(found: Finding): string {
  return idOf(knownOf(found));
}

function idOf({ code, name, object, field, value }: KnownFinding): string {
  return JSON.stringify([code, name, object, field, value]);
}
