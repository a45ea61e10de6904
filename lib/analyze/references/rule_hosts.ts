/**
 * DestinationRules for hosts without a service, and for hosts whose requests use the clusters of another host.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { namedService } from "../../mesh/named_service.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { longForm } from "./near_host.ts";

export const RULE_HOSTS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["unknown-rule-host", "rule-without-clusters"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const host = read.fullHost(spec.host, namespace);
    // A wildcard may be for services that come later.
    if (isWildcard(host)) return;
    const known = read.knownHost(host, namespace)?.host ?? anywhere(host, read);
    if (known !== undefined) {
      if (known === host) return;
      return report("warning", "rule-without-clusters", {
        field: "spec.host",
        value: spec.host,
        expected: `a host that has clusters of its own, as ${known} has: requests to ${host} use those`,
        fix: `Write a rule for ${known}: the rule covers all hosts that lead there.`,
      });
    }
    // A refused ServiceEntry may define the host.
    if (read.hasRefused("ServiceEntry", namespace)) return;
    const hosts = read.objectsIn("ServiceEntry", namespace).flatMap((entry) => entry.spec.hosts);
    const closest = longForm(host, namespace, read) ?? nearestName(host, hosts);
    report("warning", "unknown-rule-host", {
      field: "spec.host",
      value: spec.host,
      expected: `the host of a service (no service has ${host})${closest === undefined ? "" : `, such as ${closest}`}`,
    });
  },
};

/** The host whose clusters the requests use, as seen from some namespace. */
function anywhere(host: string, read: AnalysisReader): string | undefined {
  return namedService(host, (name) => read.servicesOf(name)[0]).service?.hostname;
}
