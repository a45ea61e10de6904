/**
 * The patches that were applied to one message: each is noted once, and what they changed decides how it is encoded.
 *
 * @module
 */
import type { CompiledPatch, PatchTarget, ReportPatch } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";

const NONE: ReadonlySet<PatchTarget> = new Set();

/** Gathers the patches of one message. */
export class AppliedPatches {
  /** Keys of their filters. */
  readonly #filters = new Set<string>();
  readonly #noted = new Set<CompiledPatch>();
  readonly #report: ReportNote;
  readonly #packed: ReadonlySet<PatchTarget>;
  #needsApi = false;
  #replacedHost = false;

  /**
   * @param report Hears of each patch once.
   * @param packed Targets that lie packed in the message, so that its own encoder does not see them. Default: none
   */
  constructor(report: ReportNote, packed: ReadonlySet<PatchTarget> = NONE) {
    this.#report = report;
    this.#packed = packed;
  }

  /** To be called for each place. */
  readonly note: ReportPatch = ({ patch, error, closes }) => {
    if (error === undefined || closes) {
      this.#filters.add(patch.filter);
      if (patch.applyTo === "VIRTUAL_HOST" && patch.operation === "REPLACE") this.#replacedHost = true;
      if ((patch.needsApi || closes) && !this.#packed.has(patch.applyTo)) this.#needsApi = true;
    }
    if (this.#noted.has(patch)) return;
    this.#noted.add(patch);
    this.#report(error === undefined ? { patch } : { patch, error });
  };

  /** Whether none was applied. */
  get none(): boolean {
    return this.#filters.size === 0;
  }

  /** Whether one put another virtual host in the place of the message, or of one in it. */
  get replacedHost(): boolean {
    return this.#replacedHost;
  }

  /** A message in place of another one, with the filters among its causes. */
  to<B extends Built<unknown>>(built: B, message: B["message"]): B {
    const causes = [...new Set([...built.causes, ...this.#filters])];
    return { ...built, message, causes, ...(this.#needsApi ? { needsApi: true } : {}) };
  }
}
