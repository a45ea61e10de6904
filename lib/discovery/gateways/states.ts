/**
 * The states of the deployments of managed Gateways, for pages. Only the leading server knows the states. The object exists
 * before the duty begins, because pages are served before.
 *
 * @module
 */

/**
 * How far a deployment is.
 *
 * - `applied`: all objects are as they should be.
 * - `waiting`: the pods are of an earlier version, and get their turn.
 * - `refused`: nothing is applied, for the reasons.
 * - `foreign`: some objects are somebody else's; see the reasons.
 * - `failed`: the API has refused an object; the server tries again.
 */
type DeploymentState = "applied" | "waiting" | "refused" | "foreign" | "failed";

/** A managed Gateway. */
export interface DeploymentProgress {
  /** `namespace/name`. */
  readonly gateway: string;
  /** Name of the Deployment; empty: not known. */
  readonly deployment: string;
  readonly state: DeploymentState;
  /** Turn among the waiting Gateways, from 1; 0: the Gateway does not wait. */
  readonly turn: number;
  readonly reasons: readonly string[];
}

/** The states of the Gateways that this server deploys. */
export class DeployedGateways {
  readonly #states = new Map<string, Omit<DeploymentProgress, "gateway" | "turn">>();
  /** Waiting Gateways in their order. */
  #waiting: () => readonly string[] = () => [];

  /** Begins a term of leadership. */
  begin(waiting: () => readonly string[]): void {
    this.#states.clear();
    this.#waiting = waiting;
  }

  /** Ends a term: another server knows the states. */
  end(): void {
    this.begin(() => []);
  }

  /** Takes the state of a Gateway; undefined: this server does not deploy the Gateway. */
  take(gateway: string, state: Omit<DeploymentProgress, "gateway" | "turn"> | undefined): void {
    if (state === undefined) this.#states.delete(gateway);
    else this.#states.set(gateway, state);
  }

  /** All Gateways, sorted; empty while another server leads. */
  all(): readonly DeploymentProgress[] {
    const turns = new Map(this.#waiting().map((gateway, index) => [gateway, index + 1]));
    return [...this.#states]
      .map(([gateway, state]) => ({ gateway, ...state, turn: turns.get(gateway) ?? 0 }))
      .sort((a, b) => a.gateway < b.gateway ? -1 : 1);
  }
}
