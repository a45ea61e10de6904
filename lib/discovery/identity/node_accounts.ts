/**
 * Accounts of programs on nodes (`CA_TRUSTED_NODE_ACCOUNTS`) that may ask for certificates of other workloads, if a pod
 * of the workload runs on the caller's node.
 *
 * @module
 */
import { shownText } from "../../authenticators/trust.ts";
import type { CallerResult, CertificateCaller } from "../../authority/certificate_service.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import { parseWorkloadIdentity } from "../../pki/spiffe.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

/** The form of an entry of the setting: two names of the orchestrator. */
const ACCOUNT = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\/[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;

/** Phases of pods that have ended. */
const OVER: ReadonlySet<string> = new Set(["Failed", "Succeeded"]);

/**
 * The accounts of the setting, `namespace/account`.
 *
 * @throws TypeError naming every invalid entry
 */
export function readNodeAccounts(text: string): ReadonlySet<string> {
  const entries = commaList(text);
  const wrong = entries.filter((entry) => !ACCOUNT.test(entry));
  if (wrong.length === 0) return new Set(entries);
  throw new TypeError(wrong.map((entry) => `got ${shownText(entry)}, expected namespace/account`).join("\n"));
}

/** Inputs of the questions about pods. */
export interface NodeAccountsParts {
  /** The result of {@linkcode readNodeAccounts}. */
  readonly accounts: ReadonlySet<string>;
  /** Has the pods. */
  readonly facts: Pick<FactStore, "get" | "list" | "subscribe">;
  /** The trust domain of this mesh, read at each call. */
  readonly trustDomain: () => string;
}

/** Decides about requests for certificates of other workloads. Follows the pods while the store of facts lives. */
export class NodeAccounts {
  readonly #parts: NodeAccountsParts;
  /** Number of running pods by node, namespace and account. */
  readonly #running = new Map<string, number>();

  constructor(parts: NodeAccountsParts) {
    this.#parts = parts;
    for (const pod of parts.facts.list("Pod")) this.#count(pod, 1);
    parts.facts.subscribe(({ added, updated, removed }) => {
      for (const fact of added) this.#count(fact, 1);
      for (const { old, new: next } of updated) {
        this.#count(old, -1);
        this.#count(next, 1);
      }
      for (const fact of removed) this.#count(fact, -1);
    });
  }

  /** The identity that a caller asks for, or the reason of a refusal. */
  mayImpersonate({ identity, pod }: CertificateCaller, wanted: string): CallerResult {
    const { accounts, facts, trustDomain } = this.#parts;
    const { namespace, serviceAccount } = identity;
    const account = `${namespace}/${serviceAccount}`;
    if (!accounts.has(account)) return { refusal: `account ${account} may ask only for its own certificate` };
    const asked = parseWorkloadIdentity(wanted);
    const own = trustDomain().replaceAll("@", ".");
    if (asked?.trustDomain !== own) {
      return { refusal: `got ${shownText(wanted)}, expected spiffe://${own}/ns/<namespace>/sa/<account>` };
    }
    if (pod === undefined) {
      return { refusal: "the token of the caller is not bound to a pod, so the caller's node is not known" };
    }
    const fact = facts.get("Pod", namespace, pod.name);
    // The orchestrator knows the pod already, so this server will know the pod soon.
    if (fact === undefined || fact.origin.from !== "api" || fact.origin.uid !== pod.uid) {
      return { refusal: `pod ${namespace}/${pod.name} of the caller is not known here yet`, isTemporary: true };
    }
    const node = nodeOf(fact);
    if (fact.spec.serviceAccount !== serviceAccount || node === undefined) {
      return { refusal: `pod ${namespace}/${pod.name} of the caller does not run as ${account}` };
    }
    if (this.#running.has(keyOf(node, asked.namespace, asked.serviceAccount))) return { identity: asked };
    const workload = `${asked.namespace}/${asked.serviceAccount}`;
    return { refusal: `no pod of ${workload} runs on node ${node} of the caller` };
  }

  #count(fact: Fact, by: 1 | -1): void {
    if (!isPod(fact) || fact.origin.from !== "api") return;
    const node = nodeOf(fact);
    if (node === undefined) return;
    const key = keyOf(node, fact.meta.namespace, fact.spec.serviceAccount);
    const count = (this.#running.get(key) ?? 0) + by;
    if (count > 0) this.#running.set(key, count);
    else this.#running.delete(key);
  }
}

/** Node accounts in several clusters. The cluster of the caller's pod decides. */
export class NodeAccountsOfClusters {
  readonly #parts: Omit<NodeAccountsParts, "facts">;
  readonly #stores: () => Iterable<FactStore>;
  /** An entry ends with its store. */
  readonly #clusters = new WeakMap<FactStore, NodeAccounts>();

  /** @param stores The present stores, with the pods of each cluster. */
  constructor(parts: Omit<NodeAccountsParts, "facts">, stores: () => Iterable<FactStore>) {
    this.#parts = parts;
    this.#stores = stores;
    // Pods are followed from the beginning, not from the first request.
    for (const facts of stores()) this.#of(facts);
  }

  /** The identity that a caller asks for, or the reason of a refusal. */
  mayImpersonate(caller: CertificateCaller, wanted: string): CallerResult {
    let first: CallerResult | undefined;
    for (const facts of this.#stores()) {
      const result = this.#of(facts).mayImpersonate(caller, wanted);
      if ("identity" in result || !result.isTemporary) return result;
      first ??= result;
    }
    return first ?? { refusal: "no cluster is known yet", isTemporary: true };
  }

  #of(facts: FactStore): NodeAccounts {
    return this.#clusters.getOrInsertComputed(facts, () => new NodeAccounts({ ...this.#parts, facts }));
  }
}

function isPod(fact: Fact): fact is Fact<"Pod"> {
  return fact.kind === "Pod";
}

/** The node of a pod; undefined: the pod has no node yet, or has ended. */
function nodeOf({ spec }: Fact<"Pod">): string | undefined {
  return OVER.has(spec.phase ?? "") ? undefined : spec.running?.nodeName || undefined;
}

function keyOf(node: string, namespace: string, account: string): string {
  return `${node} ${namespace} ${account}`;
}
