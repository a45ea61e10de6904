/**
 * The places of the fields in findings. An analysis knows objects and paths. Lines and columns are in the files. The
 * files are read again only when somebody asks for places.
 *
 * @module
 */
import { fieldPositions, FileDocuments } from "../config/document/positions.ts";
import { type Finding, findingKeys } from "../finding/finding.ts";
import type { FileOrigin, Origin } from "../finding/origin.ts";

/** Findings in a file whose places are not known yet. */
export interface UnplacedFindings {
  /** The file, with the line and path of the first object. */
  readonly file: FileOrigin;
  readonly findings: readonly Finding[];
}

/** Findings located in each pass. The others have the line of their object until the next pass. */
const MAX_LOCATED = 500;

/** Places of findings. Each place is found once, until the object moves. */
export class FindingPlaces {
  readonly #originOf: (key: string) => Origin | undefined;
  readonly #located = new WeakMap<Finding, { readonly origin: Origin; readonly placed: Finding }>();

  readonly #isStale: (key: string) => boolean;

  /**
   * @param originOf Of an object or fact, by its key.
   * @param isStale Whether an object's text is no longer at its former place, so that its fields have no lines.
   * Default: no object is stale.
   */
  constructor(originOf: (key: string) => Origin | undefined, isStale: (key: string) => boolean = () => false) {
    this.#originOf = originOf;
    this.#isStale = isStale;
  }

  /** A finding with its place: line and column of the field if known, or else the line of the object. */
  placed(finding: Finding): Finding {
    const origin = this.#origin(finding);
    if (origin === undefined) return finding;
    const known = this.#located.get(finding);
    if (known?.origin === origin && !this.#isStaleFor(finding)) return known.placed;
    return { ...finding, place: { ...finding.place, origin, line: lineOf(origin) } };
  }

  /** Findings without a known place, by file. */
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
   * Locates findings of a file, an object at each step.
   *
   * @param bytes The file; undefined: the file cannot be read, so only the lines of the objects are known.
   */
  *locate({ file, findings }: UnplacedFindings, bytes: Uint8Array | undefined): Generator<void, void> {
    const documents = bytes && new FileDocuments(bytes, file.file);
    const byOrigin = [...Map.groupBy(findings, (finding) => this.#origin(finding))];
    // Objects of the same document follow each other, so each document is parsed once.
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

/** 1-based line of an object; 0: the object is in no file. */
function lineOf(origin: Origin | undefined): number {
  return origin?.from === "file" ? origin.line : 0;
}
