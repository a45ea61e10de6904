/**
 * Authorization policies for people: a list.
 *
 * @module
 */
import { policiesOf } from "../debug/policies.ts";
import type { AuthorizationPolicy } from "../mesh/authorization_policy.ts";
import { selectionOf } from "../mesh/selection/selection.ts";
import { type HtmlValue, markup } from "./html.ts";
import { objectUrl } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** The page; queries `q`, `namespace`, `action`, and `proxyID`: those for a proxy. */
export const policiesPage: WebPageMaker = (request, view): WebPage => {
  const proxyID = request.query.get("proxyID");
  const all = proxyID === null ? view.store.list("AuthorizationPolicy") : policiesOf(proxyID, view);
  if ("status" in all) {
    return { status: all.status, title: "Not connected here", body: markup`<p>${String(all.body)}</p>` };
  }
  const [namespace, action] = ["namespace", "action"].map((name) => request.query.get(name) ?? "");
  const holds = searched(request);
  const found = all.filter(({ key, meta, spec }) =>
    holds(key) && (namespace === "" || meta.namespace === namespace) && (action === "" || spec.action === action)
  ).sort((a, b) => (a.key < b.key ? -1 : 1));
  const part = listPart(found, request);
  const rows = part.items.map((policy): HtmlValue[] => [
    markup`<a href="${objectUrl(policy.key)}">${policy.meta.name}</a>`,
    policy.meta.namespace,
    policy.spec.action,
    policy.spec.rules?.length ?? 0,
    reach(policy, view.mesh.rootNamespace),
  ]);
  const options = (of: (policy: AuthorizationPolicy) => string) => [...new Set(all.map(of))].sort();
  const choices = [
    { name: "namespace", label: "any namespace", options: options(({ meta }) => meta.namespace) },
    { name: "action", label: "any action", options: options(({ spec }) => spec.action) },
  ];
  return {
    title: "Authorization policies",
    live: "push",
    body: markup`${filterForm(request, choices, proxyID === null ? [] : ["proxyID"])}${
      table(["Name", "Namespace", "Action", "Rules", "For"], rows, all.length === 0 ? "There is none." : "None is so.")
    }${pageLinks(part, request)}`,
  };
};

/** The workloads that a policy is for, in words. */
function reach(policy: AuthorizationPolicy, rootNamespace: string): string {
  const { labels, targets } = selectionOf(policy);
  if (targets.length > 0) return targets.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  const chosen = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", ");
  const where = policy.meta.namespace === rootNamespace ? "all namespaces" : "its namespace";
  return `${chosen || "all workloads"} of ${where}`;
}
