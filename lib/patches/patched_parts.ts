/**
 * Parts shared by many listeners, for example filters of passed-through connections. Each part is patched once, for any
 * number of proxies.
 *
 * @module
 */
import { hash } from "node:crypto";
import type { CompiledPatch, PatchOutcome, ReportPatch } from "./types.ts";

interface PartResult<T> {
  readonly result: T;
  readonly outcomes: readonly PatchOutcome[];
}

/** Limit of remembered results per part, one per list of patches. */
const MAX_LISTS = 4;

const numbers = new WeakMap<CompiledPatch, number>();
let next = 0;

function numberOf(patch: CompiledPatch): number {
  let number = numbers.get(patch);
  if (number === undefined) numbers.set(patch, number = next++);
  return number;
}

/** A unique name of a list of patches. */
function nameOf(patches: readonly CompiledPatch[]): string {
  return patches.map(numberOf).join();
}

/** Applies patches, and keeps their reported outcomes. */
function applied<T>(apply: (report: ReportPatch) => T): PartResult<T> {
  const outcomes: PatchOutcome[] = [];
  return { result: apply((outcome) => outcomes.push(outcome)), outcomes };
}

/** Reports the outcomes of patches again. */
function reported<T>({ result, outcomes }: PartResult<T>, report: ReportPatch): T {
  for (const outcome of outcomes) report(outcome);
  return result;
}

/** Results by part and patches, kept as long as the part. */
export class PatchedParts<T extends object> {
  readonly #known = new WeakMap<T, Map<string, PartResult<T>>>();

  /**
   * The part after exactly these patches.
   *
   * @param apply Applies the patches. Depends on nothing else. Called only for an unknown result.
   */
  patched(
    part: T,
    patches: readonly CompiledPatch[],
    report: ReportPatch,
    apply: (report: ReportPatch) => T,
  ): T {
    const key = nameOf(patches);
    let results = this.#known.get(part);
    let known = results?.get(key);
    if (known === undefined) {
      known = applied(apply);
      if (results === undefined) this.#known.set(part, results = new Map());
      if (results.size >= MAX_LISTS) results.clear();
      results.set(key, known);
    }
    return reported(known, report);
  }
}

/** Limit of remembered contents: a mesh has few lists of HTTP filters, of some kB each. */
const MAX_CONTENTS = 256;

/** Results by content and patches, for parts that are encoded anew for each proxy and hardly differ. */
export class PatchedContents {
  readonly #known = new Map<string, PartResult<Uint8Array | undefined>>();

  /**
   * The content after exactly these patches.
   *
   * @param apply Applies the patches. Depends on nothing else. Called only for an unknown result.
   * @returns Undefined when nothing changed.
   */
  patched(
    content: Uint8Array,
    patches: readonly CompiledPatch[],
    report: ReportPatch,
    apply: (report: ReportPatch) => Uint8Array | undefined,
  ): Uint8Array | undefined {
    const key = `${hash("sha256", content, "hex")} ${nameOf(patches)}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = applied(apply);
      const [oldest] = this.#known.keys();
      if (this.#known.size >= MAX_CONTENTS && oldest !== undefined) this.#known.delete(oldest);
      this.#known.set(key, known);
    }
    return reported(known, report);
  }
}
