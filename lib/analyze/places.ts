/**
 * Where the fields are written that findings are about. An analysis knows objects and paths; lines and columns are in
 * the files, which are read again for this alone, and when somebody asks.
 *
 * @module
 */
import { fieldPositions, FileDocuments } from "../config/document/positions.ts";
import { type Finding, findingKeys } from "../finding/finding.ts";
import type { FileOrigin, Origin } from "../finding/origin.ts";

/** Findings whose places are to be found in one file. */
export interface UnplacedFindings {
  /** Names the file; line and path are those of the first object. */
  readonly file: FileOrigin;
  readonly findings: readonly Finding[];
}

/** Findings that are located in one go: the others have the line of their object until the next one. */
const MAX_LOCATED = 500;

/** Places of findings, each found once while its object stays where it is. */
export class FindingPlaces {
  readonly #originOf: (key: string) => Origin | undefined;
  readonly #located = new WeakMap<Finding, { readonly origin: Origin; readonly placed: Finding }>();

  readonly #isStale: (key: string) => boolean;

  /**
   * @param originOf Of an object or fact, by its key.
   * @param isStale Whether the text of an object is no more where it was read: its fields have no lines. Default: none is
   */
  constructor(originOf: (key: string) => Origin | undefined, isStale: (key: string) => boolean = () => false) {
    this.#originOf = originOf;
    this.#isStale = isStale;
  }

  /** A finding with its place: line and column of the field where they are known, else the line of the object. */
  placed(finding: Finding): Finding {
    const origin = this.#origin(finding);
    if (origin === undefined) return finding;
    const known = this.#located.get(finding);
    if (known?.origin === origin && !this.#isStaleFor(finding)) return known.placed;
    return { ...finding, place: { ...finding.place, origin, line: lineOf(origin) } };
  }

  /** Findings that are not located yet, by file. */
  missing(findings: Iterable<Finding>): UnplacedFindings[] {
    const byFile = new Map<string, { readonly file: FileOrigin; readonly findings: Finding[] }>();
    let count = 0;
    for (const finding of findings) {
      const origin = this.#origin(finding);
      if (origin?.from !== "file" || this.#located.get(finding)?.origin === origin) continue;
      if (this.#isStaleFor(finding)) continue;
      if (++count > MAX_LOCATED) break;
      const key = `${origin.source} ${origin.file}`;
      const there = byFile.get(key);
      if (there) there.findings.push(finding);
      else byFile.set(key, { file: origin, findings: [finding] });
    }
    return [...byFile.values()];
  }

  /**
   * Locates findings of one file, one object a step.
   *
   * @param bytes The file; undefined: it cannot be read, so the lines of the objects are all that is known.
   */
  *locate({ file, findings }: UnplacedFindings, bytes: Uint8Array | undefined): Generator<void, void> {
    const documents = bytes && new FileDocuments(bytes, file.file);
    const byOrigin = [...Map.groupBy(findings, (finding) => this.#origin(finding))];
    // Objects of one document follow each other, so that it is parsed once.
    for (const [origin, list] of byOrigin.sort(([a], [b]) => lineOf(a) - lineOf(b))) {
      if (origin?.from !== "file") continue;
      const fields = list.map(({ place: { field } }) => field);
      const positions = documents ? fieldPositions(documents, origin, fields) : [];
      for (const [at, finding] of list.entries()) {
        const position = positions[at] ?? { line: origin.line };
        this.#located.set(finding, {
          origin,
          placed: { ...finding, place: { ...finding.place, origin, ...position } },
        });
      }
      yield;
    }
  }

  #isStaleFor(finding: Finding): boolean {
    const [key] = findingKeys(finding);
    return key !== undefined && this.#isStale(key);
  }

  #origin(finding: Finding): Origin | undefined {
    const [key] = findingKeys(finding);
    return key === undefined ? undefined : this.#originOf(key);
  }
}

/** 1-based line of an object; 0: it is in no file. */
function lineOf(origin: Origin | undefined): number {
  return origin?.from === "file" ? origin.line : 0;
}
