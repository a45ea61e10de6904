/**
 * Remote clusters that this server leads: those whose system namespace names the server's own cluster, or all clusters,
 * in its annotation `topology.mesh.io/controlPlaneClusters` (names separated by commas, `*` for all). There it does the
 * work of a server of the cluster.
 *
 * @module
 */
import { commaList } from "../../kernel/text/comma_list.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { RemoteCluster } from "./cluster.ts";
import type { ClusterConnection } from "./connection.ts";

const ANNOTATION = "topology.mesh.io/controlPlaneClusters";

/** The duties in a cluster that this server leads. */
export interface LedDuties<State = unknown> {
  /** For pages. */
  states(): readonly State[];
  /** Ends all; nothing is written after that. */
  stop(): Promise<void>;
}

/** The duties in one cluster, by one connection. */
interface Led<State> {
  readonly connection: ClusterConnection;
  readonly duties: LedDuties<State>;
  /** The connection waits no more for the end of the duties. */
  readonly forget: () => void;
}

/** Whether a server leads a cluster. @param own Name of the server's cluster. */
export function isLed(facts: FactStore, systemNamespace: string, own: string): boolean {
  const named = facts.get("Namespace", "", systemNamespace)?.meta.annotations[ANNOTATION] ?? "";
  return commaList(named).some((name) => name === "*" || name === own);
}

export class LedClusters<State> {
  readonly #place: { readonly own: string; readonly systemNamespace: string };
  readonly #begin: (connection: ClusterConnection) => LedDuties<State>;
  readonly #led = new Map<string, Led<State>>();

  /** @param begin Begins the duties in a cluster; they end with its connection. */
  constructor(
    place: { readonly own: string; readonly systemNamespace: string },
    begin: (connection: ClusterConnection) => LedDuties<State>,
  ) {
    this.#place = place;
    this.#begin = begin;
  }

  /** Looks at a cluster whose namespaces or whose connection may have changed. */
  look({ id, connection }: Pick<RemoteCluster, "id" | "connection">): void {
    const { own, systemNamespace } = this.#place;
    const leads = connection !== undefined && isLed(connection.facts, systemNamespace, own);
    const before = this.#led.get(id);
    if (before !== undefined && (!leads || before.connection !== connection)) {
      this.#led.delete(id);
      // A connection that is over ends its duties itself.
      if (before.connection === connection) {
        before.forget();
        connection.until(before.duties.stop());
      }
    }
    if (!leads || this.#led.has(id)) return;
    const duties = this.#begin(connection);
    const forget = connection.onStop(() => duties.stop());
    this.#led.set(id, { connection, duties, forget });
  }

  /** A cluster is in no secret any more. */
  leave(id: string): void {
    this.#led.delete(id);
  }

  /** The states of the duties, by cluster. */
  *states(): Generator<{ readonly cluster: string } & State> {
    for (const [cluster, { duties }] of this.#led) for (const state of duties.states()) yield { cluster, ...state };
  }
}
