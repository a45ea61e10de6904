/**
 * XBackends become derived ServiceEntries that only routes lead to, and DestinationRules with TLS.
 *
 * An XBackend that no route names becomes nothing, and an XBackend is exported to the namespaces of its routes' proxies:
 * a thousand XBackends of one namespace cost the proxies of other namespaces nothing.
 *
 * @module
 */
import type { Derivation, DerivationInput, DerivationReader, DerivedObject } from "../../config/derive/derivation.ts";
import type { BackendTls } from "../../config/kinds/destination_rule/internal.ts";
import type { XBackendSpec } from "../../config/kinds/kinds.ts";
import { EXPERIMENTAL_GROUP, GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { writtenBackends } from "../attach/backends.ts";
import { externalFault, externalHost, isExternal, isVerified } from "../attach/external_backends.ts";
import { gatewayKeyOf } from "../attach/gateway_view.ts";
import { isPermitted } from "../attach/grants.ts";
import { type ApiRoute, type AttachOptions, type NamespacedName, ROUTE_KINDS } from "../attach/types.ts";
import { backendTlsObjectName, externalObjectName } from "./names.ts";
import { verifiedTls } from "./verified_tls.ts";

type External = ConfigObject<"XBackend"> & DerivationInput;

/** The derivation of all XBackends. */
export function externalBackendDerivation(options: AttachOptions): Derivation {
  return {
    name: "external-backends",
    from: ["XBackend", ...ROUTE_KINDS],
    derive: () => [],
    shared: {
      groupsOf,
      derive: (_group, members, read) => {
        const backend = members.find(isXBackend);
        if (backend === undefined) return [];
        const users = usersOf(members.filter(isRoute), backend.meta, read);
        return users.length === 0 ? [] : objectsOf(backend, users, read, options);
      },
    },
  };
}

/** The group of an XBackend: the XBackend, and the routes that name it. */
function groupsOf(input: DerivationInput): string[] {
  const { namespace, name } = input.meta;
  if (isXBackend(input)) return [`${namespace}/${name}`];
  if (!isRoute(input)) return [];
  const references = writtenBackends(input).flatMap(({ backends, mirrors }) => [...backends, ...mirrors]);
  const named = references.filter(({ ref }) => isExternal(ref));
  return [...new Set(named.map(({ ref }) => `${ref.namespace ?? namespace}/${ref.name}`))];
}

/** The namespaces of the proxies that the routes of an XBackend configure; `*`: all. Sorted; empty: none. */
function usersOf(routes: readonly ApiRoute[], backend: NamespacedName, read: DerivationReader): string[] {
  const users = new Set(routes.flatMap((route) => {
    const own = route.meta.namespace;
    const target = { group: EXPERIMENTAL_GROUP, kind: "XBackend", namespace: backend.namespace, name: backend.name };
    const mayUse = isPermitted({ kind: route.kind, namespace: own }, target, read);
    return (route.spec.parentRefs ?? []).flatMap(({ group, kind, namespace = own, name }): string[] => {
      // Routes at services need no grant. In the namespace of their service they are for all clients.
      if (group !== GATEWAY_API_GROUP) return [namespace === own ? "*" : own];
      if (!mayUse) return [];
      if (kind !== "ListenerSet") return [namespace];
      const set = read.object("ListenerSet", namespace, name);
      const [, ofGateway] = (set && gatewayKeyOf(set))?.split("/") ?? [];
      return ofGateway === undefined ? [] : [ofGateway];
    });
  }));
  return users.has("*") ? ["*"] : [...users].sort();
}

function isXBackend(input: DerivationInput): input is External {
  return input.kind === "XBackend";
}

function isRoute(input: DerivationInput): input is DerivationInput & ApiRoute {
  return (ROUTE_KINDS as readonly string[]).includes(input.kind);
}

/** Protocols of ServiceEntries. Requests of HTTP without a version go out as HTTP/1.1. */
const PROTOCOLS: Readonly<Record<NonNullable<XBackendSpec["protocol"]>, string>> = {
  TCP: "TCP",
  HTTP: "HTTP",
  HTTP11: "HTTP",
  HTTP2: "HTTP2",
  H2C: "HTTP2",
  MCP: "HTTP",
};

function objectsOf(
  backend: External,
  users: readonly string[],
  read: DerivationReader,
  options: AttachOptions,
): DerivedObject[] {
  const { meta, spec } = backend;
  const { externalHostname, port, protocol = "HTTP" } = spec;
  if (externalHostname === undefined || externalFault(spec, options) !== undefined) return [];
  const host = externalHost(meta);
  const { namespace } = meta;
  const entry: DerivedObject = {
    kind: "ServiceEntry",
    meta: { name: externalObjectName(meta), namespace },
    spec: {
      hosts: [host],
      location: "MESH_EXTERNAL",
      resolution: "DNS",
      ports: [{ number: port.port, name: port.name || "backend", protocol: PROTOCOLS[protocol] }],
      // The dot at the end keeps the search domains of the pod away: `db.pay` must not be a Service of namespace `pay`.
      endpoints: [{ address: `${externalHostname.hostname}.` }],
      exportTo: users,
      internal: { routesOnly: true },
    },
    of: backend,
  };
  const tls = tlsOf(backend, externalHostname.hostname, read);
  if (tls === undefined) return [entry];
  return [entry, {
    kind: "DestinationRule",
    meta: { name: backendTlsObjectName(host), namespace },
    spec: { host, internal: { backendTls: [tls] } },
    of: backend,
  }];
}

/** TLS to a backend; undefined: plain connections. */
function tlsOf({ meta, spec }: External, hostname: string, read: DerivationReader): BackendTls | undefined {
  if (!isVerified(spec)) return undefined;
  const validation = spec.tls?.validation ?? { hostname, wellKnownCACertificates: "System" };
  return verifiedTls(meta.namespace, validation, `XBackend ${meta.namespace}/${meta.name}`, read);
}
