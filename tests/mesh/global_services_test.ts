/** The services that other networks reach: by the scopes of the mesh, labels of services, and labels of namespaces. */
import assert from "node:assert/strict";
import { GlobalServices } from "../../lib/mesh/global_services.ts";
import { plainService } from "../../lib/registry/mock.ts";
import { type Service, serviceKey } from "../../lib/registry/types.ts";

function service(name: string, labels: Readonly<Record<string, string>> = {}, provider: Service["provider"] = "Orch") {
  const base = plainService({ namespace: "shop", name, hostname: `${name}.shop`, ports: [], labels });
  return { ...base, provider };
}

const SHARED = { shared: "yes" };
const index = () =>
  new GlobalServices([
    { servicesSelector: { matchLabels: SHARED }, scope: "GLOBAL" },
    { namespaceSelector: { matchLabels: SHARED }, scope: "GLOBAL" },
  ]);
const hosts = (global: GlobalServices) => global.all.map(({ hostname }) => hostname);
const put = (global: GlobalServices, one: Service) => global.set(serviceKey(one), one);

Deno.test("Services of the orchestrator are global by their labels or by those of their namespace, other hosts never", () => {
  const global = index();
  for (const one of [service("b", SHARED), service("a", SHARED), service("c"), service("d", SHARED, "External")]) {
    put(global, one);
  }
  assert.deepEqual(hosts(global), ["a.shop", "b.shop"]);
  global.setNamespaces(new Map([["shop", SHARED]]));
  assert.deepEqual(hosts(global), ["a.shop", "b.shop", "c.shop"]);
  assert.deepEqual([global.has("shop/c.shop"), global.has("shop/d.shop")], [true, false]);
  global.set("shop/c.shop", undefined);
  global.setNamespaces(new Map());
  assert.deepEqual(hosts(global), ["a.shop", "b.shop"]);
});

Deno.test("a change names the services that became global or local, or changed while they were global, and no others", () => {
  const global = index();
  put(global, service("a", SHARED));
  put(global, service("b"));
  assert.deepEqual(global.takeChanged(), ["shop/a.shop"]);
  const before = global.all;
  put(global, service("b", { other: "label" }));
  global.setNamespaces(new Map([["elsewhere", SHARED]]));
  assert.deepEqual(global.takeChanged(), []);
  assert.equal(global.all, before, "the same list while nothing global changed");
  put(global, service("a", { ...SHARED, version: "2" }));
  assert.deepEqual(global.takeChanged(), ["shop/a.shop"]);
  put(global, service("a"));
  global.setNamespaces(new Map([["shop", SHARED]]));
  assert.deepEqual(global.takeChanged().toSorted(), ["shop/a.shop", "shop/b.shop"]);
});
