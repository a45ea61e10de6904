/**
 * Rules of DestinationRule.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { checkLocality } from "../../validation/locality.ts";
import { checkLabels, hostProblem, isDnsLabel, wildcardHostProblem } from "../../validation/names.ts";
import { checkPort, isIpAddress } from "../../validation/network.ts";
import { checkConnectionPool, checkExportTo, checkSelector } from "../../validation/shared.ts";
import { checkClientTls } from "../../validation/tls.ts";
import { checkDuration, checkHeadText, checkPercent } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import type {
  ConsistentHashLb,
  DestinationRuleSpec,
  LoadBalancerSettings,
  OutlierDetection,
  PortPolicy,
  TrafficPolicy,
  TunnelSettings,
} from "./schema.ts";

/** Checks a DestinationRule. */
export const validateDestinationRule: Validate<DestinationRuleSpec> = (spec, meta, report) => {
  const wrong = wildcardHostProblem(spec.host);
  if (wrong !== undefined) report.error("spec.host", spec.host, wrong);
  checkTrafficPolicy(spec.trafficPolicy, meta.namespace, "spec.trafficPolicy", report);
  const names = new Set<string>();
  spec.subsets?.forEach((subset, index) => {
    const at = `spec.subsets[${index}]`;
    if (!isDnsLabel(subset.name)) {
      report.error(`${at}.name`, subset.name, "the name of a subset (letters, digits and inner -, at most 63)");
    } else if (names.has(subset.name)) report.error(`${at}.name`, subset.name, "a name that no other subset has");
    names.add(subset.name);
    checkLabels(subset.labels, `${at}.labels`, report);
    checkTrafficPolicy(subset.trafficPolicy, meta.namespace, `${at}.trafficPolicy`, report);
  });
  checkExportTo(spec.exportTo, meta.namespace, report, { ownOnly: spec.workloadSelector !== undefined });
  checkSelector(spec.workloadSelector, "spec.workloadSelector", report);
};

const POLICY_FIELDS = ["loadBalancer", "connectionPool", "outlierDetection", "tls"] as const;
const ALL_FIELDS = [...POLICY_FIELDS, "portLevelSettings", "tunnel", "proxyProtocol"] as const;

function checkTrafficPolicy(
  policy: TrafficPolicy | undefined,
  namespace: string,
  at: string,
  report: Findings,
): void {
  if (policy === undefined) return;
  if (ALL_FIELDS.every((field) => policy[field] === undefined)) {
    report.error(at, {}, `at least one of ${ALL_FIELDS.join(", ")}`);
  }
  if (policy.tunnel !== undefined && policy.proxyProtocol !== undefined) {
    report.error(at, "tunnel and proxyProtocol", "only one of the two");
  }
  checkPolicy(policy, namespace, at, report);
  policy.portLevelSettings?.forEach((entry, index) => {
    const where = `${at}.portLevelSettings[${index}]`;
    if (entry.port === undefined) report.error(`${where}.port`, undefined, "a port with its number");
    else checkPort(entry.port.number, `${where}.port.number`, report);
    if (POLICY_FIELDS.every((field) => entry[field] === undefined)) {
      report.error(where, {}, `at least one of ${POLICY_FIELDS.join(", ")}`);
    }
    checkPolicy(entry, namespace, where, report);
  });
  checkTunnel(policy.tunnel, `${at}.tunnel`, report);
}

function checkPolicy(policy: PortPolicy, namespace: string, at: string, report: Findings): void {
  checkOutlierDetection(policy.outlierDetection, `${at}.outlierDetection`, report);
  checkConnectionPool(policy.connectionPool, `${at}.connectionPool`, report);
  checkLoadBalancer(policy.loadBalancer, policy.outlierDetection !== undefined, `${at}.loadBalancer`, report);
  checkClientTls(policy.tls, namespace, `${at}.tls`, report);
}

function checkTunnel(tunnel: TunnelSettings | undefined, at: string, report: Findings): void {
  if (tunnel === undefined) return;
  if (tunnel.protocol !== undefined && tunnel.protocol !== "CONNECT" && tunnel.protocol !== "POST") {
    report.error(`${at}.protocol`, tunnel.protocol, "CONNECT or POST");
  }
  if (!isIpAddress(tunnel.targetHost) && hostProblem(tunnel.targetHost) !== undefined) {
    report.error(`${at}.targetHost`, tunnel.targetHost, "a host name or IP address");
  }
  checkPort(tunnel.targetPort, `${at}.targetPort`, report);
}

function checkOutlierDetection(outlier: OutlierDetection | undefined, at: string, report: Findings): void {
  if (outlier === undefined) return;
  if (outlier.consecutiveErrors !== undefined) {
    report.warning(
      `${at}.consecutiveErrors`,
      outlier.consecutiveErrors,
      "consecutiveGatewayErrors or consecutive5xxErrors, which replace it",
      "deprecated-field",
    );
  }
  const local = outlier.consecutiveLocalOriginFailures ?? 0;
  if (local > 0 && outlier.splitExternalLocalOriginErrors !== true) {
    report.error(
      `${at}.consecutiveLocalOriginFailures`,
      local,
      "splitExternalLocalOriginErrors: true beside it (without it the count is never kept)",
    );
  }
  checkDuration(outlier.interval, `${at}.interval`, report);
  checkDuration(outlier.baseEjectionTime, `${at}.baseEjectionTime`, report);
  checkPercent(outlier.maxEjectionPercent, `${at}.maxEjectionPercent`, report);
  checkPercent(outlier.minHealthPercent, `${at}.minHealthPercent`, report);
}

function checkLoadBalancer(
  settings: LoadBalancerSettings | undefined,
  hasOutlierDetection: boolean,
  at: string,
  report: Findings,
): void {
  if (settings === undefined) return;
  checkConsistentHash(settings.consistentHash, `${at}.consistentHash`, report);
  checkLocality(settings.localityLbSetting, hasOutlierDetection, `${at}.localityLbSetting`, report);
  const { warmup } = settings;
  if (warmup === undefined) return;
  checkDuration(warmup.duration, `${at}.warmup.duration`, report);
  const { minimumPercent = 0, aggression = 1 } = warmup;
  if (minimumPercent < 0 || minimumPercent > 100) {
    report.error(`${at}.warmup.minimumPercent`, minimumPercent, "a percentage, 0..100");
  }
  if (aggression < 1) report.error(`${at}.warmup.aggression`, aggression, "1 or more");
}

/** Largest ring of the proxy. */
const MAX_RING_SIZE = 8_388_608;

/** Largest table of Maglev in the proxy, exclusive. */
const MAX_TABLE_SIZE = 5_000_011;

function checkConsistentHash(hash: ConsistentHashLb | undefined, at: string, report: Findings): void {
  if (hash === undefined) return;
  const { ringHash, maglev, minimumRingSize, httpHeaderName } = hash;
  if (httpHeaderName === "") report.error(`${at}.httpHeaderName`, "", "a header name");
  checkHeadText(httpHeaderName, `${at}.httpHeaderName`, report);
  checkRingSize(ringHash?.minimumRingSize, `${at}.ringHash.minimumRingSize`, report);
  checkRingSize(minimumRingSize, `${at}.minimumRingSize`, report);
  if (minimumRingSize !== undefined) {
    report.warning(
      `${at}.minimumRingSize`,
      minimumRingSize,
      "ringHash.minimumRingSize, which replaces it",
      "deprecated-field",
    );
    if (ringHash !== undefined || maglev !== undefined) {
      report.error(`${at}.minimumRingSize`, minimumRingSize, "only one of minimumRingSize, ringHash, maglev");
    }
  }
  if (maglev !== undefined) {
    const { tableSize = 0 } = maglev;
    if (tableSize >= MAX_TABLE_SIZE || !isPrime(tableSize)) {
      report.error(`${at}.maglev.tableSize`, tableSize, `a prime number below ${MAX_TABLE_SIZE}`);
    }
  }
}

function checkRingSize(size: number | undefined, at: string, report: Findings): void {
  if (size !== undefined && size > MAX_RING_SIZE) report.error(at, size, `at most ${MAX_RING_SIZE}`);
}

function isPrime(number: number): boolean {
  if (number < 2) return false;
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false;
  return true;
}
