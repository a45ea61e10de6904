/**
 * XBackends that are not used as written.
 *
 * @module
 */
import { externalBackendView } from "../../gateway_api/attach/external_backends.ts";
import type { Analyzer } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";

export const EXTERNAL_BACKENDS: Analyzer<"XBackend"> = {
  kind: "XBackend",
  reports: ["unused-external-backend"],
  analyze: (backend, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined || !gatewayApi.options.experimental) return;
    const { fault, accepted, resolvedRefs } = externalBackendView(backend, gatewayApi, gatewayApi.options);
    if (fault !== undefined) {
      const { field, value, expected } = fault;
      return report("error", "unused-external-backend", { field: `spec.${field}`, value, expected });
    }
    const message = accepted.status === "False" ? accepted.message : resolvedRefs?.message ?? "";
    if (accepted.status !== "False" && resolvedRefs?.status !== "False") return;
    report(severityOfAbsence(read, !message.includes("does not exist")), "unused-external-backend", {
      field: "spec.tls.validation",
      value: backend.spec.tls?.validation?.caCertificateRefs?.map(({ name }) => name),
      expected: `authorities that verify the backend (${message})`,
      effect: accepted.status === "False"
        ? "Nothing verifies the backend, so it cannot be reached."
        : "The backend is verified by the other authorities.",
    });
  },
};
