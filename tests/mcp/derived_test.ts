/** Derived objects for other control planes, and marks of derived objects that others write themselves. */
import assert from "node:assert/strict";
import { objectFromSpec, parseObject } from "../../lib/config/object.ts";
import type { ConfigObject, Kind, SpecOf } from "../../lib/config/types.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { kindTypeUrl, readWireObject, writeWireObject } from "../../lib/mcp/kind_codec.ts";
import { KindList } from "../../lib/mcp/kind_list.ts";
import { KindSets } from "../../lib/mcp/kind_sets.ts";
import { KIND_WIRE_TYPES } from "../../lib/mcp/wire_types.ts";
import { inFile } from "../config/origins.ts";

function derived<K extends Kind>(of: string, kind: K, spec: SpecOf<K>): ConfigObject {
  const origin = { from: "derived", source: "test", of, parent: inFile("test") } as const;
  const meta = { namespace: "shop", name: "made", labels: {}, annotations: {}, creationTimestamp: 0 };
  const { object, findings } = objectFromSpec(kind, meta, spec, origin);
  assert.ok(object, findings.map(formatFinding).join("\n"));
  return object;
}

/** The specs that another control plane gets. */
function sent(object: ConfigObject): object[] {
  const type = KIND_WIRE_TYPES.find(({ kind }) => kind === object.kind)!;
  const sets = new KindSets(({ key }, error) => assert.fail(`${key}: ${error}`));
  unpaced(sets.fill((kind) => kind === object.kind ? [object] : []));
  return [...sets.get(kindTypeUrl(type))!].map(({ typeUrl: type_url, value }) =>
    readWireObject(type, { type_url, value }).spec
  );
}

const route = [{ destination: { host: "cart.shop.svc.cluster.local" } }];

Deno.test("rules of an Ingress mean the same at another control plane: a prefix of whole segments is two matches", () => {
  const rule = (prefix: string) => ({ match: [{ uri: { prefix }, method: { exact: "GET" } }], route });
  const object = derived("Ingress/shop/web", "VirtualService", {
    hosts: ["shop.example.com"],
    gateways: ["mesh-system/made"],
    http: [rule("/cart/"), rule("/")],
    internal: { semantics: "ingress" },
  });
  const [spec] = sent(object) as { readonly http: readonly { readonly match: unknown }[] }[];
  assert.deepEqual(spec!.http.map(({ match }) => match), [
    [
      { uri: { exact: "/cart" }, method: { exact: "GET" } },
      { uri: { prefix: "/cart/" }, method: { exact: "GET" } },
    ],
    [{ uri: { prefix: "/" }, method: { exact: "GET" } }],
  ]);
});

Deno.test("objects made of the Gateway API are not sent: without their internal fields they would mean something else", () => {
  const hosts = ["shop.example.com"];
  const port = { number: 80, protocol: "HTTP", name: "default" };
  const objects = [
    derived("ApiGateway/shop/edge", "Gateway", { servers: [{ port, hosts: ["*"] }], internal: { secrets: [] } }),
    derived("TLSRoute/shop/r", "VirtualService", { hosts, gateways: ["shop/made"], tcp: [{ route }] }),
    derived("BackendTLSPolicy/shop/p", "DestinationRule", {
      host: "cart.shop.svc.cluster.local",
      internal: { backendTls: [{ sni: "cart", subjectAltNames: ["cart"] }] },
    }),
  ];
  assert.deepEqual(objects.map((object) => sent(object).length), [0, 0, 0]);
});

/** A VirtualService whose server names are outside of its hosts. */
const OUTSIDE = {
  hosts: ["shop.example.com"],
  tls: [{ match: [{ sniHosts: ["bank.example.com"] }], route }],
};

for (const domain of ["mesh.io", "istio.io"]) {
  Deno.test(`annotation internal.${domain}/route-semantics has no effect, whatever the source of the object`, () => {
    const annotations = { [`internal.${domain}/route-semantics`]: "gateway" };
    const whole = (spec: object) => ({
      apiVersion: `networking.${domain}/v1`,
      kind: "VirtualService",
      metadata: { namespace: "shop", name: "own", annotations },
      spec,
    });
    const type = KIND_WIRE_TYPES.find(({ kind }) => kind === "VirtualService")!;
    const wire = { namespace: "shop", name: "own", version: "", labels: {}, annotations, spec: OUTSIDE };
    const listed = new KindList(type, "xds://there:15010");
    const { upserted } = unpaced(listed.take([writeWireObject(type, wire)]));
    assert.deepEqual(upserted.map(({ key }) => key), []);
    for (const origin of [inFile("a.yaml"), { from: "api", source: "Orch", uid: "1" } as const]) {
      const { object, findings } = parseObject(whole(OUTSIDE), origin, { defaultNamespace: "shop" });
      assert.equal(object, undefined);
      assert.match(findings.map(formatFinding).join("\n"), /sniHosts.*bank\.example\.com/);
      const own = { ...OUTSIDE, internal: { semantics: "gateway" } };
      assert.equal(parseObject(whole(own), origin, { defaultNamespace: "shop" }).object, undefined, "as a field");
    }
  });
}
