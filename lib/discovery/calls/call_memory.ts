/**
 * What workloads have called: the names of virtual hosts and clusters that their sidecars asked for. The next proxy of a
 * workload gets these names before its first request.
 *
 * A workload is a namespace, a service account and the name of the pods' owner, so that pods share what they called. The
 * account is proven: a pod of another account neither adds names nor takes the place of other names. Clients without a
 * proof share one part of the memory, apart from proven workloads.
 *
 * A name is called while a connected proxy has asked for it. A proxy that was handed a name does not ask, so the calls
 * of handed names cannot be seen. Therefore one proxy of the workload at a time is not handed the names whose last call
 * is old: if the proxy asks, the names are called again.
 *
 * @module
 */
import type { Clock } from "../../kernel/time/clock.ts";

/** Most names of a workload: as many as a sidecar asks for before it gets everything. */
export const MAX_CALLED = 512;

/** Most names in all. */
const MAX_NAMES = 200_000;

/** Most characters of a name: a host has 253, and further parts follow. */
const MAX_NAME = 512;

/** Most characters of a workload's name. */
const MAX_WORKLOAD = 253;

/** A workload whose proxies share what they called. */
export interface CallingWorkload {
  readonly namespace: string;
  /** The proven service account. Empty: nothing is proven. */
  readonly account: string;
  readonly name: string;
}

/** The last calls of a workload by name, in milliseconds since the epoch. */
export type LastCalls = ReadonlyMap<string, number>;

/** What a proxy of a workload is handed, and where its calls are noted. */
export interface CallRecord {
  /**
   * The names that the proxy gets before it asks.
   *
   * @param isBack The proxy has resources from an earlier stream, which it keeps.
   */
  handed(isBack: boolean): readonly string[];
  /** The proxy has asked for names that exist and that the proxy may see. */
  called(names: Iterable<string>): void;
  /** The proxy is gone. */
  close(): void;
}

interface RememberedCall {
  /** When a proxy that has asked was last connected. */
  at: number;
  /** Connected proxies that have asked. */
  proxies: number;
}

interface WorkloadCalls {
  readonly workload: CallingWorkload;
  readonly calls: Map<string, RememberedCall>;
  /** Connected proxies. */
  proxies: number;
  /** A connected proxy shows whether names with old calls are still called. */
  hasProbe: boolean;
}

/**
 * Workloads that share a part of the memory. When the memory is full, the largest part of the namespace with the most
 * names loses names: whoever may make accounts in a namespace pushes out nothing of other namespaces.
 */
interface MemoryShare {
  /** Empty: nothing is proven. */
  readonly namespace: string;
  /** The workload without a proxy for the longest time comes first. */
  readonly workloads: Map<string, WorkloadCalls>;
  names: number;
}

export interface CallMemoryOptions {
  /** For how long a name is remembered after its last call, in milliseconds. */
  readonly lifetime: number;
  readonly clock: Pick<Clock, "now">;
  /** Default: 200,000 names. */
  readonly maxNames?: number;
}

export class CallMemory {
  readonly lifetime: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #maxNames: number;
  readonly #shares = new Map<string, MemoryShare>();
  readonly #changed = new Set<string>();
  /** Remembered names by the namespace of the share. */
  readonly #byNamespace = new Map<string, number>();
  #names = 0;

  constructor({ lifetime, clock, maxNames = MAX_NAMES }: CallMemoryOptions) {
    this.lifetime = lifetime;
    this.#clock = clock;
    this.#maxNames = maxNames;
  }

  /** Remembered names in all. */
  get size(): number {
    return this.#names;
  }

  /** A proxy of a workload connects. */
  open(workload: CallingWorkload): CallRecord {
    const known = this.#workload(workload);
    const { workloads } = this.#share(workload);
    const key = keyOf(workload);
    workloads.delete(key);
    workloads.set(key, known);
    known.proxies++;
    return new ProxyCalls(this, known);
  }

  /** Workloads with names or proxies. */
  get workloadCount(): number {
    let count = 0;
    for (const { workloads } of this.#shares.values()) count += workloads.size;
    return count;
  }

  /** The remembered workloads. @param namespace Default: of all namespaces. */
  *workloads(namespace?: string): Iterable<{ readonly workload: CallingWorkload; readonly calls: LastCalls }> {
    for (const share of this.#shares.values()) {
      if (namespace !== undefined && share.namespace !== "" && share.namespace !== namespace) continue;
      for (const { workload, calls } of share.workloads.values()) {
        if (calls.size === 0 || namespace !== undefined && workload.namespace !== namespace) continue;
        yield { workload, calls: this.#lastCalls(calls) };
      }
    }
  }

  /** Adds calls that another server, or this server before its restart, has seen. Later calls win. */
  merge(workload: CallingWorkload, calls: LastCalls): void {
    const now = this.#clock.now();
    const known = this.#workload(workload);
    for (const [name, at] of calls) {
      const last = Math.min(at, now);
      if (now - last > this.lifetime || name.length > MAX_NAME) continue;
      const call = known.calls.get(name) ?? this.#add(known, name, last);
      if (call !== undefined) call.at = Math.max(call.at, last);
    }
    this.#dropEmpty(known);
  }

  /** The namespaces with other calls than at the last question. */
  takeChanged(): string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** The namespace is asked about again. */
  setChanged(namespace: string): void {
    this.#changed.add(namespace);
  }

  /** Forgets names whose last call is too long ago. */
  forgetOld(): void {
    const now = this.#clock.now();
    for (const { workloads } of this.#shares.values()) {
      for (const known of workloads.values()) {
        for (const [name, { at, proxies }] of known.calls) {
          if (proxies === 0 && now - at > this.lifetime) this.#drop(known, name);
        }
        this.#dropEmpty(known);
      }
    }
  }

  /** Whether the last call of a name is so old that a proxy should show whether the name is still called. */
  isOld({ at, proxies }: RememberedCall): boolean {
    return proxies === 0 && this.#clock.now() - at > this.lifetime / 2;
  }

  /** A proxy has asked for a name. Undefined: the workload has called too many names. */
  call(known: WorkloadCalls, name: string): RememberedCall | undefined {
    if (name.length > MAX_NAME) return undefined;
    const call = known.calls.get(name) ?? this.#add(known, name, this.#clock.now());
    if (call === undefined) return undefined;
    call.at = this.#clock.now();
    call.proxies++;
    this.setChanged(known.workload.namespace);
    return call;
  }

  /** A proxy that has asked for names is gone. */
  leave(known: WorkloadCalls, called: Iterable<RememberedCall>): void {
    known.proxies--;
    const now = this.#clock.now();
    for (const call of called) {
      call.proxies--;
      call.at = now;
    }
    this.#dropEmpty(known);
  }

  #lastCalls(calls: ReadonlyMap<string, RememberedCall>): LastCalls {
    const now = this.#clock.now();
    return new Map([...calls].map(([name, { at, proxies }]) => [name, proxies > 0 ? now : at]));
  }

  #share(workload: CallingWorkload): MemoryShare {
    const namespace = workload.account === "" ? "" : workload.namespace;
    return this.#shares.getOrInsertComputed(shareOf(workload), () => ({ namespace, workloads: new Map(), names: 0 }));
  }

  #workload(workload: CallingWorkload): WorkloadCalls {
    const made = () => ({ workload, calls: new Map(), proxies: 0, hasProbe: false });
    return this.#share(workload).workloads.getOrInsertComputed(keyOf(workload), made);
  }

  #add(known: WorkloadCalls, name: string, at: number): RememberedCall | undefined {
    if (known.calls.size >= MAX_CALLED && !this.#dropOldest(known, at)) return undefined;
    while (this.#names >= this.#maxNames) this.#dropFromLargest(known);
    const call = { at, proxies: 0 };
    known.calls.set(name, call);
    this.#count(known, 1);
    return call;
  }

  #drop(known: WorkloadCalls, name: string): void {
    if (!known.calls.delete(name)) return;
    this.#count(known, -1);
  }

  #count({ workload }: WorkloadCalls, more: number): void {
    const share = this.#share(workload);
    this.#names += more;
    share.names += more;
    const all = (this.#byNamespace.get(share.namespace) ?? 0) + more;
    if (all > 0) this.#byNamespace.set(share.namespace, all);
    else this.#byNamespace.delete(share.namespace);
  }

  /** Makes room for a name with a later call. */
  #dropOldest(known: WorkloadCalls, before: number): boolean {
    const [oldest] = [...known.calls].filter(([, { at, proxies }]) => proxies === 0 && at < before)
      .sort(([, a], [, b]) => a.at - b.at);
    if (oldest === undefined) return false;
    this.#drop(known, oldest[0]);
    return true;
  }

  /**
   * The largest part of the largest namespace loses the workload that is without a proxy for the longest time.
   *
   * @param kept A workload that gets a name now: it stays, without names.
   */
  #dropFromLargest(kept: WorkloadCalls): void {
    const [namespace] = [...this.#byNamespace].reduce((most, one) => one[1] > most[1] ? one : most);
    let largest: MemoryShare | undefined;
    for (const share of this.#shares.values()) {
      if (share.namespace === namespace && share.names > (largest?.names ?? 0)) largest = share;
    }
    let known: WorkloadCalls | undefined;
    for (const one of largest!.workloads.values()) {
      if (one.calls.size === 0) continue;
      known ??= one;
      if (one.proxies > 0) continue;
      known = one;
      break;
    }
    for (const name of [...known!.calls.keys()]) this.#drop(known!, name);
    if (known !== kept) this.#dropEmpty(known!);
  }

  #dropEmpty({ workload, calls, proxies }: WorkloadCalls): void {
    if (calls.size > 0 || proxies > 0) return;
    const { workloads } = this.#share(workload);
    workloads.delete(keyOf(workload));
    if (workloads.size === 0) this.#shares.delete(shareOf(workload));
  }
}

function keyOf({ namespace, name }: CallingWorkload): string {
  return `${namespace}/${name}`;
}

/** The key of the part of the memory that a workload shares with others. */
function shareOf({ namespace, account }: CallingWorkload): string {
  return account === "" ? "" : `${namespace}/${account}`;
}

/** The calls of one connected proxy. */
class ProxyCalls implements CallRecord {
  readonly #memory: CallMemory;
  readonly #known: WorkloadCalls;
  readonly #called = new Map<string, RememberedCall>();
  #isProbe = false;
  #isOpen = true;

  constructor(memory: CallMemory, known: WorkloadCalls) {
    this.#memory = memory;
    this.#known = known;
  }

  handed(isBack: boolean): readonly string[] {
    const all = [...this.#known.calls];
    const recent = all.filter(([, call]) => !this.#memory.isOld(call));
    const probes = !isBack && !this.#known.hasProbe && recent.length < all.length;
    if (probes) this.#isProbe = this.#known.hasProbe = true;
    return (probes ? recent : all).map(([name]) => name);
  }

  called(names: Iterable<string>): void {
    for (const name of names) {
      if (this.#called.has(name) || !this.#isOpen) continue;
      const call = this.#memory.call(this.#known, name);
      if (call !== undefined) this.#called.set(name, call);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#isProbe) this.#known.hasProbe = false;
    this.#memory.leave(this.#known, this.#called.values());
  }
}

/** The workload of a proxy. @param name Empty: no workload is known. */
export function callingWorkload(namespace: string, account: string, name: string): CallingWorkload | undefined {
  return name === "" || name.length > MAX_WORKLOAD ? undefined : { namespace, account, name };
}
