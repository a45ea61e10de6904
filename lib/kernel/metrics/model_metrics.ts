/**
 * Metrics of configuration and registry: numbers of objects, and of faults in objects.
 *
 * @module
 */
import { gauge, sum } from "./define.ts";

/** Metrics of users' configuration and of running workloads. */
export const modelMetrics = {
  auto_registration_deletes_total: sum("D", "Automatic registrations removed by the periodic sweep."),
  auto_registration_errors_total: sum("D", "Automatic registrations that failed."),
  auto_registration_success_total: sum("D", "Automatic registrations."),
  auto_registration_unregister_total: sum("D", "Automatic registrations ended by a disconnect."),
  auto_registration_updates_total: sum("D", "Automatic registrations renewed."),
  endpoint_no_pod: gauge("DC", "Endpoints whose pod is unknown."),
  pilot_conflict_inbound_listener: gauge("DC", "Inbound listeners that conflict."),
  pilot_conflict_outbound_listener_tcp_over_current_tcp: gauge(
    "DC",
    "TCP listeners that conflict with one that exists.",
  ),
  pilot_destrule_subsets: gauge("DC", "Subsets of one host that several destination rules define."),
  pilot_dns_cluster_without_endpoints: gauge("DC", "DNS clusters without endpoints."),
  pilot_duplicate_proxy_clusters: gauge("DC", "Clusters that service entries of one host name define twice."),
  pilot_eds_no_instances: gauge("DC", "Clusters without instances."),
  pilot_endpoint_not_ready: gauge("DC", "Endpoints that are not ready."),
  pilot_jwks_resolver_network_fetch_fail_total: sum("DC", "Fetches of token keys that failed."),
  pilot_jwks_resolver_network_fetch_success_total: sum("DC", "Fetches of token keys that succeeded."),
  pilot_no_ip: gauge("DC", "Pods that are in no endpoint table."),
  pilot_proxy_filter_status: gauge("D", "ProxyFilter patches: 1 where the result holds.", ["name", "patch", "result"]),
  pilot_services: gauge("D", "Services known."),
  pilot_total_rejected_configs: sum("DC", "Configuration objects rejected or ignored.", ["type", "name"], "name"),
  pilot_virt_services: gauge("DC", "Virtual services known."),
  pilot_vservice_dup_domain: gauge("DC", "Virtual services that claim a domain of another."),
};
