/**
 * A user's template `kube-gateway` or `waypoint` in the injector's configuration, with the data that Istio gives such templates.
 *
 * @module
 */
import type { JsonTree } from "../../injection/merge.ts";
import { writtenMeshConfig } from "../../config/mesh/print.ts";
import { issueLines } from "../../kernel/json/issues.ts";
import { goFields, withSource } from "../../injection/templates/go_fields.ts";
import { templateDocuments } from "../../injection/templates/documents.ts";
import { inBothSpellings, templateValues } from "../../injection/templates/values.ts";
import * as z from "zod";
import { type TemplateInput, TEMPLATES } from "./built_in_template.ts";
import { MANAGED } from "./names.ts";
import { DEPLOYED_KINDS, type DeployedObject, type DeploySource } from "./types.ts";

const KINDS = Object.values(DEPLOYED_KINDS);

const objectSchema = z.looseObject({
  apiVersion: z.string({ error: "a text" }),
  kind: z.enum(KINDS.map(({ kind }) => kind), { error: `one of ${KINDS.map(({ kind }) => kind).join(", ")}` }),
  metadata: z.looseObject({ name: z.string({ error: "a name" }), namespace: z.string().optional() }, {
    error: "an object with a name",
  }),
}, { error: "an object" });

/** The objects of a template, or the mistakes in the template, one per line. */
export function userTemplateObjects(
  text: string,
  source: DeploySource,
  input: TemplateInput,
): { readonly objects: readonly DeployedObject[] } | { readonly problems: readonly string[] } {
  const { role, settings: { config } } = source;
  const name = TEMPLATES[role];
  const made = templateDocuments({ name, text, config }, valuesOf(source, input));
  if ("problems" in made) return made;
  const objects: DeployedObject[] = [];
  for (const [place, tree] of made.trees.entries()) {
    if (tree === null || tree === undefined) continue;
    const read = objectSchema.safeParse(tree, { reportInput: true });
    const at = `template "${name}": document ${place + 1}`;
    if (!read.success) return { problems: issueLines(read.error.issues, "it").map((line) => `${at}: ${line}`) };
    const { metadata } = read.data;
    const { namespace } = input.gateway;
    if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
      return { problems: [`${at}: metadata.namespace: expected ${namespace}, the namespace of the Gateway`] };
    }
    objects.push({ ...read.data, metadata: { ...metadata, namespace } });
  }
  return { objects };
}

function valuesOf({ gateway, controller, role, settings }: DeploySource, input: TemplateInput): JsonTree {
  const { names, pod } = input;
  const { meta, spec } = gateway;
  const [labels, annotations] = [inBothSpellings(meta.labels), inBothSpellings(meta.annotations)];
  const metadata = { Name: meta.name, Namespace: meta.namespace, UID: input.gateway.uid };
  return {
    ...templateValues(pod),
    ...{ ...metadata, Labels: labels, Annotations: annotations },
    TypeMeta: { APIVersion: "gateway.networking.k8s.io/v1", Kind: "Gateway" },
    ObjectMeta: { ...metadata, Labels: labels, Annotations: annotations },
    Spec: withSource(goFields({ addresses: [], ...spec }) as object, spec),
    ...{ DeploymentName: names.deployment, ServiceAccount: names.account, ServiceType: input.serviceType },
    Ports: input.ports.map((port) => ({ ...goFields(port) as JsonTree, TargetPort: port.port })),
    ClusterID: settings.values.global.multiCluster.clusterName || settings.clusterId,
    // 128 stands for 1.28. Without an answer of the API, a version of today.
    KubeVersion: 100 + (settings.apiMinor ?? 30),
    MeshConfig: goFields(writtenMeshConfig(settings.mesh)),
    InfrastructureLabels: inBothSpellings(infrastructureOf(input.labels)),
    InfrastructureAnnotations: inBothSpellings(input.annotations),
    GatewayNameLabel: Object.keys(input.selector)[0],
    ...{ GatewayClass: spec.gatewayClassName, IsEastWestGateway: role === "east-west" },
    ControllerLabel: input.labels[MANAGED] ?? controller,
  };
}

/** The labels without the labels of the Gateway API: templates written for Istio add those labels themselves. */
function infrastructureOf(labels: TemplateInput["labels"]): TemplateInput["labels"] {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("gateway.networking.k8s.io/")));
}
