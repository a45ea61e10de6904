/**
 * Finds the proxy for a name: `shop/cart`, `cart.shop`, an IP address or a node id.
 *
 * @module
 */
import { nearestName } from "../kernel/text/nearest.ts";
import { canonicalIp, isIp } from "../registry/address.ts";
import { NodeRefused, parseNodeId } from "../translate/proxy/identity.ts";
import { type ImpliedOptions, type ImpliedProxy, NO_ADDRESS, unknownWorkload, WITH_AGENT } from "./workloads.ts";

/** The found proxy, and a note about the choice. */
export interface FoundProxy {
  readonly proxy: ImpliedProxy;
  /** A sentence; undefined: the name fits exactly one workload. */
  readonly note?: string;
}

/** A name that fits no proxy. The message has the name and says what was expected. */
export class NoSuchProxy extends Error {
  override readonly name = "NoSuchProxy";
}

/** The most names listed in a message. */
const MAX_LISTED = 10;

/**
 * Finds the proxy. A workload missing in the texts is taken as a sidecar without labels if its namespace is known,
 * because folders often hold only rules.
 *
 * @throws {NoSuchProxy}
 */
export function findProxy(wanted: string, proxies: readonly ImpliedProxy[], options: ImpliedOptions): FoundProxy {
  if (wanted.includes("~")) return { proxy: byNodeId(wanted, proxies) };
  if (isIp(wanted)) {
    const [proxy] = proxies.filter(({ address }) => address !== NO_ADDRESS && address === canonicalIp(wanted));
    if (proxy !== undefined) return { proxy };
    throw new NoSuchProxy(`no workload has the address ${wanted}; ${listed(proxies)}`);
  }
  const [namespace, name] = partsOf(wanted);
  const exact = proxies.find((proxy) => proxy.namespace === namespace && proxy.name === name);
  if (exact !== undefined) return { proxy: exact };
  const [first, ...others] = proxies.filter((proxy) => proxy.namespace === namespace && proxy.entry === name);
  if (first !== undefined) {
    const note = `${wanted} has ${others.length + 1} workloads; this is ${first.namespace}/${first.name}`;
    return others.length > 0 ? { proxy: first, note } : { proxy: first };
  }
  const guess = nearestName(`${namespace}/${name}`, proxies.map((proxy) => `${proxy.namespace}/${proxy.name}`));
  if (guess !== undefined || !proxies.some((proxy) => proxy.namespace === namespace)) {
    throw new NoSuchProxy(
      guess === undefined
        ? `no workload ${namespace}/${name}; ${listed(proxies)}`
        : `no workload ${namespace}/${name}; did you mean ${guess}?`,
    );
  }
  const note = `no text names the workload ${namespace}/${name}: taken as a sidecar of ${namespace} without labels`;
  return { proxy: unknownWorkload(namespace, name, options), note };
}

function partsOf(wanted: string): [string, string] {
  const slash = wanted.split("/");
  const dot = wanted.lastIndexOf(".");
  if (slash.length === 2 && slash[0] && slash[1]) return [slash[0], slash[1]];
  if (slash.length === 1 && dot > 0 && dot < wanted.length - 1) return [wanted.slice(dot + 1), wanted.slice(0, dot)];
  throw new NoSuchProxy(
    `got ${JSON.stringify(wanted)}, expected namespace/name, name.namespace, an IP address or a node id`,
  );
}

/** The given node, with the labels of the named workload. */
function byNodeId(id: string, proxies: readonly ImpliedProxy[]): ImpliedProxy {
  try {
    const { type, address, name, namespace } = parseNodeId(id);
    const known = proxies.find((proxy) => proxy.namespace === namespace && proxy.name === name) ??
      proxies.find((proxy) => address !== NO_ADDRESS && proxy.address === address && proxy.namespace === namespace);
    const labels = known?.labels ?? {};
    const node = { id, metadata: { NAMESPACE: namespace, LABELS: labels, ...WITH_AGENT } };
    const { cause = "", account } = known ?? {};
    const standsIn = known === undefined;
    // A node id implies a running proxy.
    return {
      ...{ type, namespace, name, address, labels, cause, standsIn, node, runs: true },
      ...(account === undefined ? {} : { account }),
    };
  } catch (error) {
    if (error instanceof NodeRefused) throw new NoSuchProxy(error.message);
    throw error;
  }
}

function listed(proxies: readonly ImpliedProxy[]): string {
  const names = proxies.filter(({ standsIn }) => !standsIn).map((proxy) => `${proxy.namespace}/${proxy.name}`);
  if (names.length === 0) return "the texts name no workload";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `the workloads are ${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}
