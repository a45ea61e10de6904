/**
 * The facts that clients must know about a service's endpoints before they connect: the identities that their
 * certificates may have, whether all of them accept mutual TLS, and whether one takes connections by HBONE. Endpoints
 * come and go far more often than these facts change, so resources that are made from the facts alone stay as they are.
 *
 * @module
 */
import { takesHbone } from "../registry/labels.ts";
import type { Endpoint, ServiceKey } from "../registry/types.ts";

/** Facts about all endpoints of one service together. */
export interface ServiceIdentities {
  /** `ns/NAMESPACE/sa/ACCOUNT` of each service account, sorted. */
  readonly accounts: readonly string[];
  /** Names of ports with endpoints, all of which accept mutual TLS of the mesh. */
  readonly mutualPorts: ReadonlySet<string>;
  /** Names of ports with an endpoint that takes connections by HBONE. */
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

/** Facts about services that were asked about. */
export class EndpointIdentities {
  readonly #source: EndpointLists;
  readonly #known = new Map<ServiceKey, KnownIdentities>();

  constructor(source: EndpointLists) {
    this.#source = source;
  }

  /** The facts about a service; the same object while they are the same. */
  of(key: ServiceKey): ServiceIdentities {
    let known = this.#known.get(key);
    if (!known) this.#known.set(key, known = factsOf(this.#source.endpoints(key)));
    return known.identities;
  }

  /** Looks at the endpoints of a service again; whether an earlier answer to anyone was another one. */
  changed(key: ServiceKey): boolean {
    const before = this.#known.get(key);
    if (!before) return false;
    const now = factsOf(this.#source.endpoints(key));
    if (now.content === before.content) return false;
    this.#known.set(key, now);
    return true;
  }

  /** Forgets a service that is gone. */
  forget(key: ServiceKey): void {
    this.#known.delete(key);
  }
}

function factsOf(endpoints: readonly Endpoint[]): KnownIdentities {
  const accounts = new Set<string>();
  const ports = new Map<string, boolean>();
  const hbone = new Set<string>();
  for (const { namespace, serviceAccount, portName, tlsMode, labels } of endpoints) {
    if (serviceAccount !== "") accounts.add(`ns/${namespace}/sa/${serviceAccount}`);
    if (takesHbone(labels)) hbone.add(portName);
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
