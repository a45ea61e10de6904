/**
 * The connected proxies of Gateways, and how many of them have an object in force.
 *
 * The proxies of a Gateway are its workloads. A proxy has acknowledged an object when it has acknowledged the push of the
 * object's last change. The resources of proxies are not looked at, so a count is cheap with any number of proxies.
 *
 * @module
 */
import type { GatewayView } from "../../gateway_api/attach/types.ts";
import type { ObjectProgress } from "../../status/progress.ts";
import type { PushLedger } from "../../xds/ledger.ts";
import type { PushProgress } from "../../xds/progress.ts";

/** A connected gateway proxy. */
export interface ConnectedProxy {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly progress: PushProgress;
}

/** An object in question. */
export interface AskedObject {
  /** Its key, and keys of objects derived from it: a refusal of one of them counts. */
  readonly keys: readonly string[];
  /** The push of the last change. */
  readonly changedIn: number;
  /** Whether the last change waits for its push. */
  readonly isWaiting: boolean;
}

/** What proxies have of an object. */
export type ProxyReach = Omit<ObjectProgress, "generation">;

/** Most characters of a client's words. */
const MOST_TEXT = 500;

const NOWHERE: ProxyReach = { total: 0, live: 0, rejected: 0, reason: "" };

/** The proxies of one Gateway at a moment. */
class ProxyGroup {
  readonly #total: number;
  /** Acknowledged pushes of proxies without refusals, the smallest first. */
  readonly #acked: readonly number[];
  readonly #refusing: readonly PushProgress[];

  constructor(all: readonly PushProgress[]) {
    this.#total = all.length;
    const healthy = all.filter((one) => !one.failing() && !one.refusals.refuses);
    this.#acked = healthy.map(({ acked }) => acked).sort((a, b) => a - b);
    this.#refusing = all.filter((one) => one.refusals.refuses);
  }

  reach({ keys, changedIn, isWaiting }: AskedObject): ProxyReach {
    if (this.#total === 0) return NOWHERE;
    let live = isWaiting ? 0 : this.#acked.length - firstFrom(this.#acked, changedIn);
    let [rejected, reason] = [0, ""];
    for (const progress of this.#refusing) {
      const words = keys.map((key) => progress.refusals.lacks(key)).find((one) => one !== undefined);
      if (words === undefined) live += Number(!isWaiting && !progress.failing() && progress.acked >= changedIn);
      else if (words !== "") {
        rejected++;
        const text = words.slice(0, MOST_TEXT);
        if (reason === "" || text < reason) reason = text;
      }
    }
    return { total: this.#total, live, rejected, reason };
  }
}

/** The position of the first number from a bound on, in a sorted list. */
function firstFrom(sorted: readonly number[], bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The parts of a view that say where its proxies are. */
export type ServingView = Pick<GatewayView, "gateway" | "workloads">;

/** The proxies of all Gateways. A list of proxies is made again only when proxies come or go. */
export class GatewayProxies {
  readonly #ledger: Pick<PushLedger, "revision" | "members">;
  readonly #gatewayProxies: () => Iterable<ConnectedProxy>;
  #members = -1;
  #byNamespace = new Map<string, ConnectedProxy[]>();
  #revision = -1;
  readonly #groups = new Map<string, { readonly workloads: ServingView["workloads"]; readonly group: ProxyGroup }>();

  /** @param gatewayProxies The connected gateways and waypoints. */
  constructor(ledger: Pick<PushLedger, "revision" | "members">, gatewayProxies: () => Iterable<ConnectedProxy>) {
    this.#ledger = ledger;
    this.#gatewayProxies = gatewayProxies;
  }

  /** What the proxies of a Gateway have of an object. */
  reach(view: ServingView, asked: AskedObject): ProxyReach {
    return this.#group(view).reach(asked);
  }

  /** Keys of all objects that a gateway proxy refuses. */
  refused(): Set<string> {
    this.#look();
    const all = [...this.#byNamespace.values()].flat();
    return new Set(all.flatMap(({ progress: { refusals } }) => [...refusals.lacked()].map(([key]) => key)));
  }

  #group({ gateway: { key, meta: { namespace } }, workloads }: ServingView): ProxyGroup {
    this.#look();
    const known = this.#groups.get(key);
    if (known !== undefined && known.workloads === workloads) return known.group;
    const labels = Object.entries(workloads ?? {});
    const own = labels.length === 0
      ? []
      : (this.#byNamespace.get(namespace) ?? []).filter((proxy) =>
        labels.every(([name, value]) => proxy.labels[name] === value)
      );
    const group = new ProxyGroup(own.map(({ progress }) => progress));
    this.#groups.set(key, { workloads, group });
    return group;
  }

  #look(): void {
    const { members, revision } = this.#ledger;
    if (revision !== this.#revision) this.#groups.clear();
    this.#revision = revision;
    if (members === this.#members) return;
    this.#members = members;
    this.#byNamespace = Map.groupBy(this.#gatewayProxies(), ({ namespace }) => namespace);
  }
}
