/**
 * The server's side of gRPC libraries: the requirements of a workload's ports for callers.
 *
 *     xds.istio.io/grpc/lds/inbound/IP:PORT    the name by which the library asks, and the address that it compares
 *       one chain: mutual TLS or none ─> trust domains ─> tokens ─> authorization ─> the workload itself
 *
 * A library does not inspect the first bytes of a connection, so a port is either plain or mutual TLS. PERMISSIVE means
 * plain, or mutual TLS if the workload's label announces mutual TLS to clients. A port without a service has no
 * listener: the library does not serve such a port.
 *
 * Format: gRFC A36 (servers), A29 (TLS), A41 (RBAC).
 *
 * @module
 */
import { hostAndPort } from "../values/host.ts";
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { JwtRule } from "../../config/kinds/request_authentication/schema.ts";
import { lossOf } from "../../finding/finding.ts";
import { peerTlsModeOf } from "../../mesh/peer_authentication.ts";
import { any } from "../../pb/codec.ts";
import { tlsModeOf } from "../../registry/labels.ts";
import { portCauses } from "../../registry/types.ts";
import { Authorization } from "../authorization/authorization.ts";
import { isHidden } from "../authorization/principals.ts";
import { HTTP_RBAC, httpRbacFilter } from "../filters/http/rbac/filter.ts";
import { routerFilter } from "../filters/http/router/filter.ts";
import type { InboundTarget } from "../inbound/target.ts";
import type { Built } from "../message/built.ts";
import { findingsOnce, type ReportFinding } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import { trustDomains } from "../tls/mesh_server.ts";
import { serverSocket } from "./tls.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** The requirements of a workload's port, equal at each address. */
export interface LibraryPort extends Built<FilterChain> {
  readonly port: number;
}

/** Name of the listener for a library's listening address, spelled as in the bootstrap. */
export function serverListenerName(address: string, port: number): string {
  return `xds.istio.io/grpc/lds/inbound/${hostAndPort(address, port)}`;
}

/** The ports of a workload with a service. */
export function libraryPorts(read: Reader, targets: readonly InboundTarget[], report: ReportFinding): LibraryPort[] {
  if (targets.length === 0) return [];
  const peers = read.peerTls();
  const authorization = new Authorization(read);
  const tokens = read.tokenPolicy();
  const refusal = tokenRefusal(tokens.rules);
  const filters = [...refusal ? [refusal] : [], ...authorization.calls, routerFilter()];
  if (refusal) {
    report(
      lossOf("not-as-written", [...tokens.causes], "gRPC servers verify no tokens: calls with a token are refused"),
    );
  }
  for (const finding of findingsOnce(authorization.findings())) report(finding);
  const policies = [...peers.causes, ...authorization.causes, ...tokens.causes];
  return targets.map(({ port, service, servicePort }) => ({
    port,
    message: serverChain(read, isMutual(read, port), filters),
    causes: [...new Set([...service ? portCauses(service, servicePort) : [], ...policies])],
  }));
}

function isMutual(read: Reader, port: number): boolean {
  const mode = peerTlsModeOf(read.peerTls(), port);
  if (mode !== "PERMISSIVE") return mode === "STRICT";
  return read.derived("labelledTlsMode", ({ labels }) => tlsModeOf(labels, "") === "mesh");
}

function serverChain(read: Reader, mutual: boolean, filters: readonly HttpFilter[]): FilterChain {
  const own = mutual && !read.settings.skipValidateTrustDomain ? [trustedDomains(read)] : [];
  const manager: envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager = {
    route_config: {
      name: "inbound",
      virtual_hosts: [{
        name: "inbound",
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, non_forwarding_action: {} }],
      }],
    },
    http_filters: [...own, ...filters],
  };
  const type = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  return {
    name: mutual ? "inbound-mtls" : "inbound-plaintext",
    filters: [{ name: "inbound-hcm", typed_config: any(type, manager) }],
    ...(mutual ? { transport_socket: serverSocket() } : {}),
  };
}

/** Libraries accept no names in the TLS of servers, so this filter refuses identities of other trust domains. */
function trustedDomains(read: Reader): HttpFilter {
  const principals = trustDomains(read.mesh()).map((domain) => ({
    authenticated: { principal_name: { prefix: `spiffe://${domain}/` } },
  }));
  const rules = { action: Action.ALLOW, policies: { "trust-domains": { permissions: [{ any: true }], principals } } };
  return { ...httpRbacFilter({ rules }), name: `${HTTP_RBAC}.trust-domains` };
}

type Permission = envoy.config.rbac.v3.Permission;

/**
 * The filter that refuses calls with a token of an end user, because libraries verify no tokens. Calls without a token
 * pass, as at proxies. Undefined when there are no rules.
 */
function tokenRefusal(
  rules: readonly JwtRule[],
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter | undefined {
  if (rules.length === 0) return undefined;
  const permissions = rules.flatMap(placesOf);
  const policies = { tokens: { permissions, principals: [{ any: true }] } };
  // A policy needs a permission, but calls have no query, so tokens in the query never occur.
  if (permissions.length === 0) return undefined;
  return { ...httpRbacFilter({ rules: { action: Action.DENY, policies } }), name: `${HTTP_RBAC}.tokens` };
}

function placesOf({ fromHeaders = [], fromParams = [], fromCookies = [] }: JwtRule): Permission[] {
  if (fromHeaders.length + fromParams.length + fromCookies.length === 0) {
    return [{ header: { name: "authorization", string_match: { prefix: "Bearer " } } }];
  }
  const headers = [...fromHeaders.map(({ name }) => name), ...fromCookies.length > 0 ? ["cookie"] : []];
  return headers.map((name): Permission => isHidden(name) ? { any: true } : { header: { name, present_match: true } });
}
