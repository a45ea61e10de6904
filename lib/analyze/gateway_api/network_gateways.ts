/**
 * Gateways between networks: Gateways that name no network, and services of scope GLOBAL without such a gateway.
 *
 * @module
 */
import { NETWORK_LABEL } from "../../gateway_api/attach/names.ts";
import { EAST_WEST_CLASS } from "../../gateway_api/built_in_classes.ts";
import { scopeOfService } from "../../mesh/service_scope.ts";
import type { Analyzer } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const NETWORK_GATEWAYS: Analyzer<"ApiGateway"> = {
  kind: "ApiGateway",
  reports: ["gateway-without-network"],
  analyze: ({ key, meta: { labels } }, read, report) => {
    if (read.gatewayApi?.gateway(key)?.view.role !== "east-west" || labels[NETWORK_LABEL]) return;
    report("warning", "gateway-without-network", {
      field: "metadata.labels",
      ...labels[NETWORK_LABEL] === "" ? { value: { [NETWORK_LABEL]: "" } } : {},
      expected: `the label ${NETWORK_LABEL} with the name of the network behind the Gateway`,
    });
  },
};

export const GLOBAL_SERVICES: Analyzer<"Service"> = {
  kind: "Service",
  reports: ["global-service-without-gateway"],
  analyze: ({ meta: { namespace, labels } }, read, report) => {
    const { serviceScopeConfigs = [] } = read.meshConfig;
    if (serviceScopeConfigs.length === 0 || !servesNetworks(read)) return;
    const namespaceLabels = read.namespaceFact(namespace)?.meta.labels;
    if (scopeOfService(serviceScopeConfigs, { labels, namespaceLabels }) !== "GLOBAL") return;
    const isReached = read.objects("ApiGateway").some(({ key, meta }) =>
      Boolean(meta.labels[NETWORK_LABEL]) && read.gatewayApi?.gateway(key)?.view.role === "east-west"
    );
    if (isReached) return;
    report(severityOfAbsence(read) === "error" ? "warning" : "info", "global-service-without-gateway", {
      field: "",
      expected: `a Gateway of class ${EAST_WEST_CLASS} with the label ${NETWORK_LABEL}`,
    });
  },
};

/** Whether gateways between networks are served. */
function servesNetworks({ gatewayApi }: AnalysisReader): boolean {
  return gatewayApi !== undefined && Object.values(gatewayApi.options.controllers).includes("east-west");
}
