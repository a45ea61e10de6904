/**
 * Rules of WorkloadEntry, also as an endpoint of a ServiceEntry.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { joinPath } from "../../schema/field.ts";
import { checkLabels, hostProblem } from "../../validation/names.ts";
import { checkPort, checkPortName, checkUnixPath, isIpAddress, UNIX_PREFIX } from "../../validation/network.ts";
import type { Validate } from "../validate.ts";
import type { WorkloadEntrySpec } from "./schema.ts";

/** Checks a WorkloadEntry object. */
export const validateWorkloadEntry: Validate<WorkloadEntrySpec> = (spec, _meta, report) => {
  checkWorkload(spec, "spec", report, { hostNames: true });
};

/** Differences for endpoints of a ServiceEntry. */
export interface WorkloadRules {
  /** Whether host names are addresses too (DNS resolutions, and entries of unknown use). */
  readonly hostNames: boolean;
  /** Names of the service's ports; absent when not known. */
  readonly servicePorts?: ReadonlySet<string>;
  /** Whether the address may be a unix socket; default true. */
  readonly unix?: boolean;
}

/** Checks a workload's address, ports and labels. */
export function checkWorkload(spec: WorkloadEntrySpec, at: string, report: Findings, rules: WorkloadRules): void {
  const { address = "", ports } = spec;
  const unix = rules.unix !== false && address.startsWith(UNIX_PREFIX);
  if (address === "") {
    if (spec.network === undefined) report.error(`${at}.address`, undefined, "an address (or the network it is in)");
    else report.warning(`${at}.address`, undefined, `an address (only network ${spec.network} is known)`);
  } else if (unix) {
    checkUnixPath(address, `${at}.address`, report);
    if (ports !== undefined) report.error(`${at}.ports`, ports, "no ports together with a unix socket");
    if (rules.servicePorts !== undefined && rules.servicePorts.size !== 1) {
      report.error(`${at}.address`, address, "a service with exactly 1 port together with a unix socket");
    }
  } else if (!isIpAddress(address) && (!rules.hostNames || hostProblem(address) !== undefined)) {
    report.error(`${at}.address`, address, rules.hostNames ? "an IP address or host name" : "an IP address");
  }
  for (const name in ports) {
    const where = joinPath(`${at}.ports`, name);
    if (rules.servicePorts?.has(name) === false) {
      report.error(where, name, `the name of a port of the service (${[...rules.servicePorts].join(", ")})`);
    }
    checkPortName(name, where, report);
    checkPort(ports[name] ?? 0, where, report);
  }
  if (spec.labels !== undefined) checkLabels(spec.labels, `${at}.labels`, report);
}
