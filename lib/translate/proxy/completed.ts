/**
 * A proxy with what registries know of its workload. What the proxy says of itself has precedence; what its agent was not
 * given is taken from where endpoints have it, so that a client and an endpoint of one workload are in one place.
 *
 * @module
 */
import type { Proxy } from "./node.ts";

/** The facts of a workload that its proxy may lack. */
export type WorkloadFacts = Pick<Proxy["properties"], "labels" | "locality" | "network">;

/**
 * The proxy with these facts in the place of what it lacks. The same object where nothing changes.
 *
 * @param known Undefined: nothing is known of it, and the proxy is as it introduced itself.
 */
export function completed(proxy: Proxy, known: WorkloadFacts | undefined): Proxy {
  const { reported = proxy, properties: { patched } } = proxy;
  if (known === undefined) {
    return reported === proxy ? proxy : { ...reported, properties: { ...reported.properties, patched } };
  }
  const own = reported.properties;
  const facts: WorkloadFacts = {
    labels: { ...known.labels, ...own.labels },
    locality: own.locality || known.locality,
    network: own.network || known.network,
  };
  if (sameFacts(facts, proxy.properties)) return proxy;
  return { ...reported, reported, properties: { ...own, ...facts, patched } };
}

function sameFacts(a: WorkloadFacts, b: WorkloadFacts): boolean {
  const keys = Object.keys(a.labels);
  return a.locality === b.locality && a.network === b.network && keys.length === Object.keys(b.labels).length &&
    keys.every((key) => a.labels[key] === b.labels[key]);
}
