/**
 * "Did you mean" for hosts: a service with nearly the written name in the same namespace or domain. Otherwise a service
 * of another namespace: its host differs in a single label, or has the same name.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { serviceNamespace } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** The most hosts compared. With more hosts a folder of mistakes would cost too much. */
const MAX_HOSTS = 1000;

/**
 * The guess to add to an expectation; empty: no service is near.
 *
 * @param written The host as written. A short name is answered by a short name.
 * @param host The full name of the same host.
 * @param namespace The namespace of the object that names the host.
 */
export function nearHost(written: string, host: string, namespace: string, read: AnalysisReader): string {
  const full = longForm(host, namespace, read);
  if (full !== undefined) return `; did you mean ${full}?`;
  const home = serviceNamespace(host, read.settings.domainSuffix) ?? namespace;
  const hosts = hostsOf(home, read);
  if (hosts.length > MAX_HOSTS) return "";
  const [label, domain] = parted(host);
  // Whole hosts of the same domain would all be near each other.
  const labels = hosts.map(parted).filter(([, theirs]) => theirs === domain).map(([theirs]) => theirs);
  const guess = nearestName(label, labels);
  if (guess !== undefined) return `; did you mean ${guess}${parted(written)[1]}?`;
  const elsewhere = nearElsewhere(host, namespace, read);
  return elsewhere === undefined ? "" : `; did you mean ${elsewhere}?`;
}

/** The service whose short form is `name.namespace` or `name.namespace.svc`. Names with a dot are not completed. */
export function longForm(host: string, namespace: string, read: AnalysisReader): string | undefined {
  const { domainSuffix } = read.settings;
  return [`${host}.svc.${domainSuffix}`, `${host}.${domainSuffix}`].find((one) =>
    serviceNamespace(one, domainSuffix) !== undefined && read.knownHost(one, namespace) !== undefined
  );
}

function hostsOf(namespace: string, read: AnalysisReader): string[] {
  const entries = read.objectsIn("ServiceEntry", namespace).flatMap(({ spec }) => spec.hosts ?? []);
  return [
    ...entries.map((one) => read.fullHost(one, namespace)),
    ...read.serviceFacts(namespace).map((service) => service.host),
  ];
}

/** Searches the hosts of all namespaces visible to the object's namespace. */
function nearElsewhere(host: string, namespace: string, read: AnalysisReader): string | undefined {
  const entries = read.objects("ServiceEntry");
  if (entries.length > MAX_HOSTS) return undefined;
  const all = new Set(entries.flatMap(({ meta, spec }) => spec.hosts.map((one) => read.fullHost(one, meta.namespace))));
  for (const one of read.namespaceNames()) {
    for (const known of read.serviceFacts(one)) all.add(known.host);
    if (all.size > MAX_HOSTS) return undefined;
  }
  const seen = (guess: string | undefined) =>
    guess !== undefined && read.knownHost(guess, namespace) ? guess : undefined;
  return seen(nearByOneLabel(host, all)) ?? seen(sameName(host, all, read));
}

/** The host that differs in a single label by a slip. */
function nearByOneLabel(host: string, all: ReadonlySet<string>): string | undefined {
  const wanted = host.split(".");
  const split = [...all].map((one) => one.split(".")).filter(({ length }) => length === wanted.length);
  for (const [at, label] of wanted.entries()) {
    const others = split.filter((theirs) => theirs.every((one, i) => i === at || one === wanted[i]));
    const guess = nearestName(label, others.map((theirs) => theirs[at] ?? ""));
    if (guess !== undefined) return wanted.with(at, guess).join(".");
  }
  return undefined;
}

/** The only service of the name in another namespace. */
function sameName(host: string, all: ReadonlySet<string>, read: AnalysisReader): string | undefined {
  const { domainSuffix } = read.settings;
  if (serviceNamespace(host, domainSuffix) === undefined) return undefined;
  const [label] = parted(host);
  const found = [...all].filter((one) => parted(one)[0] === label && serviceNamespace(one, domainSuffix) !== undefined);
  return found.length === 1 ? found[0] : undefined;
}

/** The first label, and the rest with its dot. */
function parted(host: string): [label: string, domain: string] {
  const dot = host.indexOf(".");
  return dot < 0 ? [host, ""] : [host.slice(0, dot), host.slice(dot)];
}
