import assert from "node:assert/strict";
import { parseDocument } from "../../../lib/config/document/document.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { routesFile } from "./gateway_routes.ts";
import { configuration, type Edits, namespaceFile, service, type Shape } from "./configuration.ts";

const SHAPE: Shape = { services: 30, endpoints: 10, namespaces: 10, routed: 12 };

/** All objects of files; a problem fails the test. */
function objects(files: Iterable<readonly [string, string]>): ConfigObject[] {
  const found: ConfigObject[] = [];
  for (const [file, text] of files) {
    for (const document of text.split("---\n")) {
      const place = { source: "", file, line: 1, format: "yaml" } as const;
      const { objects, findings } = parseDocument(document, place, { defaultNamespace: "default" });
      assert.deepEqual(findings, []);
      found.push(...objects);
    }
  }
  return found;
}

Deno.test("the configuration is accepted whole, with the counts of its shape", () => {
  const counts = new Map<string, number>();
  for (const { kind } of objects(configuration(SHAPE))) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(counts), { ServiceEntry: 30, DestinationRule: 12, VirtualService: 12 });
});

Deno.test("services have policies where the shape asks for policies, and an edit changes the policy of the first service", () => {
  const shape = { ...SHAPE, authorized: 20 };
  const of = (files: Iterable<readonly [string, string]>) =>
    objects(files).filter(({ kind }) => kind === "AuthorizationPolicy");
  assert.equal(of(configuration(shape)).length, 20);
  const paths = (edits: Edits) => of([["a", namespaceFile(shape, 0, edits)]]).map(({ spec }) => JSON.stringify(spec));
  const [before, after] = [paths({}), paths({ admitted: "/api-100" })];
  assert.deepEqual(after.map((text, i) => text !== before[i]), [true, false]);
});

Deno.test("an extended mesh has telemetry and three patches, and an edit changes the Telemetry of the first service", () => {
  const shape = { ...SHAPE, extended: true };
  const counts = new Map<string, number>();
  for (const { kind } of objects(configuration(shape))) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  assert.deepEqual([counts.get("Telemetry"), counts.get("ProxyFilter")], [2, 3]);
  const logged = (edits: Edits) => JSON.stringify(objects([["a", namespaceFile(shape, 0, edits)]]));
  assert.match(logged({ logged: "/x" }), /request.url_path == '\/x'/);
});

Deno.test("a Gateway has its routes, over the hosts, and its proxies; an edit changes the first route", () => {
  const shape = { ...SHAPE, gateway: { routes: 250, hosts: 100, proxies: 50 } };
  const all = objects(configuration(shape));
  const routes = all.flatMap((object) =>
    object.kind === "HTTPRoute" && object.meta.name.startsWith("route-") ? [object as ConfigObject<"HTTPRoute">] : []
  );
  assert.equal(routes.length, 250);
  assert.equal(new Set(routes.flatMap(({ spec }) => spec.hostnames ?? [])).size, 100);
  assert.equal(all.filter(({ kind }) => kind === "WorkloadEntry").length, 50);
  assert.match(JSON.stringify(objects([["a", routesFile(shape, 0, { routed: "x-1" })]])[0]), /x-1/);
});

Deno.test("every service has its endpoints; every fifth has all ports", () => {
  const entries = objects(configuration(SHAPE)).filter(({ kind }) => kind === "ServiceEntry");
  const addresses = new Set<string>();
  for (const { spec, meta } of entries) {
    const { endpoints, ports } = spec as { endpoints: { address: string }[]; ports: { name: string }[] };
    for (const { address } of endpoints) addresses.add(address);
    const index = Number(meta.name.slice("svc-".length));
    assert.deepEqual(ports.map((p) => p.name), index % 5 === 0 ? ["http", "grpc", "tcp"] : ["http"]);
    assert.equal(endpoints[0]!.address, service(SHAPE, index).endpoint(0));
  }
  assert.equal(addresses.size, 300);
});

/** Keys of the objects changed by an edit. */
function changed(namespace: number, edits: Edits): string[] {
  const hashes = (text: string) => new Map(objects([["f", text]]).map((o) => [o.key, o.hash]));
  const before = hashes(namespaceFile(SHAPE, namespace));
  const after = hashes(namespaceFile(SHAPE, namespace, edits));
  assert.deepEqual([...before.keys()], [...after.keys()]);
  return [...before].filter(([key, hash]) => after.get(key) !== hash).map(([key]) => key);
}

Deno.test("an edit changes one object and carries its marker", () => {
  assert.deepEqual(changed(0, { canary: "marker-1" }), ["VirtualService/ns-0/svc-0"]);
  assert.deepEqual(changed(9, { address: "172.40.200.100" }), ["ServiceEntry/ns-9/svc-29"]);
  assert.match(namespaceFile(SHAPE, 0, { canary: "marker-1" }), /"marker-1"/);
  assert.match(namespaceFile(SHAPE, 9, { address: "172.40.200.100" }), /172\.40\.200\.100/);
  assert.deepEqual(changed(0, { serviceAddress: "10.99.200.100" }), ["ServiceEntry/ns-0/svc-0"]);
  assert.deepEqual(changed(5, { canary: "marker-1", address: "172.40.200.100" }), []);
});
