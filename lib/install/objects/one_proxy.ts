/**
 * Beside another control plane with an injector: the API refuses a pod with two proxies.
 *
 * @module
 */
import type { Node } from "../template/node.ts";

const API_VERSION = "admissionregistration.k8s.io/v1";
const NAME = "mesh-one-proxy";

const STATUSES = [
  "has(object.metadata.annotations)",
  '? ["sidecar.mesh.io/status", "sidecar.istio.io/status"].filter(key, key in object.metadata.annotations)',
  ": []",
].join(" ");

const PROXIES = [
  "(object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []))",
  '.filter(one, one.name == "mesh-proxy" || one.name == "istio-proxy")',
].join(" ");

/** A policy and the binding. The API evaluates the policy without a server. */
export const ONE_PROXY: readonly Node[] = [
  {
    ...{ apiVersion: API_VERSION, kind: "ValidatingAdmissionPolicy", metadata: { name: NAME } },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      },
      variables: [{ name: "statuses", expression: STATUSES }, { name: "proxies", expression: PROXIES }],
      validations: [
        {
          expression: "size(variables.statuses) <= 1",
          message:
            "two injectors have changed the pod (annotations sidecar.mesh.io/status and sidecar.istio.io/status): keep the labels of one control plane on the namespace and on the pod",
        },
        {
          expression: "size(variables.proxies) <= 1",
          message:
            "the pod has two proxies (containers mesh-proxy and istio-proxy): keep the labels of one control plane on the namespace and on the pod",
        },
      ],
    },
  },
  {
    ...{ apiVersion: API_VERSION, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: NAME } },
    spec: { policyName: NAME, validationActions: ["Deny"] },
  },
];
