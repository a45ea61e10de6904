/**
 * The patches applied to a message. Each patch is noted once, and the patches' changes determine the encoder.
 *
 * @module
 */
import type { CompiledPatch, PatchTarget, ReportPatch } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";

const NONE: ReadonlySet<PatchTarget> = new Set();

/** Gathers the patches of a message. */
export class AppliedPatches {
  /** Keys of the applied ProxyFilters. */
  readonly #filters = new Set<string>();
  readonly #noted = new Set<CompiledPatch>();
  readonly #report: ReportNote;
  readonly #packed: ReadonlySet<PatchTarget>;
  #needsApi = false;
  #replacedHost = false;

  /**
   * @param report Receives each patch once.
   * @param packed Targets packed inside the message, invisible to the message's own encoder. Default: none.
   */
  constructor(report: ReportNote, packed: ReadonlySet<PatchTarget> = NONE) {
    this.#report = report;
    this.#packed = packed;
  }

  /** Call for each patched place. */
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

  /** Whether no patch was applied. */
  get none(): boolean {
    return this.#filters.size === 0;
  }

  /** Whether a patch replaced the message, or a part of the message, with another virtual host. */
  get replacedHost(): boolean {
    return this.#replacedHost;
  }

  /** The patched message, with the ProxyFilters among the causes. */
  to<B extends Built<unknown>>(built: B, message: B["message"]): B {
    const causes = [...new Set([...built.causes, ...this.#filters])];
    return { ...built, message, causes, ...(this.#needsApi ? { needsApi: true } : {}) };
  }
}
