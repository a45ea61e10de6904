/**
 * Definitions of the kinds of the mesh for an orchestrator's API (CustomResourceDefinition), in our groups. Clusters
 * with Istio have definitions of Istio's groups, and the Gateway API's project publishes that API's definitions.
 *
 * @module
 */
import { Findings } from "../../finding/findings.ts";
import { DecodeContext } from "../schema/field.ts";
import type { JsonSchema, TypeComment } from "../schema/json_schema.ts";
import { structuralSchema } from "../schema/structural_schema.ts";
import { groupOfKind, pluralOfKind, SHORT_NAMES } from "../spelling/spelling.ts";
import { PART_RULES, SPEC_RULES } from "./definition_rules.ts";
import type { MeshKind } from "./kinds.ts";
import { KIND_TABLE } from "./table.ts";

/** The served, stored and watched version. All versions mean the same, so nothing has to be converted. */
export const DEFINED_VERSION = "v1";

/** Columns of lists beside the name, by their titles. */
const COLUMNS: Readonly<Partial<Record<MeshKind, Readonly<Record<string, string>>>>> = {
  VirtualService: { Gateways: ".spec.gateways", Hosts: ".spec.hosts" },
  DestinationRule: { Host: ".spec.host" },
  ServiceEntry: { Hosts: ".spec.hosts", Location: ".spec.location", Resolution: ".spec.resolution" },
  WorkloadEntry: { Address: ".spec.address" },
  AuthorizationPolicy: { Action: ".spec.action" },
  PeerAuthentication: { Mode: ".spec.mtls.mode" },
};

const text: JsonSchema = { type: "string" };

/** Schema of the status, which programs write into objects. */
const STATUS: JsonSchema = {
  type: "object",
  description: "Written by the control plane.",
  "x-kubernetes-preserve-unknown-fields": true,
  properties: {
    observedGeneration: { type: "integer", format: "int64", description: "The generation that the rest is about." },
    conditions: {
      type: "array",
      items: {
        type: "object",
        required: ["type", "status"],
        properties: {
          ...{ type: text, status: text, reason: text, message: text },
          lastProbeTime: { type: "string", format: "date-time" },
          lastTransitionTime: { type: "string", format: "date-time" },
          observedGeneration: { type: "integer", format: "int64" },
        },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    },
    validationMessages: {
      type: "array",
      items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
};

/**
 * The definition of a kind.
 *
 * @param description Description of the kind.
 * @param comment The comments of the kind's spec type.
 */
export function kindDefinition(kind: MeshKind, description: string, comment: TypeComment): JsonSchema {
  const [group, plural] = [`${groupOfKind(kind)}.mesh.io`, pluralOfKind(kind)];
  const { schema } = KIND_TABLE[kind];
  const context = new DecodeContext("spec", new Findings());
  schema.decode({}, context);
  const shortName = SHORT_NAMES[kind];
  const columns = Object.entries(COLUMNS[kind] ?? {});
  const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels: { "app.kubernetes.io/part-of": "mesh" } },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        categories: ["mesh"],
        ...shortName === undefined ? {} : { shortNames: [shortName] },
      },
      scope: "Namespaced",
      versions: [{
        name: DEFINED_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [...columns.map(([name, jsonPath]) => ({ name, type: "string", jsonPath })), age],
        schema: {
          openAPIV3Schema: {
            type: "object",
            description,
            properties: { spec: structuralSchema(schema, comment, PART_RULES, SPEC_RULES[kind]), status: STATUS },
            // Decoding decides whether an empty spec is taken.
            ...context.failed.length > 0 ? { required: ["spec"] } : {},
          },
        },
      }],
    },
  };
}
