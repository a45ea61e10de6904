/**
 * All analyzers, each on a line.
 *
 * @module
 */
import { type Analyzer, analyzer } from "./analyzer.ts";
import { UNKNOWN_ANNOTATIONS } from "./annotations/unknown.ts";
import { ROLLOUT_PLANS } from "./annotations/rollouts.ts";
import { OBJECT_ANNOTATIONS, WORKLOAD_ANNOTATIONS } from "./annotations/annotations.ts";
import { HOSTS_IN_GATEWAYS } from "./gateways/hosts.ts";
import { GATEWAY_WORKLOADS } from "./gateways/workloads.ts";
import { CLIENT_CREDENTIALS, GATEWAY_CREDENTIALS } from "./manifests/credentials.ts";
import { INJECTED_NAMESPACES } from "./manifests/namespaces.ts";
import { PROXIES_OF_DEPLOYMENTS, PROXIES_OF_PODS } from "./manifests/proxy_containers.ts";
import { RESERVED_USERS } from "./manifests/reserved_user.ts";
import { PORT_PROTOCOLS, SERVICES_OF_DEPLOYMENTS } from "./manifests/service_ports.ts";
import { BACKEND_POLICIES, TRAFFIC_POLICIES_OF_BACKENDS } from "./gateway_api/backend_policies.ts";
import { ROUTE_BACKENDS } from "./gateway_api/backends.ts";
import { DERIVED_GATEWAYS } from "./gateway_api/derived_gateways.ts";
import { API_GATEWAYS, SET_LISTENERS, SWITCHED_OFF } from "./gateway_api/gateways.ts";
import { EXTERNAL_BACKENDS } from "./gateway_api/external_backends.ts";
import { MESHES } from "./gateway_api/meshes.ts";
import { ROUTE_PARENTS, SET_PARENTS } from "./gateway_api/parents.ts";
import { GLOBAL_SERVICES, NETWORK_GATEWAYS } from "./gateway_api/network_gateways.ts";
import { IGNORED_SESSIONS, REFUSED_RULES, SHADOWED_MATCHES } from "./gateway_api/rules.ts";
import { SHARED_SERVICES } from "./gateway_api/shared_services.ts";
import { FILTER_NAMES } from "./filters/names.ts";
import { FILTER_OPERATIONS } from "./filters/operations.ts";
import { INGRESS_MISTAKES } from "./ingress/mistakes.ts";
import { GATEWAY_CONFLICTS } from "./gateways/conflicts.ts";
import { AMBIENT_SIDECARS } from "./policies/ambient.ts";
import { HIDDEN_CLIENTS } from "./policies/hidden_clients.ts";
import { BEYOND_TUNNELS } from "./policies/tunnels.ts";
import { POLICY_PATTERNS } from "./policies/patterns.ts";
import { AUTHORIZATION_PORTS, PEER_PORTS } from "./policies/ports.ts";
import {
  UNUSED_WAYPOINTS,
  UNUSED_WAYPOINTS_OF_NAMESPACES,
  UNUSED_WAYPOINTS_OF_WORKLOADS,
} from "./policies/unused_waypoints.ts";
import { TARGET_GATEWAYS } from "./policies/target_gateways.ts";
import { ROUTE_PATTERNS } from "./routing/patterns.ts";
import { UNVERIFIED_CLAIMS } from "./policies/claims.ts";
import { POLICY_WORKLOADS } from "./policies/no_workload.ts";
import { SELECTS_NOTHING } from "./policies/selects_nothing.ts";
import { SOURCE_NAMESPACES } from "./policies/source_namespaces.ts";
import { DELEGATES } from "./references/delegates.ts";
import { DESTINATIONS } from "./references/destinations.ts";
import { GATEWAY_REFERENCES } from "./references/gateways.ts";
import { NAMED_SERVERS } from "./routing/named_servers.ts";
import { UPGRADED_BY_DEFAULT, UPGRADED_HOSTS } from "./routing/upgraded_hosts.ts";
import { TCP_RULES } from "./gateways/tcp_rules.ts";
import { ENTRY_ADDRESSES } from "./services/entry_addresses.ts";
import { ENTRY_PORTS } from "./services/entry_ports.ts";
import { RULE_HOSTS } from "./references/rule_hosts.ts";
import { SUBSET_ENDPOINTS } from "./references/subset_endpoints.ts";
import { GATEWAY_SUBSETS } from "./routing/gateway_subsets.ts";
import { SHARED_HOSTS } from "./routing/shared_hosts.ts";
import { TRAFFIC_POLICIES } from "./routing/traffic_policies.ts";
import { POST_TUNNELS } from "./routing/tunnels.ts";
import { ENTRY_PROTOCOLS } from "./services/protocols.ts";
import { REQUIRED_ADDRESSES } from "./services/addresses.ts";
import { SIDECAR_CONFLICTS } from "./sidecars/conflicts.ts";
import { UNVERIFIED_SERVERS } from "./tls/unverified.ts";
import { HIDDEN_FROM_CLIENTS } from "./visibility/clients.ts";
import { HIDDEN_FROM_GATEWAYS } from "./visibility/gateways.ts";
import { HIDDEN_FROM_OWN_NAMESPACE } from "./visibility/own_namespace.ts";
import { SIDECAR_IMPORTS } from "./visibility/imports.ts";
import {
  ENTRY_NAMESPACES,
  GATEWAY_NAMESPACES,
  ROUTE_NAMESPACES,
  RULE_NAMESPACES,
  SIDECAR_NAMESPACES,
} from "./visibility/named_namespaces.ts";
import { UNSEEN_ROUTES } from "./visibility/routes.ts";
import { TELEMETRY_CONFLICTS } from "./telemetry/conflicts.ts";
import { TELEMETRY_PROVIDERS } from "./telemetry/providers.ts";

/** All analyzers, in the order in which an object's findings are shown. */
export const ANALYZERS: readonly Analyzer[] = [
  ...ROLLOUT_PLANS.map((one) => analyzer(one)),
  analyzer(GATEWAY_REFERENCES),
  analyzer(HOSTS_IN_GATEWAYS),
  analyzer(SHARED_HOSTS),
  analyzer(UNSEEN_ROUTES),
  analyzer(DELEGATES),
  analyzer(DESTINATIONS),
  analyzer(HIDDEN_FROM_CLIENTS),
  analyzer(HIDDEN_FROM_GATEWAYS),
  analyzer(HIDDEN_FROM_OWN_NAMESPACE),
  analyzer(TRAFFIC_POLICIES),
  analyzer(UNVERIFIED_SERVERS),
  analyzer(POST_TUNNELS),
  analyzer(GATEWAY_WORKLOADS),
  ...SELECTS_NOTHING.map((one) => analyzer(one)),
  analyzer(SIDECAR_CONFLICTS),
  analyzer(SIDECAR_IMPORTS),
  analyzer(REQUIRED_ADDRESSES),
  analyzer(ENTRY_PROTOCOLS),
  analyzer(ENTRY_ADDRESSES),
  analyzer(ENTRY_PORTS),
  analyzer(GATEWAY_CREDENTIALS),
  analyzer(CLIENT_CREDENTIALS),
  analyzer(INGRESS_MISTAKES),
  analyzer(INJECTED_NAMESPACES),
  analyzer(PROXIES_OF_PODS),
  analyzer(PROXIES_OF_DEPLOYMENTS),
  analyzer(PORT_PROTOCOLS),
  analyzer(SERVICES_OF_DEPLOYMENTS),
  ...RESERVED_USERS.map((one) => analyzer(one)),
  analyzer(GATEWAY_SUBSETS),
  analyzer(RULE_HOSTS),
  analyzer(UPGRADED_HOSTS),
  analyzer(UPGRADED_BY_DEFAULT),
  analyzer(NAMED_SERVERS),
  analyzer(SUBSET_ENDPOINTS),
  analyzer(UNVERIFIED_CLAIMS),
  analyzer(POLICY_WORKLOADS),
  analyzer(BEYOND_TUNNELS),
  analyzer(HIDDEN_CLIENTS),
  analyzer(SOURCE_NAMESPACES),
  analyzer(SIDECAR_NAMESPACES),
  analyzer(GATEWAY_NAMESPACES),
  analyzer(ROUTE_NAMESPACES),
  analyzer(RULE_NAMESPACES),
  analyzer(ENTRY_NAMESPACES),
  analyzer(POLICY_PATTERNS),
  analyzer(ROUTE_PATTERNS),
  analyzer(AUTHORIZATION_PORTS),
  analyzer(PEER_PORTS),
  ...TARGET_GATEWAYS.map((one) => analyzer(one)),
  analyzer(AMBIENT_SIDECARS),
  ...UNUSED_WAYPOINTS.map((one) => analyzer(one)),
  ...UNUSED_WAYPOINTS_OF_WORKLOADS.map((one) => analyzer(one)),
  analyzer(UNUSED_WAYPOINTS_OF_NAMESPACES),
  ...OBJECT_ANNOTATIONS.map((one) => analyzer(one)),
  ...WORKLOAD_ANNOTATIONS.map((one) => analyzer(one)),
  analyzer(GATEWAY_CONFLICTS),
  analyzer(TCP_RULES),
  analyzer(FILTER_NAMES),
  analyzer(FILTER_OPERATIONS),
  analyzer(TELEMETRY_CONFLICTS),
  analyzer(TELEMETRY_PROVIDERS),
  ...SWITCHED_OFF.map((one) => analyzer(one)),
  analyzer(API_GATEWAYS),
  analyzer(NETWORK_GATEWAYS),
  analyzer(GLOBAL_SERVICES),
  analyzer(SET_PARENTS),
  analyzer(SET_LISTENERS),
  ...ROUTE_PARENTS.map((one) => analyzer(one)),
  ...ROUTE_BACKENDS.map((one) => analyzer(one)),
  ...REFUSED_RULES.map((one) => analyzer(one)),
  ...IGNORED_SESSIONS.map((one) => analyzer(one)),
  ...SHADOWED_MATCHES.map((one) => analyzer(one)),
  ...SHARED_SERVICES.map((one) => analyzer(one)),
  analyzer(BACKEND_POLICIES),
  analyzer(TRAFFIC_POLICIES_OF_BACKENDS),
  analyzer(EXTERNAL_BACKENDS),
  analyzer(MESHES),
  analyzer(DERIVED_GATEWAYS),
  ...UNKNOWN_ANNOTATIONS,
];
