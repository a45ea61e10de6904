/** The findings about Ingresses in a running server: about what somebody wrote, and not about what is made of it. */
import assert from "node:assert/strict";
import { withServer } from "./running.ts";

const ingress = (name: string, host: string, port: string, tls = "[]") =>
  `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: ${name}, namespace: shop, annotations: { kubernetes.io/ingress.class: mesh } }
spec:
  tls: ${tls}
  rules:
    - host: ${host}
      http: { paths: [{ path: /${name}, pathType: Prefix, backend: { service: { name: web, port: ${port} } } }] }
`;

const service = `---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { clusterIP: 10.0.0.1, ports: [{ name: http, port: 80 }] }
`;

async function findings(...ingresses: readonly string[]): Promise<string[]> {
  let found: string[] = [];
  await withServer({ "a.yaml": [service, ...ingresses].join("") }, async ({ analysis }) => {
    await analysis.analyzed();
    found = [...analysis.findings()].map(({ name, place }) => `${name} ${place.field}`);
  }, { options: { manifestServices: true } });
  return found;
}

Deno.test("Ingresses of one host that are right have no finding, though each is a gateway for every host", async () => {
  const named = "{ name: http }";
  assert.deepEqual(await findings(ingress("a", "x.test", named), ingress("b", "x.test", named)), []);
});

Deno.test("a gateway's pod of either label serves Ingresses; where there are others alone, nothing serves them", async () => {
  const pod = (label: string) =>
    `---
apiVersion: v1
kind: Pod
metadata: { name: gateway-1, namespace: mesh-system, labels: { ${label}: ingressgateway } }
spec: { serviceAccountName: gateway, containers: [{ name: mesh-proxy, image: p, args: [proxy, router] }] }
`;
  const web = ingress("a", "x.test", "{ name: http }");
  for (const label of ["mesh", "istio"]) assert.deepEqual(await findings(web, pod(label)), [], label);
  assert.deepEqual(await findings(web, pod("app")), ["selects-nothing spec.selector"]);
});

Deno.test("a port of no service's name and two certificates for one host are reported", async () => {
  const certificate = (name: string) => `[{ hosts: [x.test], secretName: ${name} }]`;
  const found = await findings(
    ingress("a", "x.test", "{ name: none }", certificate("one")),
    ingress("b", "x.test", "{ name: http }", certificate("two")),
  );
  assert.ok(found.includes("ingress-backend-unavailable spec.rules[0].http.paths[0].backend.service.port.name"));
  assert.ok(found.includes("gateways-of-one-host spec.servers[0].hosts[0]"));
});
