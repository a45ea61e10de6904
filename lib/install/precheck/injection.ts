/**
 * Webhooks that would inject a proxy into the same pods.
 *
 * @module
 */
import { meetsConditions } from "../../kernel/labels/selector.ts";
import type { ClusterFacts } from "./facts.ts";
import { fine, listedNames, type PrecheckResult } from "./result.ts";

type WebhookConfiguration = ClusterFacts["webhooks"][number];
type InjectionWebhook = WebhookConfiguration["webhooks"][number];

/** Labels of pods that ask for a proxy, in the spellings that webhooks know. */
const POD_LABELS: readonly Readonly<Record<string, string>>[] = [
  {},
  { "sidecar.mesh.io/inject": "true", "sidecar.istio.io/inject": "true" },
];

/** Namespaces whose pods two webhooks would inject, together with those of the planned installation. */
export function injectionConflicts({ webhooks, planned, namespaces }: ClusterFacts): PrecheckResult[] {
  const check = "injection webhooks";
  const own = new Set(planned.map(({ metadata }) => metadata.name));
  const all = injectors({ webhooks, planned });
  const conflicts = new Map<string, Conflict>();
  for (const { metadata: { name, labels } } of namespaces) {
    for (const pod of POD_LABELS) {
      const together = all.flatMap((one): MatchingWebhook[] => {
        const hooks = one.webhooks.filter((hook) => isInjecting(hook) && takes(hook, labels, pod));
        return hooks.length === 0 ? [] : [{ title: titleOf(one), yields: hooks.every(isYielding) }];
      });
      if (together.length < 2) continue;
      const conflict = conflictOf(together);
      const there = conflicts.getOrInsertComputed(conflict.message, () => conflict).namespaces;
      there.add(name);
    }
  }
  if (conflicts.size > 0) {
    return [...conflicts.values()].map(({ state, message, namespaces }): PrecheckResult => ({
      ...{ check, state, message: `${message} ${listedNames([...namespaces])}` },
      fix: "Label each namespace for only one revision, or remove the webhook that is not used any more.",
    }));
  }
  const others = all.filter(({ metadata }) => !own.has(metadata.name)).map(titleOf);
  return [fine(check, others.length === 0 ? "no other one" : `${listedNames(others)}: of other namespaces`)];
}

/** The webhook configurations that inject after the planned installation. */
function injectors({ webhooks, planned }: Pick<ClusterFacts, "webhooks" | "planned">): WebhookConfiguration[] {
  // An upgrade replaces its own webhooks.
  const own = new Set(planned.map(({ metadata }) => metadata.name));
  return [...webhooks.filter(({ metadata }) => !own.has(metadata.name)), ...planned].filter((one) =>
    one.webhooks.some(isInjecting)
  );
}

/** Tells whether a webhook of the planned installation, of another revision or of Istio would take a pod. */
export function meshInjection(
  facts: Pick<ClusterFacts, "webhooks" | "planned" | "namespaces">,
): (pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> }) => boolean {
  const hooks = injectors(facts).filter(hasRevision).flatMap((one) => one.webhooks.filter(isInjecting));
  const labelsOf = new Map(facts.namespaces.map(({ metadata }) => [metadata.name, metadata.labels]));
  return ({ namespace, labels }) => hooks.some((hook) => takes(hook, labelsOf.get(namespace) ?? {}, labels));
}

/** A webhook configuration that takes a pod. */
interface MatchingWebhook {
  readonly title: string;
  /** It leaves pods alone that another one has injected. */
  readonly yields: boolean;
}

/** Webhooks that take the same pods, without the namespaces in the message. */
interface Conflict extends Pick<PrecheckResult, "state" | "message"> {
  readonly namespaces: Set<string>;
}

function conflictOf(together: readonly MatchingWebhook[]): Conflict {
  const names = (matching: readonly MatchingWebhook[]) => matching.map(({ title }) => title).sort().join(" and ");
  const firm = together.filter((one) => !one.yields);
  const namespaces = new Set<string>();
  if (firm.length > 1) {
    return { state: "error", message: `${names(firm)} would both inject pods of`, namespaces };
  }
  const yielding = together.filter((one) => one.yields);
  return {
    state: "warning",
    message: firm.length === 1
      ? `${names(yielding)} leaves pods alone that ${names(firm)} injects, of`
      : `the order decides which of ${names(yielding)} injects pods of`,
    namespaces,
  };
}

/** Condition by which the webhooks of this mesh leave pods with Istio's proxy alone. */
const NOT_YET_INJECTED = "not-injected-by-istio";

function isYielding({ matchConditions }: InjectionWebhook): boolean {
  return matchConditions.some(({ name }) => name === NOT_YET_INJECTED);
}

function isInjecting({ name, clientConfig: { url, service }, rules }: InjectionWebhook): boolean {
  const isOfPods = rules.some(({ operations, resources }) =>
    resources.some((one) => one === "pods" || one === "*" || one === "*/*") &&
    operations.some((one) => one === "CREATE" || one === "*")
  );
  return isOfPods && [name, url, service?.path ?? ""].some((text) => text.includes("inject"));
}

function takes(
  { namespaceSelector, objectSelector }: InjectionWebhook,
  namespace: Readonly<Record<string, string>>,
  pod: Readonly<Record<string, string>>,
): boolean {
  return meetsConditions(namespaceSelector, (key) => namespace[key]) &&
    meetsConditions(objectSelector, (key) => pod[key]);
}

function revisionOf({ metadata: { labels } }: WebhookConfiguration): string | undefined {
  return labels["mesh.io/rev"] ?? labels["istio.io/rev"];
}

function hasRevision(one: WebhookConfiguration): boolean {
  return revisionOf(one) !== undefined;
}

/** A webhook configuration with its revision. */
function titleOf(one: WebhookConfiguration): string {
  const { metadata: { name } } = one;
  const revision = revisionOf(one);
  return revision === undefined ? name : `${name} (revision ${revision})`;
}
