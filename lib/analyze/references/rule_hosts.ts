/**
 * DestinationRules for hosts that no service has.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import type { Analyzer } from "../analyzer.ts";

/** See the module. */
export const RULE_HOSTS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["unknown-rule-host"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const host = read.fullHost(spec.host, namespace);
    // A wildcard may be for services that come later.
    if (isWildcard(host) || read.knownHost(host, namespace) !== undefined || read.existsAnywhere(host)) return;
    // The entry that is refused may be the one that has the host.
    if (read.hasRefused("ServiceEntry", namespace)) return;
    const hosts = read.objectsIn("ServiceEntry", namespace).flatMap((entry) => entry.spec.hosts);
    const closest = nearestName(host, hosts);
    report("warning", "unknown-rule-host", {
      field: "spec.host",
      value: spec.host,
      expected: `a host that a service has (${host} has none)${closest === undefined ? "" : `, such as ${closest}`}`,
    });
  },
};
