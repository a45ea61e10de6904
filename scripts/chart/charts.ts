/**
 * The charts of `charts/`, and which objects and values each has.
 *
 * The definitions of the kinds are a chart of their own. A rollback of the control plane would otherwise take back
 * newer definitions, and the API drops the fields of stored objects that a definition lacks. Gateways and tags are charts of their own. Helm creates Deployments before webhooks, so a gateway in the server's
 * release would start before the API asks for injection. A tag moves from one revision to another, so a tag in a
 * revision's release would change its owner.
 *
 * No chart has a namespace: Helm makes the namespace of a release by a flag, and a namespace among a release's objects
 * would take all other objects with it when the release is uninstalled.
 *
 * @module
 */
import * as z from "zod";
import { AMBIENT, IS_DEFAULT } from "../../lib/install/objects/names.ts";
import {
  Conditional,
  Each,
  isFields,
  type Node,
  Noted,
  Ref,
  type ValueCondition,
  when,
} from "../../lib/install/template/node.ts";
import { GATEWAYS } from "../../lib/install/objects/gateway.ts";
import { PLUGIN_DAEMON_SET, PLUGIN_RIGHTS } from "../../lib/install/objects/plugin.ts";
import { ACCOUNT, RIGHTS } from "../../lib/install/objects/rights.ts";
import { CONFIGURATION, DEPLOYMENT, PRIORITY_CLASS, PROTECTION, SERVICE } from "../../lib/install/objects/server.ts";
import { NODE_TUNNEL } from "../../lib/install/objects/tunnel.ts";
import { INJECTION, TAGS, VALIDATION } from "../../lib/install/objects/webhooks.ts";
import {
  EXPECTED_REVISION,
  GATEWAY_VALUES,
  RESERVED_REVISION,
  type ValueRow,
  VALUES,
} from "../../lib/install/values/values.ts";
import { pathsIn } from "./values.ts";

/** Rows of values by path. */
export type ValueRows = Readonly<Record<string, ValueRow>>;

/** A chart. */
export interface Chart {
  readonly description: string;
  /** Objects by the name of the template. */
  readonly templates: Readonly<Record<string, readonly Node[]>>;
  /** The values that the templates read, in the order of the file. */
  readonly values: ValueRows;
  /** Values that contradict each other, as a condition of the template language and what Helm says. */
  readonly refused?: Readonly<Record<string, string>>;
  /** With the definitions of the kinds. */
  readonly definitions?: true;
  /** What Helm says after an installation. */
  readonly notes: string;
}

/** The refusal of a reserved revision. */
const RESERVED: Chart["refused"] = {
  [`regexMatch ${JSON.stringify(RESERVED_REVISION.source)} .Values.revision`]:
    `revision: expected ${EXPECTED_REVISION}`,
};

const PLUGIN = [...PLUGIN_RIGHTS, PLUGIN_DAEMON_SET];

/** Nodes have the parts of ambient mode once, by the release of the default revision. */
const AMBIENT_NODES: ValueCondition = { all: [AMBIENT, IS_DEFAULT] };
const HAS_PLUGIN: ValueCondition = { any: [{ filled: new Ref("values", "plugin.enabled") }, AMBIENT_NODES] };

const SERVER = {
  rights: [ACCOUNT, ...RIGHTS],
  configuration: CONFIGURATION,
  meshd: [SERVICE, when(IS_DEFAULT, PRIORITY_CLASS), ...PROTECTION, DEPLOYMENT],
  webhooks: [when(IS_DEFAULT, closed(VALIDATION)), INJECTION],
  plugin: PLUGIN.map((node) => when(HAS_PLUGIN, node)),
  tunnel: NODE_TUNNEL.map((node) => when(AMBIENT_NODES, node)),
};

/** The charts by name. */
export const CHARTS: Readonly<Record<string, Chart>> = {
  "mesh-definitions": {
    description: "The definitions of the mesh's kinds, for all revisions.",
    templates: {},
    values: {},
    definitions: true,
    notes: `The definitions stay when this release is uninstalled, and so do the objects of the kinds.
`,
  },
  mesh: {
    description:
      "The control plane of the mesh: rights, servers, webhooks, the node's plugin, and the parts of ambient mode.",
    templates: SERVER,
    values: rowsOf(SERVER),
    refused: {
      ...RESERVED,
      'and (ne .Values.revision "default") (hasKey (.Values.meshConfig.defaultConfig | default dict) "discoveryAddress")':
        "meshConfig.defaultConfig.discoveryAddress: expected none, because proxies of the revision ask the revision's own service",
    },
    notes: `The control plane starts. Wait for the servers:

  kubectl -n {{ .Release.Namespace }} rollout status deployment/{{ include "mesh.revised" (list "meshd" .) }}

{{ if eq .Values.revision "default" -}}
Pods of a namespace with this label get a proxy:

  kubectl label namespace NAMESPACE mesh-injection=enabled
{{- if .Values.ambient.enabled }}

Pods of a namespace with this label use the tunnel of their node:

  kubectl -n {{ .Release.Namespace }} rollout status daemonset/mesh-cni-node daemonset/ztunnel
  kubectl label namespace NAMESPACE mesh.io/dataplane-mode=ambient
{{- end }}
{{- else -}}
Pods of a namespace with this label get a proxy of this revision:

  kubectl label namespace NAMESPACE mesh.io/rev={{ .Values.revision }}
{{- end }}
`,
  },
  "mesh-tags": {
    description: "Further names for a revision: a namespace labelled with a tag gets the revision's proxies.",
    templates: { tags: TAGS },
    values: rowsOf({ tags: TAGS }),
    refused: {
      ...RESERVED,
      'or (has .Values.revision .Values.tags) (has "default" .Values.tags)':
        "tags: expected names that are neither the revision nor default, because two webhooks would ask about a pod",
    },
    notes: `{{ range .Values.tags -}}
Pods of a namespace with the label mesh.io/rev={{ . }} get a proxy of the revision {{ $.Values.revision }}.
{{ end -}}
`,
  },
  "mesh-gateways": {
    description: "Gateways for traffic from outside. The control plane has to be ready: injection fills in the pods.",
    templates: { gateways: withoutNamespaces(GATEWAYS) },
    values: { ...rowsOf({ gateways: GATEWAYS }), gateways: { ...VALUES.gateways, default: [{}] } },
    notes: `{{ range .Values.gateways -}}
{{ $gateway := include "mesh.gateway" (list . $) | fromJson -}}
kubectl -n {{ $gateway.namespace }} rollout status deployment/{{ $gateway.name }}
{{ end -}}
`,
  },
};

/** The values of the items of `gateways` in a chart. */
export const ITEM_VALUES: ValueRows = itemValues();

function itemValues(): ValueRows {
  const { createNamespace: _, ...rows } = GATEWAY_VALUES;
  const doc = "Namespace of the gateway; empty: the namespace of the release.";
  return { ...rows, namespace: { schema: z.literal("").or(rows.namespace.schema), default: "", doc } };
}

/** The webhook fails closed, and says so: without a word of the policy an upgrade would not repair another policy. */
function closed(configuration: Node): Node {
  if (!isFields(configuration)) throw new Error("expected an object with webhooks");
  const webhooks = (configuration["webhooks"] as readonly { readonly [key: string]: Node }[]).map((webhook) => ({
    ...webhook,
    failurePolicy: "Fail",
  }));
  return { ...configuration, webhooks };
}

/** The rows that the objects read, in the order of the table. */
function rowsOf(templates: Chart["templates"]): ValueRows {
  const paths = pathsIn(Object.values(templates).flat());
  return Object.fromEntries(Object.entries(VALUES).filter(([path]) => path !== "namespace" && paths.has(path)));
}

/** The objects other than namespaces. */
function withoutNamespaces(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (node instanceof Each) return [new Each(node.list, node.as, withoutNamespaces(node.body))];
    return isNamespace(node) ? [] : [node];
  });
}

function isNamespace(node: Node): boolean {
  if (node instanceof Noted) return isNamespace(node.node);
  if (node instanceof Conditional) return isNamespace(node.then);
  return isFields(node) && node["kind"] === "Namespace";
}
