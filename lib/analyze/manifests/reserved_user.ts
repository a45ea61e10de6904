/**
 * Containers that run as the proxy's user: their traffic is not captured.
 *
 * @module
 */
import { WORKLOAD_KINDS, type WorkloadKind } from "../../config/facts/workload_data.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { isControlPlane, isProxyContainer } from "./membership.ts";

/** The proxy's user. Redirection ignores the traffic of this user. */
const PROXY_UID = 1337;

/** An analyzer for each kind of workloads. */
export const RESERVED_USERS: readonly Analyzer<WorkloadKind>[] = WORKLOAD_KINDS.map((kind) => ({
  kind,
  reports: ["reserved-user"],
  analyze: (workload, _read, report) => look(workload, report),
}));

function look(workload: Fact<WorkloadKind>, report: ReportMistake): void {
  if (isControlPlane(workload)) return;
  const { spec, kind } = workload;
  const path = kind === "Pod"
    ? "spec"
    : kind === "CronJob"
    ? "spec.jobTemplate.spec.template.spec"
    : "spec.template.spec";
  const at = (place: string) =>
    report("warning", "reserved-user", {
      field: `${path}.${place}securityContext.runAsUser`,
      value: PROXY_UID,
      expected: `a user other than ${PROXY_UID}`,
    });
  if (spec.runAsUser === PROXY_UID) at("");
  for (const [index, container] of spec.containers.entries()) {
    // Containers that end before the proxy starts are never captured.
    if (
      (container.init && container.sidecar !== true) || isProxyContainer(container) || container.runAsUser !== PROXY_UID
    ) continue;
    at(`containers[${index}].`);
  }
}
