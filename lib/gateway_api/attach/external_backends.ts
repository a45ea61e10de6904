/**
 * XBackends: hosts outside of the mesh as backends of routes.
 *
 * An XBackend becomes a service with a host of its own (`lib/gateway_api/derive/external_backends.ts`). Under the name of
 * the outside host, two XBackends with other TLS would be one service, and clients in the mesh would get the service too.
 *
 * @module
 */
import type { XBackendSpec } from "../../config/kinds/kinds.ts";
import { EXPERIMENTAL_GROUP } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { EXTERNAL_SUFFIX } from "../../config/kinds/service_entry/internal.ts";
import { isIpAddress } from "../../config/validation/network.ts";
import { backendTrust } from "./backend_trust.ts";
import { hostOfObject } from "./names.ts";
import type { KnownService } from "./services.ts";
import type { AttachOptions, AttachReader, ConditionVerdict, FieldFault, NamespacedName, RouteKind } from "./types.ts";
import { fails, faultText, holds } from "./verdicts.ts";

/** An XBackend with everything that configuration decides about it. */
export interface ExternalBackendView {
  readonly backend: ConfigObject<"XBackend">;
  /** Host of the backend's service. */
  readonly host: string;
  readonly accepted: ConditionVerdict;
  /** Absent: the backend refers to no object. */
  readonly resolvedRefs?: ConditionVerdict;
  /** Present: no route can use the backend. */
  readonly fault?: FieldFault;
}

/** Host of an XBackend's service. No Service and no ServiceEntry of a user has such a host. */
export function externalHost(at: NamespacedName): string {
  return hostOfObject(at, EXTERNAL_SUFFIX);
}

/** An XBackend with everything that configuration decides about it. */
export function externalBackendView(
  backend: ConfigObject<"XBackend">,
  read: AttachReader,
  options: AttachOptions,
): ExternalBackendView {
  const { meta, spec } = backend;
  const host = externalHost(meta);
  const fault = externalFault(spec, options);
  if (fault !== undefined) return { backend, host, fault, accepted: fails("Invalid", faultText(fault)) };
  const validation = isVerified(spec) ? spec.tls?.validation : undefined;
  const accepted = holds("Accepted", "routes can use the backend");
  if (validation === undefined) return { backend, host, accepted };
  const { resolvedRefs, refusal } = backendTrust(meta.namespace, validation, read, "tls.validation");
  return { backend, host, accepted: refusal ?? accepted, resolvedRefs };
}

/** Whether the certificate of a backend is verified. */
export function isVerified({ tls }: XBackendSpec): boolean {
  return tls !== undefined && tls.mode !== "None";
}

/** Why no route can use a backend; undefined: routes can. */
export function externalFault(
  { externalHostname, tls }: XBackendSpec,
  options: Pick<AttachOptions, "domain" | "setDomain">,
): FieldFault | undefined {
  const value = externalHostname?.hostname ?? "";
  if (!isOutside(value, options)) {
    return { field: "externalHostname.hostname", value, expected: "a host name outside of the cluster, with a dot" };
  }
  // A proxy gets the private keys that its own Gateways name, and no others.
  if (tls?.mode === "ClientAndServer") return { field: "tls.mode", value: tls.mode, expected: "None or ServerOnly" };
  return undefined;
}

/**
 * Whether a name may lead out of the cluster. Names without a dot and names that end with `.svc` mean Services only, and
 * `localhost` means the proxy's own pod. A last label that begins with a digit is of an address, in some notation.
 */
function isOutside(name: string, { domain, setDomain = domain }: Pick<AttachOptions, "domain" | "setDomain">): boolean {
  const inside = [domain, setDomain, "svc", "localhost"];
  const dot = name.lastIndexOf(".");
  return dot >= 0 && !"0123456789".includes(name.charAt(dot + 1)) && !isIpAddress(name) &&
    !inside.some((suffix) => name.endsWith(`.${suffix}`));
}

/** Whether a reference names an XBackend. */
export function isExternal({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return group === EXPERIMENTAL_GROUP && kind === "XBackend";
}

/** The service of an XBackend; undefined: the XBackend does not exist, or no route can use it. */
export function externalService(
  at: NamespacedName,
  read: AttachReader,
  options: AttachOptions,
): KnownService | undefined {
  const spec = read.object("XBackend", at.namespace, at.name)?.spec;
  if (spec === undefined || externalFault(spec, options) !== undefined) return undefined;
  const { name = "", port } = spec.port;
  const { namespace } = at;
  const ports = [{ number: port, transport: "TCP", name }] as const;
  const whole = { exportTo: ["*"], home: namespace, selector: undefined } as const;
  return { kind: "XBackend", namespace, name: at.name, host: externalHost(at), ports, ...whole };
}

/** Protocols that carry the requests of HTTPRoutes and the calls of GRPCRoutes. */
const CARRIERS: Readonly<Partial<Record<RouteKind, readonly (XBackendSpec["protocol"])[]>>> = {
  HTTPRoute: [undefined, "HTTP", "HTTP2", "HTTP11", "H2C", "MCP"],
  GRPCRoute: ["HTTP2", "H2C"],
};

/** What is expected in place of an XBackend whose protocol does not carry a kind of route; undefined: it does. */
export function missingProtocol(
  { namespace, name }: NamespacedName,
  kind: RouteKind,
  read: AttachReader,
): string | undefined {
  const carriers = CARRIERS[kind];
  const protocol = read.object("XBackend", namespace, name)?.spec.protocol;
  if (carriers === undefined || carriers.includes(protocol)) return undefined;
  const names = carriers.filter((one) => one !== undefined).join(", ");
  return `an XBackend with protocol ${names} (the protocol of ${namespace}/${name} is ${protocol ?? "not given"})`;
}
