/** Objects that are deployed for a Gateway: names, labels, ports, pods, and users' templates. */
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { testGoldens } from "../../golden.ts";
import type { Rendering } from "../../../lib/gateway_api/deploy/types.ts";
import { at, configMap, eastWest, rendered, rendering, waypoint } from "./source.ts";

testGoldens({
  folder: new URL("../../testdata/gateway_api/deploy/", import.meta.url),
  suffix: ".yaml",
  cases: new Map([
    ["gateway", () => written(rendering({ labels: { team: "edge" } }))],
    ["east_west", () => written(rendering(...eastWest()))],
    ["waypoint", () => written(rendering(...waypoint({ labels: { "istio.io/waypoint-for": "all" } })))],
  ]),
});

function written(result: Rendering): string {
  return stringify("objects" in result ? result.objects : result, { lineWidth: 0, aliasDuplicateObjects: false });
}

Deno.test("a waypoint has the names of its Gateway, a Service of the cluster near its clients, and pods outside of tunnels", () => {
  const own = {
    labels: { "mesh.io/dataplane-mode": "ambient", "gateway.mesh.io/managed": "other" },
    annotations: { "networking.mesh.io/traffic-distribution": "PreferSameNode" },
  };
  const [usual, changed] = [rendered(...waypoint()), rendered(...waypoint(own))];
  assert.deepEqual(
    Object.values(usual).map(({ kind, metadata: { name } }) => `${kind}/${name}`),
    ["ServiceAccount/gw", "Deployment/gw", "Service/gw"],
  );
  const distribution = ({ Service }: typeof usual) =>
    Service!.metadata.annotations["networking.mesh.io/traffic-distribution"];
  assert.deepEqual([distribution(usual), distribution(changed)], ["PreferClose", "PreferSameNode"]);
  assert.equal(usual.Service!.spec["type"], "ClusterIP");
  for (const { Deployment } of [usual, changed]) {
    const labels = at(Deployment, "spec", "template", "metadata", "labels");
    assert.equal(at(labels, "mesh.io/dataplane-mode"), "none");
    // By this label, tunnels and waypoints know that the pods need no waypoint.
    assert.equal(at(labels, "gateway.mesh.io/managed"), "mesh.io-mesh-controller");
    const pod = at(Deployment, "spec", "template", "spec");
    assert.deepEqual((at(pod, "containers", 0, "args") as string[]).slice(0, 2), ["proxy", "waypoint"]);
    assert.equal(at(pod, "terminationGracePeriodSeconds"), 30);
  }
});

Deno.test("a gateway between networks has the names of its Gateway, a balancer, and the network on Service and pods", () => {
  const made = rendered(...eastWest());
  assert.deepEqual(
    Object.values(made).map(({ kind, metadata: { name } }) => `${kind}/${name}`),
    ["ServiceAccount/gw", "Deployment/gw", "Service/gw"],
  );
  assert.equal(made.Service!.spec["type"], "LoadBalancer");
  assert.equal(made.Service!.metadata.annotations["networking.mesh.io/traffic-distribution"], undefined);
  const pod = at(made.Deployment, "spec", "template", "spec");
  assert.deepEqual((at(pod, "containers", 0, "args") as string[]).slice(0, 2), ["proxy", "waypoint"]);
  assert.equal(at(pod, "terminationGracePeriodSeconds"), 30);
  // The labels of infrastructure replace the labels of the Gateway, but the network stays.
  const other = rendered(...eastWest({ spec: { infrastructure: { labels: { team: "edge" } } } }));
  for (const { Service, Deployment } of [made, other]) {
    for (const labels of [Service!.metadata.labels, at(Deployment, "spec", "template", "metadata", "labels")]) {
      assert.equal(at(labels, "topology.mesh.io/network"), "n1");
      assert.equal(at(labels, "gateway.mesh.io/managed"), "mesh.io-eastwest-controller");
    }
    assert.equal(at(Deployment, "spec", "template", "metadata", "labels", "mesh.io/dataplane-mode"), "none");
  }
  const template = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: own-{{ .IsEastWestGateway }} }\n";
  const names = (given: Parameters<typeof rendering>) =>
    Object.values(rendered(given[0], given[1], { config: { templates: { waypoint: template } } }))
      .map(({ metadata }) => metadata.name);
  assert.deepEqual([names(eastWest()), names(waypoint())], [["own-true"], ["own-false"]]);
});

Deno.test("overlays and templates of users hold for waypoints", () => {
  const [draft, more] = waypoint({
    spec: { infrastructure: { parametersRef: { group: "", kind: "ConfigMap", name: "options" } } },
  });
  const parameters = configMap({
    deployment: "spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } }",
    horizontalPodAutoscaler: "spec: { maxReplicas: 3 }",
    podDisruptionBudget: "spec: { minAvailable: 1 }",
  });
  const made = rendered(draft, { ...more, parameters });
  assert.equal(at(made.Deployment, "spec", "template", "spec", "terminationGracePeriodSeconds"), 5);
  assert.equal(at(made.HorizontalPodAutoscaler, "spec", "scaleTargetRef", "name"), "gw");
  assert.deepEqual(at(made.PodDisruptionBudget, "spec", "selector", "matchLabels"), {
    "gateway.networking.k8s.io/gateway-name": "gw",
  });
  const template = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: {{ .ServiceAccount }}-own }\n";
  const config = { templates: { waypoint: template } };
  const names = (given: Parameters<typeof rendering>) =>
    Object.values(rendered(given[0], given[1], { config })).map(({ metadata }) => metadata.name);
  assert.deepEqual(names(waypoint()), ["gw-own"]);
  assert.deepEqual(names([{}]), ["gw-mesh", "gw-mesh", "gw-mesh"], "the template of waypoints is not for gateways");
});

Deno.test("names are GATEWAY-CLASS, and annotations replace them", () => {
  const usual = rendered({});
  const names = Object.values(usual).map(({ kind, metadata: { name } }) => `${kind}/${name}`);
  assert.deepEqual(names, ["ServiceAccount/gw-mesh", "Deployment/gw-mesh", "Service/gw-mesh"]);
  const annotations = {
    "gateway.istio.io/name-override": "edge",
    "gateway.mesh.io/service-account": "edge-account",
  };
  const other = rendered({ annotations });
  assert.equal(other.Deployment!.metadata.name, "edge");
  assert.equal(other.Service!.metadata.name, "edge");
  assert.equal(other.ServiceAccount!.metadata.name, "edge-account");
  assert.equal(at(other.Deployment!.spec, "template", "spec", "serviceAccountName"), "edge-account");
  assert.deepEqual(other.Deployment!.metadata.annotations, {}, "annotations about the Gateway alone are not copied");
});

Deno.test("labels and annotations come from infrastructure, else from the Gateway; reserved keys cannot be replaced", () => {
  const own = { labels: { team: "edge" }, annotations: { note: "n", "gateway.mesh.io/controller-version": "5" } };
  const copied = rendered(own);
  assert.equal(copied.Service!.metadata.labels["team"], "edge");
  assert.deepEqual(copied.Service!.metadata.annotations, { note: "n" });
  const infrastructure = {
    labels: { tier: "1", "gateway.networking.k8s.io/gateway-name": "other" },
    annotations: { "service.beta.example.com/size": "large" },
  };
  const given = rendered({ ...own, spec: { infrastructure } });
  for (const object of Object.values(given)) {
    assert.deepEqual(object.metadata.labels, {
      tier: "1",
      "gateway.networking.k8s.io/gateway-name": "gw",
      "gateway.networking.k8s.io/gateway-class-name": "mesh",
      "gateway.mesh.io/managed": "mesh.io-gateway-controller",
    });
    assert.deepEqual(object.metadata.annotations, { "service.beta.example.com/size": "large" });
  }
  const pods = at(given.Deployment, "spec", "template", "metadata") as { labels: object; annotations: object };
  assert.equal(at(pods.labels, "tier"), "1");
  assert.equal(at(pods.annotations, "service.beta.example.com/size"), "large");
});

Deno.test("each distinct port and transport of listeners is a port of the Service, after the status port", () => {
  const listeners = [
    { name: "web.one", port: 443, protocol: "HTTPS", hostname: "a.example.com", tls: { mode: "Passthrough" } },
    { name: "two", port: 443, protocol: "TLS", hostname: "b.example.com", tls: { mode: "Passthrough" } },
    { name: "dns", port: 443, protocol: "UDP" },
    { name: `${"x".repeat(62)}.z`, port: 81, protocol: "HTTP" },
    { name: "status-port", port: 82, protocol: "HTTP" },
  ];
  const named = listeners.map(({ name, port, protocol }) => ({ name, port, protocol }));
  const { Service } = rendered({}, { listeners: named });
  const ports = (Service!.spec["ports"] as Record<string, unknown>[]).map((port) => Object.values(port).join(" "));
  assert.deepEqual(ports, [
    "status-port 15021 TCP tcp",
    "web-one 443 TCP https",
    "dns 443 UDP udp",
    `${"x".repeat(62)} 81 TCP http`,
    "tcp-82 82 TCP http",
  ]);
});

Deno.test("the Service has the wanted type and address", () => {
  const service = rendered({ spec: { addresses: [{ type: "IPAddress", value: "203.0.113.7" }] } }).Service!;
  assert.deepEqual([service.spec["type"], service.spec["loadBalancerIP"]], ["LoadBalancer", "203.0.113.7"]);
  const open = rendered({ spec: { addresses: [{ type: "IPAddress" }] } }).Service!;
  assert.ok(!("loadBalancerIP" in open.spec), "an address of anybody's choice");
  const type = { "networking.istio.io/service-type": "ClusterIP" };
  assert.equal(rendered({ annotations: type }).Service!.spec["type"], "ClusterIP");
  const wrong = rendering({ annotations: { "networking.mesh.io/service-type": "Balancer" } });
  assert.match("problems" in wrong ? wrong.problems.join() : "", /service-type: got "Balancer", expected one of/);
});

Deno.test("pods follow values, annotations and the mesh configuration as in injection", () => {
  const { Deployment } = rendered(
    {
      annotations: { "sidecar.mesh.io/proxyImage": "example.com/proxy:2", "sidecar.mesh.io/logLevel": "debug" },
    },
    { namespaceAnnotations: { "openshift.io/sa.scc.uid-range": "1000/100" } },
    {
      values: { gateways: { securityContext: { fsGroup: 7 } }, global: { imagePullSecrets: ["pull"] } },
      mesh: "trustDomain: example.org",
      settings: { platform: "openshift", revision: "canary" },
    },
  );
  const template = Deployment!.spec["template"];
  assert.equal(at(template, "metadata", "annotations", "mesh.io/rev"), "canary");
  const container = at(template, "spec", "containers", 0);
  assert.equal(at(container, "image"), "example.com/proxy:2");
  assert.ok((at(container, "args") as string[]).includes("--proxyLogLevel=debug"));
  assert.equal(at(container, "securityContext", "runAsUser"), 1099);
  assert.deepEqual(at(template, "spec", "securityContext"), { fsGroup: 7 });
  assert.deepEqual(at(template, "spec", "imagePullSecrets"), [{ name: "pull" }]);
  const env = at(container, "env") as { name: string; value?: string }[];
  const valueOf = (name: string) => env.find((one) => one.name === name)?.value;
  assert.equal(valueOf("TRUST_DOMAIN"), "example.org");
  assert.equal(valueOf("MESH_META_WORKLOAD_NAME"), "gw-mesh");
  assert.equal(valueOf("MESH_META_OWNER"), "kubernetes://apis/apps/v1/namespaces/shop/deployments/gw-mesh");
});

Deno.test("an account has an owner only where the API keeps such accounts", () => {
  assert.equal(rendered({}, {}, { settings: { apiMinor: 27 } }).ServiceAccount!.metadata.ownerReferences, undefined);
  assert.equal(rendered({}, {}, { settings: { apiMinor: 28 } }).ServiceAccount!.metadata.ownerReferences!.length, 1);
});

Deno.test("names that no object can have are refused with the annotation that helps", () => {
  const name = `${"x".repeat(59)}`;
  const long = rendering({ name });
  assert.match("problems" in long ? long.problems.join() : "", /at most 63 characters; set annotation gateway\.mesh/);
  const helped = rendered({ name, annotations: { "gateway.mesh.io/name-override": "short" } });
  assert.equal(helped.Service!.metadata.name, "short");
  const hopeless = rendering({ name: "x".repeat(200) });
  assert.match("problems" in hopeless ? hopeless.problems.join() : "", /metadata\.name: got 200 characters/);
});

const TEXT = `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{.ServiceAccount | quote}}
  namespace: {{.Namespace | quote}}
  labels:
    {{- toJsonMap .InfrastructureLabels (strdict "gateway.networking.k8s.io/gateway-name" .Name) | nindent 4 }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{.DeploymentName | quote}}
  annotations:
    {{- toJsonMap (omit .InfrastructureAnnotations "secret") | nindent 4 }}
  ownerReferences:
  - { apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: "{{.Name}}", uid: "{{.UID}}" }
spec:
  selector:
    matchLabels:
      "{{.GatewayNameLabel}}": {{.Name}}
  template:
    metadata:
      labels: { "{{.GatewayNameLabel}}": {{.Name}} }
    spec:
      containers:
      - name: istio-proxy
        image: {{ .ProxyImage }}
        securityContext: { runAsUser: {{ .ProxyUID }} }
---
apiVersion: v1
kind: Service
metadata:
  name: {{.DeploymentName | quote}}
spec:
  type: {{ .ServiceType | quote }}
  ports:
  {{- range $key, $val := .Ports }}
  - name: {{ $val.Name | quote }}
    port: {{ $val.Port }}
    appProtocol: {{ $val.AppProtocol }}
  {{- end }}
  {{- if .Spec.Addresses }}
  loadBalancerIP: {{ (index .Spec.Addresses 0).Value | quote}}
  {{- end }}
  {{- if ge .KubeVersion 128 }}
  sessionAffinity: None
  {{- end }}
`;

Deno.test("a user's template kube-gateway replaces the built-in one, and has the data that Istio's template reads", () => {
  const spec = { addresses: [{ type: "IPAddress", value: "203.0.113.7" }] };
  const draft = { labels: { team: "edge" }, annotations: { secret: "s", note: 'a: "b"' }, spec };
  const made = rendered(draft, {}, { config: { templates: { "kube-gateway": TEXT } } });
  assert.equal(made.ServiceAccount!.metadata.labels["team"], "edge");
  assert.deepEqual(made.Deployment!.metadata.annotations, { note: 'a: "b"' });
  assert.deepEqual(at(made.Deployment, "metadata", "ownerReferences", 0, "uid"), "u-1");
  assert.equal(at(made.Deployment, "spec", "template", "spec", "containers", 0, "image"), "docker.io/mesh/proxy:1.0.0");
  assert.equal(at(made.Deployment, "spec", "template", "spec", "containers", 0, "securityContext", "runAsUser"), 1337);
  assert.equal(at(made.Service, "spec", "loadBalancerIP"), "203.0.113.7");
  assert.equal(at(made.Service, "spec", "sessionAffinity"), "None");
  assert.deepEqual(at(made.Service, "spec", "ports", 1), { name: "http", port: 80, appProtocol: "http" });
  assert.equal(made.Service!.metadata.labels["gateway.mesh.io/managed"], "mesh.io-gateway-controller");
});

Deno.test("a user's template with a mistake makes no object, and the mistake is said", () => {
  const problems = (text: string) => {
    const result = rendering({}, {}, { config: { templates: { "kube-gateway": text } } });
    return "problems" in result ? result.problems.join("\n") : "";
  };
  assert.match(problems("kind: {{ .Missing.Field | quote }}\n"), /kube-gateway/);
  assert.match(problems("a: b: c\n"), /its YAML does not parse: line 1/);
  assert.match(problems("apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n"), /document 1: kind/);
  assert.match(
    problems("apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: other }\n"),
    /metadata\.namespace: expected shop/,
  );
});
