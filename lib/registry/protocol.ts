/**
 * The application protocol of a port, from names and words of the port's owner.
 *
 * @module
 */
import type { Protocol } from "./types.ts";

const BY_NAME: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ["http", "HTTP"],
  ["http2", "HTTP2"],
  ["grpc", "GRPC"],
  ["grpc-web", "GRPC-Web"],
  ["https", "HTTPS"],
  ["http_proxy", "HTTP_PROXY"],
  ["tcp", "TCP"],
  ["tls", "TLS"],
  ["udp", "UDP"],
  ["mongo", "Mongo"],
  ["mysql", "MySQL"],
  ["redis", "Redis"],
]);

/** Application protocols named by the orchestrator: the part after the slash of `kubernetes.io/...`. */
const ORCHESTRATOR_NAMES: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ["h2c", "HTTP2"],
  ["ws", "HTTP"],
  ["wss", "HTTPS"],
]);

/**
 * Ports on which servers speak first (SMTP 25, DNS 53, MySQL 3306, MongoDB 27017). A proxy that waits for the client's
 * first bytes to sniff would hang both sides, so without a declared protocol these ports are TCP.
 */
const SERVER_SPEAKS_FIRST: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

/**
 * The protocol with a name, in any case.
 *
 * @returns `Unsupported` (sniff) when the name is empty or unknown.
 */
export function parseProtocol(name: string | undefined): Protocol {
  return (name === undefined ? undefined : BY_NAME.get(name.toLowerCase())) ?? "Unsupported";
}

/** The protocol for people; an undeclared protocol has no name. */
export function protocolText(protocol: Protocol): string {
  return protocol === "Unsupported" ? "undeclared" : protocol;
}

/** A port of an orchestrator's object. */
export interface PortFacts {
  /** Port for clients. */
  readonly port: number;
  /** Name of the port: a protocol, alone or before a dash (`http`, `grpc-api`). */
  readonly name: string;
  /** Transport, `TCP` by default; `UDP` decides alone. */
  readonly transport?: string;
  /**
   * Application protocol, which wins over the name: a protocol, `kubernetes.io/h2c|ws|wss`, or `mesh.io/<protocol>`.
   */
  readonly appProtocol?: string;
}

/** The protocol of an orchestrator's port: transport UDP, then `appProtocol`, then the name's prefix, then the well-known port. */
export function portProtocol(facts: PortFacts): Protocol {
  if (facts.transport?.toUpperCase() === "UDP") return "UDP";
  const declared = facts.appProtocol === undefined ? fromText(facts.name) : fromAppProtocol(facts.appProtocol);
  return declared === "Unsupported" && SERVER_SPEAKS_FIRST.has(facts.port) ? "TCP" : declared;
}

function fromAppProtocol(text: string): Protocol {
  const slash = text.indexOf("/");
  if (slash < 0) return fromText(text);
  const [domain, name] = [text.slice(0, slash).toLowerCase(), text.slice(slash + 1).toLowerCase()];
  if (domain === "mesh.io") return ORCHESTRATOR_NAMES.get(name) ?? fromText(name);
  if (domain === "kubernetes.io" || domain === "orch.io") return ORCHESTRATOR_NAMES.get(name) ?? "Unsupported";
  return "Unsupported";
}

function fromText(text: string): Protocol {
  const lower = text.toLowerCase();
  if (lower.startsWith("grpc-web")) return "GRPC-Web";
  const dash = lower.indexOf("-");
  return parseProtocol(dash < 0 ? lower : lower.slice(0, dash));
}
