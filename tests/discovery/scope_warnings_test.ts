/** Entries of `serviceScopeConfigs` without effect, as a running server says so. */
import assert from "node:assert/strict";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { scopeWarnings } from "../../lib/discovery/pipeline/scope_warnings.ts";
import { withServer } from "./running.ts";

const SERVICE = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { team: shop } }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop, labels: { istio.io/global: "true" } }
spec: { clusterIP: 10.96.0.1, ports: [{ name: http, port: 80 }] }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: entry, namespace: shop, labels: { app: entry } }
spec: { hosts: [a.example], resolution: DNS, ports: [{ number: 80, name: http, protocol: HTTP }] }
`;

const NETWORKS = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true } as const;

async function said(scopes: string, settings: Partial<SettingsOf<"pilot-discovery">> = NETWORKS): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/mesh`, `serviceScopeConfigs: ${scopes}\n`);
    let found: string[] = [];
    await withServer({ "shop.yaml": SERVICE }, ({ pipeline }) => {
      found = pipeline.warnings().filter(({ name }) => name === "scope-without-effect").map(({ message }) => message);
      return Promise.resolve();
    }, { options: { manifestServices: true, meshConfig: `${folder}/mesh` }, settings });
    return found;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const GLOBAL = "{ servicesSelector: { matchLabels: { istio.io/global: 'true' } }, scope: GLOBAL }";
const TEAM = (name: string) => `{ namespaceSelector: { matchLabels: { team: ${name} } } }`;

Deno.test("an entry that decides about no service is told, with its place and the reason", async () => {
  assert.deepEqual(await said(`[${GLOBAL}]`), []);
  assert.deepEqual(await said(`[${TEAM("bank")}, ${GLOBAL}]`), [
    "serviceScopeConfigs[0] selects no Service, expected selectors that the labels of a Service and of its namespace meet",
  ]);
  assert.deepEqual(await said(`[${TEAM("shop")}, ${GLOBAL}]`), [
    "serviceScopeConfigs[1] earlier entries decide about all of its Services, expected a Service that no earlier entry selects",
  ]);
});

Deno.test("a host of a ServiceEntry has no scope, so an entry that selects it alone is told", async () => {
  const [only, ...others] = await said("[{ servicesSelector: { matchLabels: { app: entry } }, scope: GLOBAL }]");
  assert.match(only ?? "", /^serviceScopeConfigs\[0\] selects no Service/);
  assert.deepEqual(others, []);
});

Deno.test("a server that reaches one network alone says once that the entries are without effect", async () => {
  const text =
    "serviceScopeConfigs is without effect, expected AMBIENT_ENABLE_MULTI_NETWORK=true and PILOT_ENABLE_AMBIENT=true";
  for (const settings of [{}, { PILOT_ENABLE_AMBIENT: true }, { AMBIENT_ENABLE_MULTI_NETWORK: true }]) {
    assert.deepEqual(await said(`[${GLOBAL}, ${TEAM("bank")}]`, settings), [text]);
  }
  const services = () => assert.fail("no service is looked at");
  assert.deepEqual(scopeWarnings({ configs: [], multiNetwork: false, namespaces: new Map(), services }), []);
});
