/**
 * Findings about the ports of proxies that are assumed alone: an endpoint of a ServiceEntry may be a workload with a
 * sidecar, or a gateway of another mesh that many services share, and nothing says which.
 *
 * @module
 */
import { type Finding, findingKeys } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { serviceKey } from "../../registry/types.ts";
import { proxiesOf } from "../workloads.ts";

export class AssumedProxies {
  readonly #mesh: OfflineMesh;
  #known: ReadonlyMap<string, boolean> | undefined;

  constructor(mesh: OfflineMesh) {
    this.#mesh = mesh;
  }

  /** Whether a finding is about a port of workloads beside none of which a proxy is known. */
  concernedAlone(found: Finding): boolean {
    if (found.name !== "inbound-conflict") return false;
    const { aggregate, endpoints } = this.#mesh.pipeline;
    const keys = new Set(findingKeys(found));
    const addresses = [...aggregate.services()].filter(({ cause }) => keys.has(cause))
      .flatMap((service) => endpoints.endpoints(serviceKey(service)).map(({ address }) => address));
    return addresses.length > 0 && addresses.every((address) => this.#assumed().get(address) === true);
  }

  /** Whether the proxy of an address is assumed: an entry lists the endpoint, and no text says what runs there. */
  #assumed(): ReadonlyMap<string, boolean> {
    return this.#known ??= new Map(
      proxiesOf(this.#mesh).proxies.map((
        { address, entry, runs },
      ) => [address, entry !== undefined && runs === undefined]),
    );
  }
}
