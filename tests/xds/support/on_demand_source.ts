/**
 * A source in memory that looks up wanted resources, and decides on the test's command. The source forgets unwanted
 * resources.
 * @module
 */
import type { NameSet } from "../../../lib/resource/name_set.ts";
import type { ConnectControl, ConnectRequest } from "../../../lib/xds/protocol/source.ts";
import { MemorySource, MemoryView, textResource } from "./memory_source.ts";

interface Wanted {
  readonly views: Set<OnDemandView>;
  decided: boolean;
}

export class OnDemandSource extends MemorySource {
  /** Looked-up names, in order. */
  readonly lookups: string[] = [];
  readonly #wanted = new Map<string, Map<string, Wanted>>();
  readonly #decidedAtOnce: ReadonlySet<string>;

  /** @param decidedAtOnce names that are never pending */
  constructor(types: readonly string[], decidedAtOnce: readonly string[] = []) {
    super();
    this.#decidedAtOnce = new Set(decidedAtOnce);
    for (const type of types) this.#wanted.set(type, new Map());
    this.serve(...types);
  }

  override connect(request: ConnectRequest, control?: ConnectControl): OnDemandView {
    const view = new OnDemandView(this, request.node.id!, control!);
    this.views.push(view);
    return view;
  }

  /** Names in demand now, sorted. */
  wanted(type: string): string[] {
    return [...this.#wanted.get(type)!.keys()].sort();
  }

  /** Whether a name is wanted and not decided. */
  isPending(type: string, name: string): boolean {
    return this.#wanted.get(type)!.get(name)?.decided === false;
  }

  /** Decides about names and answers their askers. The revision of views stays. */
  decide(type: string, names: readonly string[], value: string | undefined): void {
    const before = this.shared.get(type)!;
    const resources = value === undefined ? [] : names.map((name) => textResource(type, name, `${name}=${value}`));
    this.shared.set(type, before.with(resources, value === undefined ? names : []));
    const answers = new Map<OnDemandView, string[]>();
    const table = this.#wanted.get(type)!;
    for (const name of names) {
      const wanted = table.get(name);
      if (wanted !== undefined) wanted.decided = true;
      // Askers for everything hear of unasked names, too: the revision of their views stays.
      for (const view of new Set([...wanted?.views ?? [], ...table.get("*")?.views ?? []])) {
        const list = answers.get(view);
        if (list === undefined) answers.set(view, [name]);
        else list.push(name);
      }
    }
    for (const [view, list] of answers) view.control.answered(type, list);
  }

  /** A view wants names. */
  want(view: OnDemandView, type: string, names: NameSet): string[] {
    const table = this.#wanted.get(type);
    const pending: string[] = [];
    if (table === undefined) return pending;
    for (const name of names) {
      let wanted = table.get(name);
      if (wanted === undefined) {
        this.lookups.push(name);
        table.set(name, wanted = { views: new Set(), decided: this.#decidedAtOnce.has(name) });
      }
      wanted.views.add(view);
      if (!wanted.decided) pending.push(name);
    }
    return pending;
  }

  /** A view wants names no longer. */
  unwant(view: OnDemandView, type: string, names: Iterable<string>): void {
    const table = this.#wanted.get(type);
    for (const name of names) {
      const wanted = table?.get(name);
      if (wanted?.views.delete(view) === true && wanted.views.size === 0) table!.delete(name);
    }
  }

  /** A view wants nothing any longer. */
  release(view: OnDemandView): void {
    for (const [type, table] of this.#wanted) this.unwant(view, type, [...table.keys()]);
  }
}

/** A single proxy's view. */
export class OnDemandView extends MemoryView {
  readonly #source: OnDemandSource;

  constructor(source: OnDemandSource, id: string, readonly control: ConnectControl) {
    super(source, id);
    this.#source = source;
  }

  want(typeUrl: string, names: NameSet): string[] {
    return this.#source.want(this, typeUrl, names);
  }

  unwant(typeUrl: string, names: NameSet): void {
    this.#source.unwant(this, typeUrl, names);
  }

  override close(): void {
    super.close();
    this.#source.release(this);
  }
}
