/** Services of a folder without an address are told apart by listeners, in the address families of the service. */
import assert from "node:assert/strict";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { StandInAddresses } from "../../lib/registry/allocation/stand_ins.ts";
import { meshOf } from "./mesh_of.ts";

/** The address of a lone service. */
function alone(id: string) {
  const standIns = new StandInAddresses();
  standIns.want(id);
  standIns.settle();
  return standIns.addresses(id)!;
}

/** Two names with the same address as first choice. */
function colliding(): readonly [string, string] {
  const known = new Map<string, string>();
  for (let n = 0; n < 500_000; n++) {
    const { IPv4 } = alone(`shop/db-${n}`);
    const other = known.get(IPv4);
    if (other !== undefined) return [other, `db-${n}`];
    known.set(IPv4, `db-${n}`);
  }
  throw new Error("no two names");
}

const database = (name: string, endpoint: string, more = "") => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { selector: { app: ${name} }, ports: [{ name: tcp, port: 3306 }]${more} }
---
apiVersion: v1
kind: Endpoints
metadata: { name: ${name}, namespace: shop }
subsets: [{ addresses: [{ ip: ${endpoint} }], ports: [{ name: tcp, port: 3306 }] }]
---`;

const clientAt = (ip: string) => `
apiVersion: v1
kind: Pod
metadata: { name: client, namespace: shop, labels: { app: client, sidecar.istio.io/inject: "true" } }
spec: { containers: [{ name: a, image: a }] }
status: { podIP: "${ip}", phase: Running }
`;

async function end(yaml: string, to: string): Promise<string | undefined> {
  const mesh = meshOf({ "mesh.yaml": yaml }, { manifestServices: true });
  const { proxies, options } = proxiesOf(mesh);
  const world = worldOf(mesh, proxies, new FieldPlaces(() => yaml));
  const from = onWay(findProxy("client.shop", proxies, options).proxy);
  return (await explainRequest(readQuestion({ to }), from, world)).end.endpoint;
}

Deno.test("two services that want one address have a listener each, and each is reached at its own listener", async () => {
  const [first, second] = colliding();
  assert.equal(alone(`shop/${first}`).IPv4, alone(`shop/${second}`).IPv4);
  const yaml = database(first, "10.0.0.1") + database(second, "10.0.0.2") + clientAt("10.0.0.9");
  assert.equal(await end(yaml, `tcp://${first}.shop:3306`), "10.0.0.1:3306");
  assert.equal(await end(yaml, `tcp://${second}.shop:3306`), "10.0.0.2:3306");
});

Deno.test("a client of IPv6 dials the address of its own family", async () => {
  const yaml = database("db", "2001:db8::1") + clientAt("2001:db8::9");
  assert.equal(await end(yaml, "tcp://db.shop:3306"), "[2001:db8::1]:3306");
});

/** The listeners of port 3306 of a proxy with the given addresses, each with all its addresses. */
function listeners(more: string, addresses: string, dualStack: boolean): string[] {
  const settings = defaultSettings("pilot-discovery", { MESH_DUAL_STACK: dualStack });
  const mesh = meshOf({ "mesh.yaml": database("db", "10.0.0.1", more) }, { settings, manifestServices: true });
  const node = { id: `sidecar~10.0.0.9~a.shop~shop.svc.cluster.local`, metadata: { INSTANCE_IPS: addresses } };
  const { listeners = [] } = resourcesJson(mesh.join(node), ["lds"]);
  interface Shown {
    readonly name: string;
    readonly additional_addresses?: readonly { address: { socket_address: { address: string } } }[];
  }
  return (listeners as unknown as Shown[]).filter(({ name }) => name.endsWith("_3306")).map((one) =>
    [one.name, ...(one.additional_addresses ?? []).map(({ address }) => address.socket_address.address)].join(" ")
  );
}

const { IPv4, IPv6 } = alone("shop/db");
const [four, six, both] = ["10.0.0.9", "2001:db8::9", "10.0.0.9,2001:db8::9"];

const FAMILIES: readonly (readonly [what: string, more: string, proxy: string, dualStack: boolean, seen: string])[] = [
  ["of any family to a proxy of IPv4", "", four, false, `${IPv4}_3306`],
  ["of any family to a proxy of IPv6", "", six, false, `${IPv6}_3306`],
  ["of any family to a proxy of both", "", both, false, `${IPv4}_3306`],
  ["of any family to a proxy of both in a mesh of both", "", both, true, `${IPv4}_3306`],
  [
    "of both to a proxy of both in a mesh of both",
    "ipFamilyPolicy: RequireDualStack",
    both,
    true,
    `${IPv4}_3306 ${IPv6}`,
  ],
  ["of both, IPv6 first, likewise", "ipFamilies: [IPv6, IPv4]", both, true, `${IPv6}_3306 ${IPv4}`],
  ["of both to a proxy of both", "ipFamilyPolicy: PreferDualStack", both, false, `${IPv4}_3306`],
  ["of IPv6 to a proxy of both in a mesh of both", "ipFamilies: [IPv6]", both, true, `${IPv6}_3306`],
  ["of IPv4 to a proxy of both in a mesh of both", "ipFamilies: [IPv4]", both, true, `${IPv4}_3306`],
];

for (const [what, more, proxy, dualStack, seen] of FAMILIES) {
  Deno.test(`a service ${what} is at ${seen}`, () => {
    assert.deepEqual(listeners(more === "" ? "" : `, ${more}`, proxy, dualStack), [seen]);
  });
}
