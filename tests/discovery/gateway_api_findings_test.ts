/** Findings about objects of the Gateway API on a running server follow the folder. */
import assert from "node:assert/strict";
import { until } from "../patience.ts";
import { withServer } from "./running.ts";

const gateway = (section: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: mesh
  listeners: [{ name: ${section}, port: 80, protocol: HTTP }]
`;

const ROUTE = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec:
  parentRefs: [{ name: edge, sectionName: web }]
  rules: [{ backendRefs: [{ name: cart, port: 80 }] }]
`;

const SERVICE = `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop.svc.cluster.local]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
`;

Deno.test("a route's findings on a server come and go with its Gateway and its backend", async () => {
  const files = { "gateway.yaml": gateway("plain"), "route.yaml": ROUTE };
  await withServer(files, async (server, folder) => {
    const found = () =>
      [...server.analysis.findings()].filter(({ place }) => place.objects[0]?.kind === "HTTPRoute").map((
        { code, place },
      ) => `${code} ${place.field}`).sort();
    const write = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text);
    const finds = (expected: readonly string[]) =>
      until(`the findings ${expected.join(", ") || "none"}`, () => {
        try {
          assert.deepEqual(found(), expected);
          return true;
        } catch {
          return false;
        }
      });
    await finds(["MSH1121 spec.parentRefs[0].sectionName", "MSH1122 spec.rules[0].backendRefs[0].name"]);
    await write("gateway.yaml", gateway("web"));
    await finds(["MSH1122 spec.rules[0].backendRefs[0].name"]);
    await write("service.yaml", SERVICE);
    await finds([]);
    await Deno.remove(`${folder}/gateway.yaml`);
    await finds(["MSH1121 spec.parentRefs[0].name"]);
  });
});

Deno.test("with the Gateway API switched off, a server says so of each object in the folder", async () => {
  const settings = { PILOT_ENABLE_GATEWAY_API: false };
  await withServer({ "gateway.yaml": gateway("web"), "route.yaml": ROUTE }, async (server) => {
    const found = () =>
      [...server.analysis.findings()].map(({ code }) => code).filter((code) => code === "MSH1130").length;
    await until("two findings", () => found() === 2);
  }, { settings });
});
