/**
 * Rules of the experimental kinds of the Gateway API beyond their schemas: rules that the definitions of v1.6.1 express in
 * CEL.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import type { Validate } from "../validate.ts";
import type { RetryConstraint, XBackendSpec, XBackendTrafficPolicySpec, XMeshSpec } from "./experimental.ts";
import { checkBackendValidation, checkDistinct, checkSession } from "./validate_parts.ts";

/** Checks an XMesh: the definition has only a rule about changes. */
export const validateXMesh: Validate<XMeshSpec> = () => {};

/** Checks an XBackend. */
export const validateXBackend: Validate<XBackendSpec> = ({ type, port, externalHostname, tls }, _meta, report) => {
  // The definition means a label of DNS, and its rule is true of no name.
  if (port.name) report.warning("spec.port.name", port.name, "no name: the definition of v1.6.1 refuses every name");
  if (type === "ExternalHostname" && externalHostname === undefined) {
    report.error("spec.externalHostname", undefined, "a host: the type is ExternalHostname");
  }
  const hostname = externalHostname?.hostname ?? "";
  if (hostname.endsWith(".cluster.local")) {
    report.error("spec.externalHostname.hostname", hostname, "a host outside of the cluster");
  }
  if (tls === undefined) return;
  const { mode, clientCertificateRef, validation } = tls;
  const at = "spec.tls.clientCertificateRef";
  if (mode === "ClientAndServer" && clientCertificateRef === undefined) {
    report.error(at, undefined, "a certificate: the mode is ClientAndServer");
  }
  // An unknown mode has failed already.
  if ((mode === "None" || mode === "ServerOnly") && clientCertificateRef !== undefined) {
    report.error(at, clientCertificateRef.name, `no certificate: the mode is ${mode}`, "exclusive-fields");
  }
  if (validation !== undefined) checkBackendValidation(validation, "spec.tls.validation", report);
};

/** Checks an XBackendTrafficPolicy. */
export const validateXBackendTrafficPolicy: Validate<XBackendTrafficPolicySpec> = (spec, _meta, report) => {
  checkDistinct(spec.targetRefs, "spec.targetRefs", {
    keyOf: ({ group, kind, name }) => `${group === "" ? kind : `${kind}.${group}`} ${name}`,
    expected: "a target that no earlier reference names",
  }, report);
  if (spec.retryConstraint !== undefined) checkRetries(spec.retryConstraint, "spec.retryConstraint", report);
  checkSession(spec.sessionPersistence, "spec.sessionPersistence", report);
};

const SECOND = 1000;
const HOUR = 3_600_000;

function checkRetries({ budget, minRetryRate }: RetryConstraint, at: string, report: Findings): void {
  if (budget.interval < SECOND || budget.interval > HOUR) {
    report.error(`${at}.budget.interval`, `${budget.interval}ms`, "1s to 1h");
  }
  const { interval = SECOND } = minRetryRate;
  if (interval <= 0 || interval > HOUR) {
    report.error(`${at}.minRetryRate.interval`, `${interval}ms`, "more than 0s, at most 1h");
  }
}
