/**
 * The webhooks: validation, injection of a revision, and injection by a tag.
 *
 * @module
 */
import { injectorEntries } from "../../webhook/injector_entries.ts";
import { IS_DEFAULT, NAMESPACE, revised, REVISION } from "./names.ts";
import { Each, type InstallData, type Node, noted, Ref, text, when } from "../template/node.ts";
import { value } from "../values/values.ts";
import { ruleOf } from "./rights.ts";

const API_VERSION = "admissionregistration.k8s.io/v1";

function clientConfig(path: string): Node {
  return { service: { name: revised("meshd"), namespace: NAMESPACE, path, port: 15017 } };
}

/**
 * Validation only by the default revision. So an object is judged once, and the removal of another revision leaves the
 * judgement in force.
 */
export const VALIDATION: Node = {
  apiVersion: API_VERSION,
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: text`mesh-${NAMESPACE}` },
  webhooks: [{
    name: "validation.mesh.io",
    clientConfig: clientConfig("/validate"),
    rules: ["mesh.io", "istio.io"].map((domain) => ({
      operations: ["CREATE", "UPDATE"],
      apiGroups: ["networking", "security", "telemetry", "extensions"].map((group) => `${group}.${domain}`),
      apiVersions: ["*"],
      resources: ["*"],
    })),
    // No failurePolicy: the API's default is Fail. A field that the server may change must not be in a manifest, because
    // the second server-side apply would then be refused as a conflict.
    sideEffects: "None",
    timeoutSeconds: 10,
    admissionReviewVersions: ["v1"],
  }],
};

/**
 * Placeholders for the revision and the namespace in the injector's entries. {@linkcode filledIn} replaces them by
 * nodes.
 */
const PLACEHOLDERS = { revision: "{revision}", namespace: "{namespace}" } as const;

/**
 * The entries of the injector as nodes.
 *
 * @param revision Value of the labels that choose pods: a revision or a tag.
 * @param ifDefault Puts an entry that only the default revision has under a condition. Undefined: such entries are left out.
 */
function entries(revision: Node, ifDefault?: (entry: Node) => Node): readonly Node[] {
  const known = { [PLACEHOLDERS.revision]: revision, [PLACEHOLDERS.namespace]: NAMESPACE };
  const ofAll = new Map(injectorEntries(PLACEHOLDERS).map((entry) => [entry.name, entry]));
  const ofDefault = injectorEntries({ revision: "", namespace: PLACEHOLDERS.namespace });
  return ofDefault.flatMap((defaultEntry) => {
    const { name, ...selectors } = ofAll.get(defaultEntry.name) ?? defaultEntry;
    const entry: Node = {
      name,
      ...filledIn(selectors as unknown as { readonly [key: string]: InstallData }, known),
      clientConfig: clientConfig("/inject"),
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      sideEffects: "None",
      timeoutSeconds: 10,
      admissionReviewVersions: ["v1"],
    };
    if (ofAll.has(name)) return [entry];
    return ifDefault === undefined ? [] : [ifDefault(entry)];
  });
}

/**
 * Data with a node in place of each placeholder.
 *
 * @param known Nodes by placeholder.
 */
function filledIn(fields: { readonly [key: string]: InstallData }, known: Readonly<Record<string, Node>>) {
  const fill = (data: InstallData): Node => {
    if (typeof data === "string") return known[data] ?? data;
    if (Array.isArray(data)) return data.map(fill);
    if (typeof data !== "object" || data === null) return data as Node;
    return Object.fromEntries(Object.entries(data).map(([key, inner]) => [key, fill(inner)]));
  };
  return fill(fields) as { readonly [key: string]: Node };
}

/**
 * Injection of pods that name the revision. The default revision also injects pods that ask for injection without a
 * revision.
 */
export const INJECTION: Node = {
  apiVersion: API_VERSION,
  kind: "MutatingWebhookConfiguration",
  metadata: { name: revised("mesh-sidecar-injector"), labels: { "mesh.io/rev": REVISION } },
  webhooks: entries(REVISION, (entry) => when(IS_DEFAULT, entry)),
};

const TAG = new Ref("tag", "");
const TAG_NAME = text`mesh-revision-tag-${TAG}`;
const TAG_ROLE = text`meshd-tag-${TAG}`;
const RBAC = "rbac.authorization.k8s.io";

/**
 * For each tag: injection of pods that name the tag, and the right of the revision's server to write root certificates
 * into the tag's webhook configuration. To move a tag, the same objects are applied with another revision.
 */
export const TAGS: readonly Node[] = [
  new Each(value("tags"), "tag", [
    noted("The tag leads to the revision of the label mesh.io/rev.", {
      apiVersion: API_VERSION,
      kind: "MutatingWebhookConfiguration",
      metadata: { name: TAG_NAME, labels: { "mesh.io/rev": REVISION, "mesh.io/tag": TAG } },
      webhooks: entries(TAG),
    }),
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: TAG_ROLE } },
      rules: [ruleOf(["admissionregistration.k8s.io"], ["mutatingwebhookconfigurations"], [TAG_NAME], ["patch"])],
    },
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: TAG_ROLE } },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: TAG_ROLE },
      subjects: [{ kind: "ServiceAccount", name: revised("meshd"), namespace: NAMESPACE }],
    },
  ]),
];
