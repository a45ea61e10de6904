/** Node tunnels at a running server: first requests, changes, rejections, reconnects, identities. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { TestIssuer } from "../../authenticators/support/issuer.ts";
import { until } from "../../patience.ts";
import { page, withServer } from "../running.ts";
import { TunnelClient, type TunnelClientOptions, tunnelId } from "./tunnel_client.ts";

const pod = (name: string, address: string, more = "") => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { app: ${name} }${more} }
spec: { nodeName: n1, serviceAccountName: ${name}, containers: [] }
status: { phase: Running, podIP: ${address}, conditions: [{ type: Ready, status: "True" }] }
`;

const service = (name: string, address: string) => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: ${address}, selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
`;

const CART = "Kubernetes//Pod/shop/cart";
const WEB = "Kubernetes//Pod/shop/web";
const WEB_SERVICE = "shop/web.shop.svc.cluster.local";
const CART_SERVICE = "shop/cart.shop.svc.cluster.local";
const CAPTURED = ", annotations: { ambient.istio.io/redirection: enabled }";

interface Tunnels {
  readonly server: DiscoveryServer;
  readonly folder: string;
  connect(options?: TunnelClientOptions): TunnelClient;
}

async function withTunnels(
  files: Readonly<Record<string, string>>,
  run: (tunnels: Tunnels) => Promise<void>,
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
): Promise<void> {
  const clients: TunnelClient[] = [];
  await withServer(files, async (server, folder) => {
    const connect = (options?: TunnelClientOptions) => {
      const client = new TunnelClient(server.ports.grpc!, options);
      clients.push(client);
      return client;
    };
    try {
      await run({ server, folder, connect });
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  }, {
    options: { clusterId: "Kubernetes", manifestServices: true },
    settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false, ...settings },
  });
}

Deno.test("an empty mesh answers both types, and the tunnel is ready", () =>
  withTunnels({}, async ({ connect }) => {
    const tunnel = connect();
    await tunnel.until(() => tunnel.isReady, "both answers");
    assert.deepEqual(tunnel.responses, [
      { type: "policies", names: [], removed: [] },
      { type: "addresses", names: [], removed: [] },
    ], "policies come first, although addresses were asked first");
  }));

Deno.test("a tunnel gets the whole mesh in one response, and each change alone", () =>
  withTunnels(
    { "cart.yaml": pod("cart", "10.1.0.1"), "service.yaml": service("cart", "10.96.0.1") },
    async ({ connect, folder }) => {
      const tunnel = connect();
      await tunnel.until(() => tunnel.addresses.size === 2, "the whole mesh");
      assert.deepEqual(tunnel.responses.filter(({ type }) => type === "addresses").map(({ names }) => names), [
        [CART, CART_SERVICE],
      ]);
      const { workload } = tunnel.addresses.get(CART)!.message;
      assert.deepEqual(Object.keys(workload?.services ?? {}), [CART_SERVICE]);
      assert.equal(workload?.tunnel_protocol, undefined);

      tunnel.responses.length = 0;
      await Deno.writeTextFile(`${folder}/cart.yaml`, pod("cart", "10.1.0.1", CAPTURED));
      await tunnel.until(() => tunnel.addresses.get(CART)?.message.workload?.tunnel_protocol === 1, "HBONE");
      await Deno.writeTextFile(`${folder}/web.yaml`, pod("web", "10.1.0.2"));
      await tunnel.until(() => tunnel.addresses.has(WEB), "a new pod without a service");
      await Deno.remove(`${folder}/web.yaml`);
      await tunnel.until(() => !tunnel.addresses.has(WEB), "the removal");
      assert.deepEqual(tunnel.responses, [
        { type: "addresses", names: [CART], removed: [] },
        { type: "addresses", names: [WEB], removed: [] },
        { type: "addresses", names: [], removed: [WEB] },
      ]);
    },
  ));

Deno.test("a tunnel that comes back gets what differs: with its versions nothing else, without them everything", () =>
  withTunnels(
    { "cart.yaml": pod("cart", "10.1.0.1"), "web.yaml": pod("web", "10.1.0.2") },
    async ({ connect, folder }) => {
      const first = connect();
      await first.until(() => first.addresses.size === 2, "the whole mesh");
      first[Symbol.dispose]();
      const same = connect({ earlier: first });
      await same.until(() => same.isReady, "an answer");
      assert.deepEqual(same.responses.map(({ names, removed }) => [...names, ...removed]), [[], []]);
      await Deno.remove(`${folder}/web.yaml`);
      await same.until(() => same.responses.some(({ removed }) => removed.includes(WEB)), "the removal");

      const changed = connect({ earlier: first });
      await changed.until(() => changed.isReady, "an answer");
      assert.deepEqual(changed.responses.at(-1), { type: "addresses", names: [], removed: [WEB] });
      const old = connect({ earlier: first, emptyVersions: true });
      await old.until(() => old.isReady, "an answer");
      assert.deepEqual(old.responses.at(-1), { type: "addresses", names: [CART], removed: [WEB] });
      assert.deepEqual(old.state, changed.state.cart === undefined ? { [CART]: old.state[CART] } : {});
    },
  ));

Deno.test("a tunnel that comes back may send 5 MB of names and versions, and no other client may send as much", () =>
  withTunnels({ "cart.yaml": pod("cart", "10.1.0.1") }, async ({ connect }) => {
    const names = Array.from({ length: 45_000 }, (_, i) => `Kubernetes//Pod/gone/pod-${i}`);
    const earlier = {
      addresses: new Map(names.map((name) => [name, { version: "v".repeat(80), message: {} }])),
      policies: new Map(),
    };
    const tunnel = connect({ earlier });
    await tunnel.until(() => tunnel.isReady, "the answer");
    assert.deepEqual([...tunnel.addresses.keys()], [CART]);
    assert.equal(tunnel.responses.reduce((sum, { removed }) => sum + removed.length, 0), names.length);
    const sidecar = connect({ earlier, id: tunnelId("shop", "sidecar") });
    await sidecar.until(() => sidecar.ended !== undefined, "the end");
    assert.equal(sidecar.ended?.code, "RESOURCE_EXHAUSTED");
    assert.match(sidecar.ended!.details, /message too large: \d{7} bytes, limit 4194304 bytes/);
  }));

Deno.test("a rejected workload is told by name, its old version stays, and the others go on", () =>
  withTunnels(
    { "cart.yaml": pod("cart", "10.1.0.1"), "web.yaml": pod("web", "10.1.0.2") },
    async ({ connect, folder, server }) => {
      const tunnel = connect();
      await tunnel.until(() => tunnel.addresses.size === 2, "the whole mesh");
      const before = tunnel.addresses.get(CART)!.version;
      tunnel.isWrong = (name) => name === CART ? "failed to parse address, had 3 bytes" : undefined;
      await Deno.writeTextFile(`${folder}/cart.yaml`, pod("cart", "10.1.0.1", CAPTURED));
      await tunnel.until(() => tunnel.responses.length === 3, "the change");
      await Deno.writeTextFile(`${folder}/web.yaml`, pod("web", "10.1.0.2", CAPTURED));
      await tunnel.until(() => tunnel.addresses.get(WEB)?.message.workload?.tunnel_protocol === 1, "the other");
      assert.deepEqual(tunnel.responses.at(-1)?.names, [WEB], "the rejected version is not sent again");
      assert.equal(tunnel.addresses.get(CART)!.version, before);
      const rejected = server.xds.ledger.rejections().map(({ resources, message }) => [resources, message]);
      assert.deepEqual(rejected, [[[CART], `${CART}: failed to parse address, had 3 bytes`]]);
    },
  ));

Deno.test("a tunnel on demand has its node's workloads, the asked addresses, and the workloads of asked services", () =>
  withTunnels({
    "cart.yaml": pod("cart", "10.1.0.1"),
    "web.yaml": pod("web", "10.1.0.2").replace("n1", "n2"),
    "other.yaml": pod("other", "10.1.0.3").replace("n1", "n2"),
    "service.yaml": service("web", "10.96.0.1"),
  }, async ({ connect, folder }) => {
    const tunnel = connect({ onDemand: true });
    await tunnel.until(() => tunnel.isReady, "the first answers");
    assert.deepEqual([...tunnel.addresses.keys()], [CART], "the workload of the tunnel's own node");

    tunnel.demand("/10.96.0.1");
    await tunnel.until(() => tunnel.addresses.size === 3, "a service by its address");
    assert.deepEqual([...tunnel.addresses.keys()].sort(), [CART, WEB, WEB_SERVICE]);
    tunnel.demand("/10.9.9.9");
    await tunnel.until(() => tunnel.responses.at(-1)?.removed.includes("/10.9.9.9") === true, "an unknown address");
    tunnel.demand("shop/nobody.example.com");
    await tunnel.until(() => tunnel.responses.at(-1)?.removed.length === 1, "an unknown name");
    tunnel.demand("/10.96.0.1");
    await tunnel.until(() => tunnel.responses.at(-1)?.names.includes(WEB_SERVICE) === true, "the same once more");

    await Deno.writeTextFile(
      `${folder}/new.yaml`,
      pod("new", "10.1.0.4").replace("n1", "n2").replace("app: new", "app: web"),
    );
    await tunnel.until(() => tunnel.addresses.has("Kubernetes//Pod/shop/new"), "a new workload of an asked service");
    await Deno.remove(`${folder}/web.yaml`);
    await tunnel.until(() => !tunnel.addresses.has(WEB), "a removed workload");
    assert.ok(!tunnel.addresses.has("Kubernetes//Pod/shop/other"), "nobody asked");

    tunnel[Symbol.dispose]();
    const back = connect({ onDemand: true, earlier: tunnel });
    await back.until(() => back.isReady, "the first answers after a reconnect");
    assert.deepEqual(back.responses.at(-1), { type: "addresses", names: [], removed: [] });
    await Deno.remove(`${folder}/new.yaml`);
    await back.until(() => back.responses.at(-1)!.removed.includes("Kubernetes//Pod/shop/new"), "a held workload goes");
  }));

const policy = (name: string) => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec: { action: DENY, selector: { matchLabels: { app: cart } }, rules: [{ from: [{ source: { namespaces: [web] } }] }] }
`;

const STRICT = `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: mesh-system }
spec: { mtls: { mode: STRICT } }
`;

const listedAt = (tunnel: TunnelClient, name: string) =>
  tunnel.addresses.get(name)?.message.workload?.authorization_policies ?? [];

Deno.test("policies are sent, and listed at the workloads that they select", () =>
  withTunnels(
    {
      "cart.yaml": pod("cart", "10.1.0.1"),
      "web.yaml": pod("web", "10.1.0.2"),
      "p.yaml": policy("p") + "---" + STRICT,
    },
    async ({ connect, folder }) => {
      const tunnel = connect();
      await tunnel.until(() => tunnel.isReady, "the whole mesh");
      const strict = "mesh-system/istio_converted_static_strict";
      assert.deepEqual([...tunnel.policies.keys()].sort(), [strict, "shop/p"]);
      assert.deepEqual(listedAt(tunnel, CART), ["shop/p", strict]);
      assert.deepEqual(listedAt(tunnel, WEB), [strict]);
      await Deno.remove(`${folder}/p.yaml`);
      await tunnel.until(() => listedAt(tunnel, CART).length === 0, "the removal");
      assert.deepEqual([...tunnel.policies.keys()], []);
    },
  ));

Deno.test("workloads wait for the policies that they list, as long as the tunnel owes an answer about policies", () =>
  withTunnels({ "cart.yaml": pod("cart", "10.1.0.1") }, async ({ connect, folder, server }) => {
    const tunnel = connect({ holds: true });
    await tunnel.until(() => tunnel.isReady, "the whole mesh");
    await Deno.writeTextFile(`${folder}/p.yaml`, policy("p"));
    const pushed = async () =>
      (await page(server.ports.http!, "/debug/pushes")).body.includes("AuthorizationPolicy/shop/p");
    await until("the push of the policy", pushed);
    assert.equal(tunnel.responses.length, 2);
    tunnel.release();
    await tunnel.until(() => listedAt(tunnel, CART).length === 1, "the workload");
    assert.deepEqual(tunnel.responses.slice(2), [
      { type: "policies", names: ["shop/p"], removed: [] },
      { type: "addresses", names: [CART], removed: [] },
    ]);
  }));

const CLOSED = `
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop, labels: { istio.io/use-waypoint: missing } }
spec: { clusterIP: 10.96.0.1, selector: { app: cart }, ports: [{ name: http, port: 80 }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: only-get, namespace: shop }
spec:
  targetRefs: [{ kind: Service, group: "", name: cart }]
  rules: [{ to: [{ operation: { methods: [GET] } }] }]
`;

for (const isOpen of [false, true]) {
  Deno.test(`a service whose policy needs a missing waypoint is ${isOpen ? "open" : "closed"} with MESH_WAYPOINT_FAIL_OPEN=${isOpen}`, () =>
    withTunnels({ "service.yaml": CLOSED }, async ({ connect }) => {
      const tunnel = connect();
      await tunnel.until(() => tunnel.isReady, "the whole mesh");
      assert.deepEqual(
        tunnel.addresses.get(CART_SERVICE)?.message.service?.waypoint?.hostname,
        isOpen ? undefined : { namespace: "shop", hostname: "missing.shop.svc.cluster.local" },
      );
    }, { MESH_WAYPOINT_FAIL_OPEN: isOpen }));
}

const NAMED = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: api, namespace: shop }
spec: { hosts: [api.example.com], resolution: DNS, ports: [{ number: 443, name: tls, protocol: TLS }] }
`;

for (const allocates of [true, false]) {
  Deno.test(`a host ${allocates ? "has an allocated" : "has no"} address with PILOT_ENABLE_IP_AUTOALLOCATE=${allocates}`, () =>
    withTunnels({ "entry.yaml": NAMED }, async ({ connect }) => {
      const tunnel = connect();
      await tunnel.until(() => tunnel.isReady, "the whole mesh");
      const { addresses = [] } = tunnel.addresses.get("shop/api.example.com")!.message.service!;
      const starts = addresses.map(({ address }) => [...address!.subarray(0, 2)]);
      assert.deepEqual(starts, allocates ? [[240, 240], [0x20, 0x01]] : []);
    }, { PILOT_ENABLE_IP_AUTOALLOCATE: allocates }));
}

Deno.test("tunnels are refused without ambient mode", async () => {
  await withTunnels({}, async ({ connect }) => {
    const tunnel = connect();
    await tunnel.until(() => tunnel.ended !== undefined, "the end");
    assert.equal(tunnel.ended?.code, "INVALID_ARGUMENT");
    assert.match(tunnel.ended!.details, /type "ztunnel" is served with PILOT_ENABLE_AMBIENT=true/);
  }, { PILOT_ENABLE_AMBIENT: false });
});

Deno.test("a tunnel proves an identity of the namespace in its node id", async () => {
  await using issuer = await TestIssuer.start();
  const rule = JSON.stringify({ issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
  const token = await issuer.token({ sub: "system:serviceaccount:mesh-system:ztunnel" });
  const headers = { authorization: `Bearer ${token}`, clusterid: "Kubernetes" };
  await withTunnels({ "cart.yaml": pod("cart", "10.1.0.1") }, async ({ connect }) => {
    const proven = connect({ headers });
    await proven.until(() => proven.addresses.size === 1, "the whole mesh");
    const elsewhere = connect({ headers, id: tunnelId("shop") });
    await elsewhere.until(() => elsewhere.ended !== undefined, "the end");
    assert.equal(elsewhere.ended?.code, "PERMISSION_DENIED");
    const nobody = connect();
    await nobody.until(() => nobody.ended !== undefined, "the end");
    assert.equal(nobody.ended?.code, "UNAUTHENTICATED");
    assert.equal(nobody.responses.length, 0);
  }, { JWT_RULE: rule, XDS_AUTH: true, XDS_AUTH_PLAINTEXT: true });
  await withTunnels({}, async ({ connect }) => {
    const plain = connect();
    await plain.until(() => plain.ended !== undefined, "the end");
    assert.equal(plain.ended?.code, "UNAUTHENTICATED");
    assert.match(plain.ended!.details, /a node tunnel must prove its identity/);
  }, { XDS_AUTH: true });
});
