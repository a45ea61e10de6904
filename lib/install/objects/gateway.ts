/**
 * Gateways: pods with nothing but a proxy, which injection fills in.
 *
 * @module
 */
import { IS_CANARY, REVISION } from "./names.ts";
import { each, given, MergedNode, type Node, not, noted, type Ref, when } from "../template/node.ts";
import { value } from "../values/values.ts";
import { rule } from "./rights.ts";

const RBAC = "rbac.authorization.k8s.io";

/** The objects of each gateway. */
export const GATEWAYS: readonly Node[] = [each(value("gateways"), "gateway", gatewayObjects)];

function gatewayObjects(field: (path: string) => Ref): readonly Node[] {
  const [name, namespace, labels] = [field("name"), field("namespace"), field("labels")];
  const metadata = { name, namespace };
  const selector = { matchLabels: labels };
  return [
    when({ filled: field("createNamespace") }, {
      ...{ apiVersion: "v1", kind: "Namespace" },
      metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    }),
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    noted(
      "Secrets with certificates of Gateways are served to proxies whose account may list secrets.",
      {
        ...{ apiVersion: `${RBAC}/v1`, kind: "Role", metadata },
        rules: [rule([""], ["secrets"], ["get", "watch", "list"])],
      },
    ),
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: "RoleBinding", metadata },
      roleRef: { apiGroup: RBAC, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
    {
      ...{ apiVersion: "v1", kind: "Service" },
      metadata: { ...metadata, labels, annotations: given(field("serviceAnnotations")) },
      spec: {
        type: field("serviceType"),
        selector: labels,
        ports: noted(
          "HTTP/3, where the server has PILOT_ENABLE_QUIC_LISTENERS and the load balancer takes both protocols on a port:\n- { name: http3, port: 443, protocol: UDP }",
          field("ports"),
        ),
      },
    },
    when({ filled: field("minAvailable") }, {
      ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata },
      spec: { minAvailable: field("minAvailable"), selector },
    }),
    when({ filled: field("autoscaling") }, {
      ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas: field("minReplicas"),
        maxReplicas: field("maxReplicas"),
        metrics: [{
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: field("targetCpu") } },
        }],
      },
    }),
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { ...metadata, labels } },
      spec: {
        replicas: when(not({ filled: field("autoscaling") }), field("replicas")),
        selector,
        template: podTemplate(field),
      },
    },
  ];
}

function podTemplate(field: (path: string) => Ref): Node {
  const chosen = { "sidecar.mesh.io/inject": "true", "mesh.io/rev": when(IS_CANARY, REVISION) };
  return {
    metadata: {
      labels: new MergedNode([field("labels"), chosen]),
      annotations: { "inject.mesh.io/templates": "gateway" },
    },
    spec: {
      serviceAccountName: field("name"),
      imagePullSecrets: given(value("imagePullSecrets")),
      priorityClassName: given(field("priorityClassName")),
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
        sysctls: noted("The proxy is not the superuser, and listens on 80 and 443.", [
          { name: "net.ipv4.ip_unprivileged_port_start", value: "0" },
        ]),
      },
      nodeSelector: given(field("nodeSelector")),
      tolerations: given(field("tolerations")),
      affinity: given(field("affinity")),
      topologySpreadConstraints: given(field("topologySpreadConstraints")),
      containers: [{
        ...{ name: "mesh-proxy", image: "auto", resources: field("resources") },
        // Injection sets the same fields in the pod. PodSecurity also warns about the Deployment, before injection.
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      }],
    },
  };
}
