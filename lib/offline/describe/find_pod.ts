/**
 * Finds the workload of a description: `cart.shop`, `shop/cart`, `cart`, `pod/cart.shop`, an address.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { isIp } from "../../registry/address.ts";
import { findProxy, type FoundProxy, NoSuchProxy } from "../find_proxy.ts";
import type { ImpliedOptions, ImpliedProxy } from "../workloads.ts";

/** Words before a name, as of `kubectl get pod/cart`. */
const KIND_WORDS: ReadonlySet<string> = new Set(["pod", "pods", "po", "deployment", "deployments", "deploy"]);

/** The most names listed in a message. */
const MAX_LISTED = 10;

/**
 * Finds the workload.
 *
 * @throws {NoSuchProxy} with the names that are near
 */
export function findPod(wanted: string, workloads: readonly ImpliedProxy[], options: ImpliedOptions): FoundProxy {
  const [first = "", rest] = wanted.split("/");
  const isKind = rest !== undefined && KIND_WORDS.has(first) && !workloads.some(({ namespace }) => namespace === first);
  const name = isKind ? rest : wanted;
  if (!/[~/.:]/.test(name) && !isIp(name)) return alone(name, workloads);
  const found = findProxy(name, workloads, options);
  if (!found.proxy.standsIn || found.proxy.cause !== "") return found;
  const { namespace } = found.proxy;
  const there = workloads.filter((one) => one.namespace === namespace);
  throw new NoSuchProxy(`no pod ${name} is known; ${listed(there, `namespace ${namespace} has`)}`);
}

/** A name that only one namespace has. */
function alone(name: string, workloads: readonly ImpliedProxy[]): FoundProxy {
  const named = workloads.filter((one) => one.name === name || one.entry === name);
  const namespaces = new Set(named.map(({ namespace }) => namespace));
  const [only] = named;
  if (only !== undefined && namespaces.size === 1) {
    const note = `${name} is taken as ${only.namespace}/${only.name}`;
    return named.length === 1 ? { proxy: only, note } : { proxy: only, note: `${note}, one of ${named.length}` };
  }
  if (namespaces.size > 1) {
    throw new NoSuchProxy(`${name} is in several namespaces; ${listed(named, "name one of")}`);
  }
  const known = workloads.filter(({ standsIn }) => !standsIn);
  const guess = nearestName(name, known.map((one) => one.name));
  const full = known.find((one) => one.name === guess);
  throw new NoSuchProxy(
    full === undefined
      ? `no pod ${name}; ${listed(known, "there are")}`
      : `no pod ${name}; did you mean ${full.name}.${full.namespace}?`,
  );
}

function listed(workloads: readonly ImpliedProxy[], words: string): string {
  const names = workloads.filter(({ standsIn }) => !standsIn).map(({ namespace, name }) => `${name}.${namespace}`);
  if (names.length === 0) return "no pod is known";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${words} ${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}
