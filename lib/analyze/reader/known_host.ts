/**
 * The facts about a host, from every source.
 *
 * @module
 */
import type { ServiceFact } from "../../config/facts/view.ts";
import type { Service } from "../../registry/types.ts";

/** A port of a host. */
export interface KnownPort {
  readonly number: number;
  readonly name: string;
  /** A port for datagrams. Proxies have no cluster for such a port. */
  readonly datagrams: boolean;
}

/** A host named by an object or fact. */
export interface KnownHost {
  /** The host's own name, or the covering wildcard. */
  readonly host: string;
  /** Namespace of the service. */
  readonly namespace: string;
  /** Absent: not known. */
  readonly ports?: readonly KnownPort[];
  /** Key of the object or fact that names the host; absent: the host is assumed. */
  readonly cause?: string;
}

/** A host of the mesh. */
export function ofService({ hostname, namespace, ports, cause }: Service): KnownHost {
  return {
    host: hostname,
    namespace,
    ports: ports.map(({ port, name, protocol }) => portOf(port, name, protocol)),
    cause,
  };
}

/** A host of the orchestrator. */
export function ofFact({ host, fact: { key, meta, spec } }: ServiceFact): KnownHost {
  const ports = spec.ports.map(({ port, name, protocol }) => portOf(port, name, protocol));
  return { host, namespace: meta.namespace, ports, cause: key };
}

function portOf(number: number, name: string, protocol: string): KnownPort {
  return { number, name, datagrams: protocol === "UDP" || protocol === "SCTP" };
}

/** The namespace of a host `name.namespace.svc.<suffix>`; undefined: no such host. */
export function serviceNamespace(host: string, suffix: string): string | undefined {
  const end = suffix === "" ? "" : `.svc.${suffix}`;
  if (!host.endsWith(end)) return undefined;
  const [name = "", namespace = "", ...more] = host.slice(0, host.length - end.length).split(".");
  return name === "" || name === "*" || namespace === "" || more.length > 0 ? undefined : namespace;
}
