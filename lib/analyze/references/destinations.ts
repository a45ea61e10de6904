/**
 * Destinations of VirtualServices: host, then port, then subset. The first mistake causes the following ones, so only
 * the first is reported.
 *
 * @module
 */
import { severityOfAbsence } from "../reader/absence.ts";
import type { ConfigObject } from "../../config/types.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { type KnownHost, ofService, serviceNamespace } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { exportOf, meets } from "../reader/audience.ts";
import { destinationsOf, effectOf, orList, type WrittenDestination } from "./destination_list.ts";
import { nearHost } from "./near_host.ts";
import { clientsOfRoute } from "./hidden_subsets.ts";
import { lookForSubset } from "./subsets.ts";

export const DESTINATIONS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: [
    "unknown-host",
    "hidden-by-export",
    "unknown-port",
    "port-required",
    "unknown-subset",
    "hidden-subset",
    "subset-without-endpoints",
  ],
  analyze: (object, read, report) => {
    const { meta: { namespace }, spec: { exportTo } } = object;
    const audience = effectiveExportTo(exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    const isPrivate = audience.length === 1 && audience[0] === namespace;
    const route = { hosts: object.spec.hosts ?? [], audience: clientsOfRoute(object.spec, audience) };
    for (const one of destinationsOf(object.spec)) {
      const host = read.fullHost(one.destination.host, namespace);
      const known = hostFor(object, audience, host, one, read, report);
      if (known && hasPort(known, one, report)) {
        // DestinationRules are for the host with the clusters.
        lookForSubset({ namespace, isPrivate, route, host: known.host, known }, one, read, report);
      }
    }
  },
};

/**
 * The known facts of a destination's host. Reports an unknown host, and a host that no namespace with the route sees.
 */
function hostFor(
  { meta: { namespace } }: ConfigObject<"VirtualService">,
  audience: readonly string[],
  host: string,
  written: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): KnownHost | undefined {
  const known = read.knownHost(host, namespace);
  if (known) return known;
  const { destination, field, percent } = written;
  const hidden = read.servicesOf(host);
  const seen = hidden.find((service) => meets(exportOf(service, read), audience));
  if (seen) return ofService(seen);
  const at = { field: `${field}.host`, value: destination.host, ...effectOf(percent) };
  if (hidden.length > 0) {
    const each = hidden.map((one) =>
      `${host} of namespace ${one.namespace} is exported to ${exportOf(one, read).join(", ")}`
    );
    const expected = `a host that namespace ${namespace} sees (${each.join("; ")})`;
    report("error", "hidden-by-export", { ...at, expected, others: hidden.map(({ cause }) => cause) });
  } else if (!read.existsAnywhere(host) && !isOfRefused(host, namespace, read)) {
    const near = nearHost(destination.host, host, namespace, read);
    report(severityOfAbsence(read, tellsOfServices(host, namespace, read)), "unknown-host", {
      ...at,
      expected: `the host of a service (no service has ${host})${near}`,
    });
  }
  return undefined;
}

/** Whether the texts show services in the namespace of a host, so that a missing service is a mistake. */
function tellsOfServices(host: string, namespace: string, read: AnalysisReader): boolean {
  const home = serviceNamespace(host, read.settings.domainSuffix) ?? namespace;
  return home === namespace || read.serviceFacts(home).length > 0 || read.objectsIn("ServiceEntry", home).length > 0;
}

/** Whether a refused object may define the host. The mistake is then only in that object. */
function isOfRefused(host: string, namespace: string, read: AnalysisReader): boolean {
  if (read.hasRefused("ServiceEntry", namespace)) return true;
  const home = serviceNamespace(host, read.settings.domainSuffix);
  return home !== undefined && read.isRefused("Service", home, host.slice(0, host.indexOf(".")));
}

/** Whether the service has the port of a destination. A service with a single port needs no port in the destination. */
function hasPort(
  known: KnownHost,
  written: WrittenDestination,
  report: ReportMistake,
): boolean {
  const { destination, percent } = written;
  const { ports, cause } = known;
  if (ports === undefined || ports.length === 0) return true;
  const wanted = destination.port?.number;
  const carried = ports.filter(({ datagrams }) => !datagrams);
  if (wanted === undefined ? ports.length === 1 : carried.some(({ number }) => number === wanted)) return true;
  const numbers = [...new Set(carried.map(({ number }) => number))].sort((a, b) => a - b);
  const others = cause === undefined ? [] : [cause];
  if (wanted === undefined) {
    if (numbers.length < 2) return true;
    const expected = `port.number ${orList(numbers)}, since ${known.host} has several ports`;
    report("warning", "port-required", { field: `${written.field}.port`, expected, others });
    return true;
  }
  const isDatagrams = ports.some(({ number }) => number === wanted);
  const own = numbers.length === 0 ? "a TCP port" : orList(numbers);
  const expected = `${own} of ${known.host}${
    isDatagrams ? ` (proxies do not carry datagrams, as port ${wanted} does)` : ""
  }`;
  report("error", "unknown-port", {
    field: `${written.field}.port.number`,
    value: wanted,
    expected,
    others,
    ...effectOf(percent),
  });
  return false;
}
