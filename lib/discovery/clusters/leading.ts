/**
 * Remote clusters with this server as a leader. The annotation `topology.mesh.io/controlPlaneClusters` of a cluster's
 * system namespace names the leading clusters, separated by commas; `*` stands for all clusters. In a led cluster, this
 * server does the work of a server of the cluster.
 *
 * @module
 */
import { commaList } from "../../kernel/text/comma_list.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { RemoteCluster } from "./cluster.ts";
import type { ClusterConnection } from "./connection.ts";

const ANNOTATION = "topology.mesh.io/controlPlaneClusters";

/** The duties in a led cluster. */
export interface LedDuties<State = unknown> {
  /** For pages. */
  states(): readonly State[];
  /** Ends all duties. After the end nothing is written. */
  stop(): Promise<void>;
}

/** The duties in a cluster, over a single connection. */
interface Led<State> {
  readonly connection: ClusterConnection;
  readonly duties: LedDuties<State>;
  /** Tells the connection not to wait for the duties at its end. */
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

  /** @param begin Begins the duties in a cluster. The duties end with the connection. */
  constructor(
    place: { readonly own: string; readonly systemNamespace: string },
    begin: (connection: ClusterConnection) => LedDuties<State>,
  ) {
    this.#place = place;
    this.#begin = begin;
  }

  /** Looks at a cluster after a change of its namespaces or its connection. */
  look({ id, connection }: Pick<RemoteCluster, "id" | "connection">): void {
    const { own, systemNamespace } = this.#place;
    const leads = connection !== undefined && isLed(connection.facts, systemNamespace, own);
    const before = this.#led.get(id);
    if (before !== undefined && (!leads || before.connection !== connection)) {
      this.#led.delete(id);
      // An ended connection has ended its duties already.
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
