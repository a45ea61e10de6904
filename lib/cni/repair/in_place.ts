/**
 * Redirects a running pod: finds the pod's network namespace on this node by the pod's addresses, and puts the plugin's
 * rules there. The next run of the pod's validation container finds the rules, and the pod starts.
 *
 * Permissions: read (the folder of network namespaces), and the permissions of the redirector.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { decide, NO_AMBIENT } from "../plugin/decide.ts";
import { canonical, listedAddresses } from "../plugin/ownership.ts";
import { CniError } from "../plugin/protocol.ts";
import { podRedirection } from "../plugin/redirection.ts";
import type { Redirector } from "../plugin/redirector.ts";
import type { Pod } from "../pods/pod.ts";

/** The node of the redirected pods. */
export interface RepairPlace {
  /** Folder of the pods' network namespaces, such as `/var/run/netns`. */
  readonly namespaces: string;
  /** A new redirector for each call: a redirector caches its reads. */
  readonly redirector: () => Redirector;
  /** Namespaces whose pods the plugin does not redirect (EXCLUDE_NAMESPACES). */
  readonly excludeNamespaces: readonly string[];
}

/**
 * Redirects a pod in place. Nothing is changed unless exactly one namespace has all addresses of the pod.
 * @returns The actions, for people.
 * @throws {Error} With the reason why the pod is not redirected.
 */
export async function redirectInPlace(pod: Pod, place: RepairPlace): Promise<string> {
  if (place.excludeNamespaces.includes(pod.namespace)) throw new Error("its namespace is excluded");
  const decision = decide(pod, NO_AMBIENT, {});
  if (decision.do !== "redirect") {
    throw new Error(`the plugin does not redirect it${decision.do === "pass" ? `: ${decision.why}` : ""}`);
  }
  const wanted = wantedBy(() => podRedirection(pod, decision.proxy));
  const netns = await namespaceOf(pod, place);
  return await asked(place, (redirector) => redirector.apply(netns, wanted));
}

/** The path of the only namespace with all addresses of the pod. */
async function namespaceOf(pod: Pod, place: RepairPlace): Promise<string> {
  if (pod.addresses.length === 0) throw new Error("it has no address by which its network namespace could be found");
  const addresses = pod.addresses.map(canonical);
  const found: string[] = [];
  const unseen: string[] = [];
  // One namespace after the other: each costs a process, and nobody waits for a repair.
  for (const { name } of Deno.readDirSync(place.namespaces)) {
    const path = `${place.namespaces}/${name}`;
    try {
      const seen = await asked(place, (redirector) => redirector.look(path));
      const listed = listedAddresses(seen.addresses);
      if (!seen.isNode && addresses.every((address) => listed.has(address))) found.push(path);
    } catch (error) {
      unseen.push(`${name}: ${errorMessage(error)}`);
    }
  }
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return only;
  const which = only === undefined ? "no network namespace" : "more than one network namespace";
  const where = only === undefined ? ` in ${place.namespaces}` : ` (${found.join(", ")})`;
  const rest = unseen.length === 0 ? "" : `; ${unseen.length} could not be looked at, one of them ${unseen[0]}`;
  throw new Error(`${which}${where} has the pod's addresses, ${addresses.join(", ")}${rest}`);
}

/** The details of the plugin's error name wrong annotations. */
function wantedBy<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new Error([error.message, error.details].filter((text) => text !== "").join(": "), { cause: error });
  }
}

async function asked<T>(place: RepairPlace, ask: (redirector: Redirector) => Promise<T>): Promise<T> {
  const redirector = place.redirector();
  try {
    return await ask(redirector);
  } finally {
    await redirector.end();
  }
}
