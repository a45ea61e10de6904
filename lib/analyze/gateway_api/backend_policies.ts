/**
 * Policies of backends that are not in force.
 *
 * @module
 */
import { backendTlsView } from "../../gateway_api/attach/policies.ts";
import { backendTrafficView } from "../../gateway_api/attach/traffic_policies.ts";
import type { PolicyAtTarget } from "../../gateway_api/attach/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { severityOfAbsence } from "../reader/absence.ts";

export const BACKEND_POLICIES: Analyzer<"BackendTLSPolicy"> = {
  kind: "BackendTLSPolicy",
  reports: ["unused-backend-policy"],
  analyze: (policy, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined) return;
    const view = backendTlsView(policy, gatewayApi, gatewayApi.options);
    reportTargets(view.targets, read, report);
    if (view.resolvedRefs.status === "True") return;
    const isClosed = view.authorities !== "system" && view.authorities.length === 0;
    report(severityOfAbsence(read, !view.resolvedRefs.message.includes("does not exist")), "unused-backend-policy", {
      field: "spec.validation.caCertificateRefs",
      value: policy.spec.validation.caCertificateRefs?.map(({ name }) => name),
      expected: `objects with authorities (${view.resolvedRefs.message})`,
      effect: isClosed
        ? "Nothing verifies the backends, so they cannot be reached."
        : "Backends are verified by the other authorities.",
    });
  },
};

export const TRAFFIC_POLICIES_OF_BACKENDS: Analyzer<"XBackendTrafficPolicy"> = {
  kind: "XBackendTrafficPolicy",
  reports: ["unused-backend-policy"],
  analyze: (policy, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined || !gatewayApi.options.experimental) return;
    const { targets, fault, ignored } = backendTrafficView(policy, gatewayApi, gatewayApi.options);
    reportTargets(targets, read, report);
    const wrong = fault ?? ignored;
    if (wrong !== undefined) {
      const { field, value, expected } = wrong;
      report(fault ? "error" : "warning", "unused-backend-policy", {
        ...{ field: `spec.${field}`, value, expected },
        ...(ignored && { effect: "Requests of one session go to any endpoint." }),
      });
    }
    const { retryConstraint, sessionPersistence } = policy.spec;
    if (retryConstraint !== undefined || sessionPersistence !== undefined) return;
    report("warning", "unused-backend-policy", {
      field: "spec.retryConstraint",
      expected: "retryConstraint or sessionPersistence",
      effect: "The policy changes nothing.",
      fix: "Add one of the fields, or remove the policy.",
    });
  },
};

function reportTargets(targets: readonly PolicyAtTarget[], read: AnalysisReader, report: ReportMistake): void {
  for (const { target, fault, accepted } of targets) {
    if (fault === undefined) continue;
    const isAbsent = accepted.reason === "TargetNotFound" && fault.field.endsWith(".name");
    // The service may exist without an object here.
    if (isAbsent && target.kind === "Service" && read.settings.assumeServices) continue;
    const { field, value, expected } = fault;
    report(isAbsent ? severityOfAbsence(read, true) : "error", "unused-backend-policy", {
      ...{ field: `spec.${field}`, value, expected },
    });
  }
}
