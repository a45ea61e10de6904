/**
 * Rules of Gateway, GatewayClass, ListenerSet, ReferenceGrant, BackendTLSPolicy and InferencePool beyond their schemas:
 * rules that the definitions of the Gateway API v1.6.1 and of its Inference Extension v1.6.0 express in CEL, and rules of
 * their formats.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { isIpAddress } from "../../validation/network.ts";
import type { Validate } from "../validate.ts";
import type {
  ApiGatewayAddress,
  ApiGatewaySpec,
  ApiListener,
  GatewayClassSpec,
  GatewayInfrastructure,
  ListenerSetSpec,
  ListenerTls,
} from "./gateway.ts";
import type { InferencePoolSpec } from "./inference_pool.ts";
import type { BackendTLSPolicySpec, ReferenceGrantSpec } from "./policies.ts";
import { checkBackendValidation, checkDistinct } from "./validate_parts.ts";

/** Checks a GatewayClass: the definitions have only a rule about changes. */
export const validateGatewayClass: Validate<GatewayClassSpec> = () => {};

/** Checks a Gateway. */
export const validateApiGateway: Validate<ApiGatewaySpec> = (spec, _meta, report) => {
  checkListeners(spec.listeners, report);
  checkAddresses(spec.addresses, report);
  checkInfrastructure(spec.infrastructure, report);
  const expected = "a port that no other entry has";
  const perPort = { keyOf: ({ port }: { readonly port: number }) => String(port), partOf: ".port", expected };
  checkDistinct(spec.tls?.frontend?.perPort, "spec.tls.frontend.perPort", perPort, report);
};

/** Checks a ListenerSet. */
export const validateListenerSet: Validate<ListenerSetSpec> = (spec, _meta, report) => {
  checkListeners(spec.listeners, report);
};

/** Checks a ReferenceGrant: the definitions have no rules for it. */
export const validateReferenceGrant: Validate<ReferenceGrantSpec> = () => {};

/** Checks a BackendTLSPolicy. */
export const validateBackendTlsPolicy: Validate<BackendTLSPolicySpec> = (spec, _meta, report) => {
  checkTargets(spec, report);
  checkBackendValidation(spec.validation, "spec.validation", report);
};

function checkTargets({ targetRefs }: BackendTLSPolicySpec, report: Findings): void {
  const hasSection = new Map<string, boolean>();
  const seen = new Set<string>();
  targetRefs.forEach(({ group, kind, name, sectionName }, index) => {
    const at = `spec.targetRefs[${index}]`;
    const target = JSON.stringify([group, kind, name]);
    const part = JSON.stringify([target, sectionName]);
    const first = hasSection.get(target);
    if (first === undefined) hasSection.set(target, sectionName !== undefined);
    else if (seen.has(part)) report.error(at, name, "a target, or a port of a target, that no earlier reference names");
    else if (first !== (sectionName !== undefined)) {
      const expected = "either all references to this target with a sectionName, or none";
      report.error(`${at}.sectionName`, sectionName, expected);
    }
    seen.add(part);
  });
}

/** Checks an InferencePool. */
export const validateInferencePool: Validate<InferencePoolSpec> = (spec, _meta, report) => {
  const { targetPorts, selector, endpointPickerRef: picker } = spec;
  checkDistinct(targetPorts, "spec.targetPorts", {
    // A port without a number has failed already.
    keyOf: ({ number }) => number === 0 ? undefined : String(number),
    partOf: ".number",
    expected: "a port that no other entry has",
  }, report);
  if (Object.keys(selector.matchLabels).length === 0) {
    report.error("spec.selector.matchLabels", selector.matchLabels, "at least one label");
  }
  if (picker?.kind === "Service" && picker.port === undefined) {
    report.error("spec.endpointPickerRef.port", undefined, "a port of the Service");
  }
};

/** Protocols of listeners without TLS. */
const PLAIN: ReadonlySet<string> = new Set(["HTTP", "TCP", "UDP"]);

function checkListeners(listeners: readonly ApiListener[], report: Findings): void {
  const at = "spec.listeners";
  const expected = "a name that no other listener has";
  checkDistinct(listeners, at, { keyOf: ({ name }) => name, partOf: ".name", expected }, report);
  checkDistinct(listeners, at, {
    // A listener without a port has failed already.
    keyOf: ({ port, protocol, hostname = "any host" }) => port === 0 ? undefined : `${port} ${protocol} ${hostname}`,
    expected: "a combination of port, protocol and hostname that no other listener has",
  }, report);
  listeners.forEach((listener, index) => checkListener(listener, `${at}[${index}]`, report));
}

function checkListener({ protocol, hostname, tls }: ApiListener, at: string, report: Findings): void {
  if (PLAIN.has(protocol) && tls !== undefined) {
    report.error(`${at}.tls`, tls, `no TLS settings: the protocol is ${protocol}`, "exclusive-fields");
  }
  if (protocol === "TLS" && tls === undefined) {
    report.error(`${at}.tls`, undefined, "TLS settings with a mode: the protocol is TLS");
  }
  if (protocol === "HTTPS" && tls?.mode === "Passthrough") {
    report.error(`${at}.tls.mode`, tls.mode, "Terminate: the protocol is HTTPS");
  }
  if ((protocol === "TCP" || protocol === "UDP") && hostname !== undefined) {
    report.error(`${at}.hostname`, hostname, `no host name: the protocol is ${protocol}`, "exclusive-fields");
  }
  if (tls !== undefined) checkTls(tls, `${at}.tls`, report);
}

function checkTls({ mode, certificateRefs, options }: ListenerTls, at: string, report: Findings): void {
  if (mode === "Terminate" && certificateRefs === undefined && options === undefined) {
    report.error(`${at}.certificateRefs`, undefined, "a certificate, or options: the mode is Terminate");
  }
}

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function checkAddresses(addresses: readonly ApiGatewayAddress[] | undefined, report: Findings): void {
  const at = "spec.addresses";
  addresses?.forEach(({ type, value }, index) => {
    if (value === undefined) return;
    if (type === "IPAddress" && !isIpAddress(value)) report.error(`${at}[${index}].value`, value, "an IP address");
    if (type === "Hostname" && !HOST.test(value)) {
      report.error(`${at}[${index}].value`, value, "a host name in lower case, optionally starting with *.");
    }
  });
  checkDistinct(addresses, at, {
    keyOf: ({ type, value }) =>
      value !== undefined && (type === "IPAddress" || type === "Hostname") ? `${type} ${value}` : undefined,
    partOf: ".value",
    expected: "a value that no other address of the type has",
  }, report);
}

/** A key of a label or an annotation. */
const KEY =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Longest prefix and longest name of a key, in characters. */
const LONGEST = { prefix: 252, name: 63 } as const;

function isKey(key: string): boolean {
  const parts = key.split("/");
  return KEY.test(key) && parts[0]!.length <= LONGEST.prefix && parts.at(-1)!.length <= LONGEST.name;
}

function checkInfrastructure(infrastructure: GatewayInfrastructure | undefined, report: Findings): void {
  for (const what of ["labels", "annotations"] as const) {
    for (const key of Object.keys(infrastructure?.[what] ?? {})) {
      const expected = `keys such as app or example.com/app (at most ${LONGEST.prefix} and ${LONGEST.name} characters)`;
      if (!isKey(key)) report.error(`spec.infrastructure.${what}`, key, expected);
    }
  }
}
