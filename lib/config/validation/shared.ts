/**
 * Rules of several kinds: selectors, target references, export lists, connection pools, probes.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type {
  ConnectionPoolSettings,
  LabelsSelector,
  PolicyTargetReference,
  ReadinessProbe,
  TcpKeepalive,
  WorkloadSelector,
} from "../kinds/common/schema.ts";
import type { StringMap } from "../schema/json.ts";
import { joinPath } from "../schema/field.ts";
import { isDnsLabel } from "./names.ts";
import { checkPort } from "./network.ts";
import { checkCount, checkDuration, checkStrictHeaderName } from "./values.ts";

/** Checks a selector by `matchLabels`. */
export function checkSelector(selector: WorkloadSelector | undefined, at: string, report: Findings): void {
  if (selector !== undefined) checkSelectorLabels(selector.matchLabels, `${at}.matchLabels`, report);
}

/** Checks a selector by `labels`. */
export function checkLabelsSelector(selector: LabelsSelector | undefined, at: string, report: Findings): void {
  if (selector !== undefined) checkSelectorLabels(selector.labels, `${at}.labels`, report);
}

function checkSelectorLabels(labels: StringMap | undefined, at: string, report: Findings): void {
  if (labels === undefined) {
    report.warning(at, undefined, "at least one label (without any, every workload of the namespace is selected)");
  }
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key === "") report.error(at, key, "a label key");
    if (key.includes("*") || value.includes("*")) report.error(joinPath(at, key), value, "a label without wildcards");
  }
}

const TARGETS: readonly { readonly kind: string; readonly groups: readonly string[] }[] = [
  { kind: "Service", groups: ["", "core"] },
  { kind: "ServiceEntry", groups: ["networking.mesh.io", "networking.istio.io"] },
  { kind: "Gateway", groups: ["gateway.networking.k8s.io"] },
  { kind: "GatewayClass", groups: ["gateway.networking.k8s.io"] },
];

/** The three ways of a policy to select workloads. */
export interface Attachment {
  readonly selector?: WorkloadSelector;
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/** Checks selector and target references of a policy: at most one way, without mistakes. */
export function checkAttachment(policy: Attachment, report: Findings): void {
  const ways = [
    policy.selector && "selector",
    policy.targetRef && "targetRef",
    policy.targetRefs && "targetRefs",
  ].filter(Boolean);
  if (ways.length > 1) report.error("spec", ways.join(" and "), "only one of selector, targetRef and targetRefs");
  checkSelector(policy.selector, "spec.selector", report);
  if (policy.targetRef !== undefined) checkTargetReference(policy.targetRef, "spec.targetRef", report);
  checkTargetReferences(policy.targetRefs, "spec.targetRefs", report);
}

/** Checks a list of target references. */
export function checkTargetReferences(
  references: readonly PolicyTargetReference[] | undefined,
  at: string,
  report: Findings,
): void {
  references?.forEach((reference, index) => checkTargetReference(reference, `${at}[${index}]`, report));
}

function checkTargetReference(reference: PolicyTargetReference, at: string, report: Findings): void {
  if (reference.namespace !== undefined) {
    report.error(
      `${at}.namespace`,
      reference.namespace,
      "no namespace: only objects of the policy's own can be targets",
    );
  }
  const allowed = TARGETS.some((target) =>
    target.kind === reference.kind && target.groups.includes(reference.group ?? "")
  );
  if (!allowed) {
    report.error(
      at,
      `${reference.group ?? ""}/${reference.kind}`,
      "a Service, a networking.mesh.io ServiceEntry, or a gateway.networking.k8s.io Gateway or GatewayClass",
    );
  }
}

/** Differences between kinds in `exportTo`. */
export interface ExportRules {
  /** `~` (no namespace) is allowed. */
  readonly none?: boolean;
  /** Only the own namespace is allowed (rules with a workload selector). */
  readonly ownOnly?: boolean;
}

/** Checks `spec.exportTo`: `*`, `.`, names; no duplicates, nothing beside `*` or `~`. */
export function checkExportTo(
  exportTo: readonly string[] | undefined,
  namespace: string,
  report: Findings,
  rules: ExportRules = {},
): void {
  if (exportTo === undefined) return;
  const seen = new Set<string>();
  exportTo.forEach((entry, index) => {
    const at = `spec.exportTo[${index}]`;
    const key = entry === "." ? namespace : entry;
    if (seen.has(key)) report.error(at, entry, `no duplicates (. is the own namespace, ${namespace})`);
    const right = key === "*" || isDnsLabel(key) || (key === "~" && rules.none === true);
    if (!right) report.error(at, entry, `*, . or the name of a namespace${rules.none === true ? ", or ~" : ""}`);
    seen.add(key);
  });
  for (const alone of ["*", "~"]) {
    if (seen.has(alone) && exportTo.length > 1) report.error("spec.exportTo", exportTo, `nothing beside ${alone}`);
  }
  if (rules.ownOnly === true && (seen.size > 1 || !seen.has(namespace))) {
    report.error("spec.exportTo", exportTo, "only . (the own namespace) together with workloadSelector");
  }
}

/** Checks a connection pool. */
export function checkConnectionPool(pool: ConnectionPoolSettings | undefined, at: string, report: Findings): void {
  if (pool === undefined) return;
  const { http, tcp } = pool;
  if (http === undefined && tcp === undefined) report.error(at, {}, "tcp or http");
  if (http !== undefined) {
    checkCount(http.http1MaxPendingRequests, `${at}.http.http1MaxPendingRequests`, report);
    checkCount(http.http2MaxRequests, `${at}.http.http2MaxRequests`, report);
    checkCount(http.maxRequestsPerConnection, `${at}.http.maxRequestsPerConnection`, report);
    checkCount(http.maxRetries, `${at}.http.maxRetries`, report);
    checkCount(http.maxConcurrentStreams, `${at}.http.maxConcurrentStreams`, report);
    checkDuration(http.idleTimeout, `${at}.http.idleTimeout`, report);
    if (http.h2UpgradePolicy === "UPGRADE" && http.useClientProtocol === true) {
      report.error(`${at}.http.useClientProtocol`, true, "false when h2UpgradePolicy is UPGRADE");
    }
  }
  if (tcp !== undefined) {
    checkCount(tcp.maxConnections, `${at}.tcp.maxConnections`, report);
    checkDuration(tcp.connectTimeout, `${at}.tcp.connectTimeout`, report);
    checkDuration(tcp.maxConnectionDuration, `${at}.tcp.maxConnectionDuration`, report);
    if (tcp.idleTimeout !== 0) checkDuration(tcp.idleTimeout, `${at}.tcp.idleTimeout`, report);
    checkTcpKeepalive(tcp.tcpKeepalive, `${at}.tcp.tcpKeepalive`, report);
  }
}

/** Checks keepalive durations. */
export function checkTcpKeepalive(keepalive: TcpKeepalive | undefined, at: string, report: Findings): void {
  checkDuration(keepalive?.time, `${at}.time`, report);
  checkDuration(keepalive?.interval, `${at}.interval`, report);
}

/** Checks a readiness probe; one method must be set. */
export function checkProbe(probe: ReadinessProbe | undefined, at: string, report: Findings): void {
  if (probe === undefined) return;
  checkCount(probe.initialDelaySeconds, `${at}.initialDelaySeconds`, report);
  checkCount(probe.timeoutSeconds, `${at}.timeoutSeconds`, report);
  checkCount(probe.periodSeconds, `${at}.periodSeconds`, report);
  checkCount(probe.successThreshold, `${at}.successThreshold`, report);
  checkCount(probe.failureThreshold, `${at}.failureThreshold`, report);
  const { httpGet, tcpSocket, exec, grpc } = probe;
  if (httpGet === undefined && tcpSocket === undefined && exec === undefined && grpc === undefined) {
    report.error(at, {}, "one of httpGet, tcpSocket, exec, grpc");
  }
  if (httpGet !== undefined) {
    checkPort(httpGet.port, `${at}.httpGet.port`, report);
    if (httpGet.scheme !== undefined && httpGet.scheme !== "HTTP" && httpGet.scheme !== "HTTPS") {
      report.error(`${at}.httpGet.scheme`, httpGet.scheme, "HTTP or HTTPS");
    }
    httpGet.httpHeaders?.forEach((header, index) =>
      checkStrictHeaderName(header.name ?? "", `${at}.httpGet.httpHeaders[${index}].name`, report)
    );
  }
  if (tcpSocket !== undefined) checkPort(tcpSocket.port, `${at}.tcpSocket.port`, report);
  if (grpc !== undefined && grpc.port > 65535) report.error(`${at}.grpc.port`, grpc.port, "a port number, 1..65535");
}
