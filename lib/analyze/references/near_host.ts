/**
 * "Did you mean" for hosts: a service whose name is nearly the one that was written, in the same namespace or domain.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { serviceNamespace } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** Hosts of a namespace among which a near one is looked for: with more of them a folder of mistakes would cost too much. */
const MAX_HOSTS = 1000;

/**
 * The guess to add to an expectation; empty: no service is near.
 *
 * @param written The host as it was written, so that a short name is answered by a short name.
 * @param host The same in full.
 * @param namespace Of the object that names it.
 */
export function nearHost(written: string, host: string, namespace: string, read: AnalysisReader): string {
  const home = serviceNamespace(host, read.settings.domainSuffix) ?? namespace;
  const entries = read.objectsIn("ServiceEntry", home).flatMap(({ spec }) => spec.hosts ?? []);
  const hosts = [
    ...entries.map((one) => read.fullHost(one, home)),
    ...read.serviceFacts(home).map((service) => service.host),
  ];
  if (hosts.length > MAX_HOSTS) return "";
  const [label, domain] = parted(host);
  // Whole hosts of one domain would all be near each other.
  const labels = hosts.map(parted).filter(([, theirs]) => theirs === domain).map(([theirs]) => theirs);
  const guess = nearestName(label, labels);
  return guess === undefined ? "" : `; did you mean ${guess}${parted(written)[1]}?`;
}

/** The first label, and the rest with its dot. */
function parted(host: string): [label: string, domain: string] {
  const dot = host.indexOf(".");
  return dot < 0 ? [host, ""] : [host.slice(0, dot), host.slice(dot)];
}
