/**
 * Rules of PeerAuthentication.
 *
 * @module
 */
import { joinPath } from "../../schema/field.ts";
import { checkSelector } from "../../validation/shared.ts";
import type { Validate } from "../validate.ts";
import type { PeerAuthenticationSpec } from "./schema.ts";

/** Checks a PeerAuthentication. */
export const validatePeerAuthentication: Validate<PeerAuthenticationSpec> = (spec, _meta, report) => {
  const ports = Object.keys(spec.portLevelMtls ?? {});
  if (ports.length > 0 && spec.selector?.matchLabels === undefined) {
    report.error("spec.portLevelMtls", ports.join(", "), "a selector with labels beside it (ports differ by workload)");
  }
  if (spec.portLevelMtls !== undefined && ports.length === 0) {
    report.error("spec.portLevelMtls", {}, "at least one port");
  }
  for (const port of ports) {
    const right = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535;
    if (!right) report.error(joinPath("spec.portLevelMtls", port), port, "a port number, 1..65535");
  }
  checkSelector(spec.selector, "spec.selector", report);
};
