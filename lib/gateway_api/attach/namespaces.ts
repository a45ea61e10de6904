/**
 * Namespaces that may attach to a listener or to a Gateway.
 *
 * @module
 */
import type { NamespaceSelector } from "../../config/kinds/kinds.ts";
import { ownKey } from "../../config/spelling/spelling.ts";
import { hasFittingValues, meetsConditions } from "../../kernel/labels/selector.ts";
import type { AttachReader } from "./types.ts";

/** The label with a namespace's own name. An API server sets the label on every namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** Which namespaces may attach. */
export interface NamespaceRule {
  readonly from?: "All" | "Selector" | "Same" | "None";
  readonly selector?: NamespaceSelector;
}

/**
 * Whether objects of a namespace may attach to an object of another or of the same namespace.
 *
 * @param owner Namespace of the object with the rule.
 * @param guest Namespace of the attached object.
 */
export function allowsNamespace(
  { from, selector }: NamespaceRule,
  owner: string,
  guest: string,
  read: Pick<AttachReader, "fact">,
): boolean {
  switch (from) {
    case "All":
      return true;
    case "Same":
      return owner === guest;
    case "Selector": {
      if (selector === undefined) return false;
      const labels = read.fact("Namespace", "", guest)?.meta.labels ?? {};
      return selects(selector, { [NAME_LABEL]: guest, ...labels });
    }
    default:
      return false;
  }
}

/** Whether a selector selects an object with some labels. An invalid condition holds for no object. */
export function selects(selector: NamespaceSelector, labels: Readonly<Record<string, string>>): boolean {
  return (selector.matchExpressions ?? []).every(hasFittingValues) && meetsConditions(selector, (key) => {
    const own = ownKey(key);
    return Object.hasOwn(labels, own) ? labels[own] : undefined;
  });
}
