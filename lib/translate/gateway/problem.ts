/**
 * Gateway settings that are not served as written, as plain data: for logs, metrics, status and debug pages.
 *
 * @module
 */
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import type { GatewayServer } from "./server.ts";
import type { TlsRefusal } from "../listener/downstream_tls.ts";
import type { FindingName } from "../../finding/codes.ts";
import { type Finding, lossOf, shownValue } from "../../finding/finding.ts";

/** Why something is not served as written. */
export type GatewayRefusalReason =
  /** An older server has the port with another protocol (plain HTTP, plain TCP and TLS exclude each other). */
  | "protocolConflict"
  /** An older TLS server, or an older rule, on the port has the same host. */
  | "duplicateHosts"
  /** Another server of the object has the same port name. Route configurations are named after port names. */
  | "duplicatePortName"
  /** HTTPS or TLS without `tls` settings. */
  | "missingTls"
  /** A certificate is not available. */
  | TlsRefusal
  /** The server is served, but without the unknown cipher suites. */
  | "ignoredCipherSuites"
  /** Datagrams cannot be carried: the build lacks the filter, or policies could not be checked. */
  | "datagrams"
  /** No rule gives the bytes a destination. */
  | "noRoute"
  /** TLS from other networks by server name. The proxy's build lacks a filter for such connections. */
  | "autoPassthrough"
  /** An unprivileged proxy cannot listen on ports below 1024. */
  | "privilegedPort";

/** A setting that is not served as written. */
export interface GatewayRefusal {
  /** Key of the object: a Gateway, or a VirtualService. */
  readonly cause: string;
  /** Position in the object: `servers[index]` of a Gateway, `tls[index]` of a VirtualService. */
  readonly index: number;
  /** The intended listening port. */
  readonly port: number;
  readonly reason: GatewayRefusalReason;
  /** A sentence for the user: object, place, reason. */
  readonly message: string;
  /** The protocol in the object, if the protocol is the reason. */
  readonly protocol?: string;
}

/** A problem of a server. */
export function serverRefusal(
  server: Pick<GatewayServer, "gateway" | "cause" | "index" | "spec">,
  port: number,
  reason: GatewayRefusalReason,
  why: string,
): GatewayRefusal {
  const { gateway, cause, index, spec } = server;
  const where = `Gateway ${gateway} servers[${index}] (port ${spec.port.number}, ${spec.port.protocol})`;
  const protocol = reason === "protocolConflict" ? { protocol: spec.port.protocol } : {};
  return { cause, index, port, reason, message: `${where}: ${why}`, ...protocol };
}

/** A server of bytes without a rule. A listener of the Gateway API without routes is not a mistake. */
export function serverWithoutRule(
  server: Pick<GatewayServer, "gateway" | "cause" | "index" | "spec">,
  port: number,
  why: string,
): GatewayRefusal[] {
  return server.spec.internal === undefined ? [serverRefusal(server, port, "noRoute", why)] : [];
}

/** A problem of a virtual service's `tls` rule. */
export function virtualServiceRefusal(
  vs: EffectiveVirtualService,
  rule: number,
  port: number,
  reason: GatewayRefusalReason,
  why: string,
): GatewayRefusal {
  const message = `VirtualService ${vs.namespace}/${vs.name} tls[${rule}]: ${why}`;
  return { cause: vs.causes[0] ?? "", index: rule, port, reason, message };
}

/** Further texts of a finding about a reason. */
interface RefusalText {
  /** Default: `gateway-not-as-written`. */
  readonly name?: FindingName;
  /** Path from the server, or from the rule. */
  readonly field: string;
  readonly expected: string;
  readonly effect: string;
  readonly fix: string;
}

/** Reasons with more details than their row in the catalogue. */
const TEXTS: Partial<Readonly<Record<GatewayRefusalReason, RefusalText>>> = {
  protocolConflict: {
    field: ".port.protocol",
    expected: "one protocol for all servers of a port, and a single server for TCP",
    effect: "This server is left out: the older one has the port.",
    fix: "Use another port.",
  },
  duplicateHosts: {
    field: ".hosts",
    expected: "hosts that no older server of the port has",
    effect: "This server is left out: the older one has the hosts.",
    fix: "Keep each host in one server.",
  },
  duplicatePortName: {
    field: ".port.name",
    expected: "a name that no other server of the object has",
    effect: "This server is left out.",
    fix: "Give the port a name of its own.",
  },
  uncheckedClients: {
    field: ".tls.mode",
    expected: "mode MUTUAL for a list of clients, or no list of clients",
    effect: "This server is left out: otherwise anybody would be admitted.",
    fix: "Use mode MUTUAL, or remove the list of clients.",
  },
  missingTls: {
    field: ".tls",
    expected: "tls settings, which protocols HTTPS and TLS need",
    effect: "This server is left out.",
    fix: "Write tls, or use protocol HTTP or TCP.",
  },
  noRoute: {
    name: "gateway-port-without-rule",
    field: ".port",
    expected: "a VirtualService of the Gateway with a rule for the bytes of this port",
    effect: "Nothing listens for this server.",
    fix: "Add such a rule, or remove the server.",
  },
};

/** The refusal as a finding. */
export function gatewayFinding({ cause, index, reason, message, protocol }: GatewayRefusal): Finding {
  const keys = cause === "" ? [] : [cause];
  const text = TEXTS[reason];
  const plain = lossOf(text?.name ?? "gateway-not-as-written", keys, message);
  if (text === undefined || !cause.startsWith("Gateway/")) return plain;
  const { field, expected, effect, fix } = text;
  const place = { ...plain.place, field: `spec.servers[${index}]${field}` };
  return {
    ...plain,
    message: `${message}; expected ${expected}`,
    place,
    value: shownValue(protocol),
    expected,
    effect,
    fix,
  };
}
