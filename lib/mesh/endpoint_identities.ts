/**
 * Facts about a service's endpoints that clients need before connecting: the identities in certificates, whether all
 * endpoints accept mutual TLS, and whether an endpoint takes connections by HBONE. Endpoints come and go far more often
 * than these facts change, so resources made from the facts alone stay unchanged.
 *
 * @module
 */
import { isHboneEndpoint } from "../registry/labels.ts";
import type { Endpoint, ServiceKey } from "../registry/types.ts";

/** Facts about all endpoints of a service together. */
export interface ServiceIdentities {
  /** `ns/NAMESPACE/sa/ACCOUNT` of each service account, sorted. */
  readonly accounts: readonly string[];
  /** Names of ports where all endpoints accept mutual TLS of the mesh. */
  readonly mutualPorts: ReadonlySet<string>;
  /** Names of ports with an endpoint for HBONE. */
  readonly hbonePorts: ReadonlySet<string>;
}

/** Gives the endpoints of services. */
interface EndpointLists {
  endpoints(key: ServiceKey): readonly Endpoint[];
}

interface KnownIdentities {
  readonly identities: ServiceIdentities;
  readonly content: string;
}

/** Facts about services, computed on demand. */
export class EndpointIdentities {
  readonly #source: EndpointLists;
  readonly #known = new Map<ServiceKey, KnownIdentities>();

  constructor(source: EndpointLists) {
    this.#source = source;
  }

  /** The facts about a service. The same object until a fact changes. */
  of(key: ServiceKey): ServiceIdentities {
    let known = this.#known.get(key);
    if (!known) this.#known.set(key, known = factsOf(this.#source.endpoints(key)));
    return known.identities;
  }

  /**
   * Looks at the endpoints of a service again.
   *
   * @returns Whether an earlier answer changed.
   */
  changed(key: ServiceKey): boolean {
    const before = this.#known.get(key);
    if (!before) return false;
    const now = factsOf(this.#source.endpoints(key));
    if (now.content === before.content) return false;
    this.#known.set(key, now);
    return true;
  }

  /** Forgets a removed service. */
  forget(key: ServiceKey): void {
    this.#known.delete(key);
  }
}

function factsOf(endpoints: readonly Endpoint[]): KnownIdentities {
  const accounts = new Set<string>();
  const ports = new Map<string, boolean>();
  const hbone = new Set<string>();
  for (const endpoint of endpoints) {
    const { namespace, serviceAccount, portName, tlsMode } = endpoint;
    if (serviceAccount !== "") accounts.add(`ns/${namespace}/sa/${serviceAccount}`);
    if (isHboneEndpoint(endpoint)) hbone.add(portName);
    ports.set(portName, tlsMode === "mesh" && ports.get(portName) !== false);
  }
  const identities = {
    accounts: [...accounts].sort(),
    mutualPorts: new Set([...ports].flatMap(([name, all]) => all ? [name] : []).sort()),
    hbonePorts: new Set([...hbone].sort()),
  };
  const { accounts: names, mutualPorts, hbonePorts } = identities;
  return { identities, content: JSON.stringify([names, [...mutualPorts], [...hbonePorts]]) };
}
