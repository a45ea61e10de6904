/** The pages that tell of each pod and service how ambient mode treats it. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { podName } from "../../lib/ambient/workloads.ts";
import { TunnelClient } from "../discovery/ambient/tunnel_client.ts";
import { page, withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";

interface PodMore {
  readonly labels?: string;
  readonly annotations?: string;
  readonly spec?: string;
  readonly node?: string;
}

const pod = (name: string, ip: string, { labels = "", annotations = "", spec = "", node = "n1" }: PodMore = {}) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { app: ${name}, ${labels} }, annotations: { ${annotations} } }
spec: { nodeName: ${node}, serviceAccountName: ${name}, ${spec} containers: [] }
status: { phase: Running, podIP: ${ip}, podIPs: [{ ip: ${ip} }], conditions: [{ type: Ready, status: "True" }] }
`;
const annotation = (state: string) => ({ annotations: `ambient.istio.io/redirection: ${state}` });
const service = (name: string, ip: string, labels = "") => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: { ${labels} } }
spec: { clusterIP: ${ip}, clusterIPs: [${ip}], selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
`;
const policy = (name: string, spec: string) => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec: ${spec}
`;
const NAMESPACE = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { istio.io/dataplane-mode: ambient } }
`;
const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }
`;
const PART = "gateway.istio.io/managed: istio.io-mesh-controller";
const PODS = [
  pod("cart", "10.0.0.1", annotation("enabled")),
  pod("starting", "10.0.0.2", annotation("pending")),
  pod("late", "10.0.0.3", { node: "n2" }),
  pod("own", "10.0.0.4", { labels: "networking.istio.io/tunnel: http" }),
  pod("side", "10.0.0.5", { annotations: 'sidecar.istio.io/status: "{}"' }),
  pod("host", "10.0.0.6", { spec: "hostNetwork: true," }),
  pod("point", "10.0.0.8", { labels: PART }),
  pod("not", "10.0.0.7", { labels: "istio.io/dataplane-mode: none" }),
];
const GATE = [GATEWAY, service("gate", "10.96.0.9", PART), pod("gate", "10.0.0.9", { labels: PART })];
const CART = service("cart", "10.96.0.1", "istio.io/use-waypoint: gate");
const OF_PODS = policy(
  "clients",
  "{ selector: { matchLabels: { app: cart } }, rules: [{ from: [{ source: { principals: [a] } }] }] }",
);
const OF_ALL = policy("all", "{ action: DENY, rules: [{ to: [{ operation: { ports: ['81'] } }] }] }");
const OF_SERVICE = policy("paths", '{ targetRefs: [{ group: "", kind: Service, name: cart }], rules: [{}] }');

const changes = {
  options: { clusterId: "Kubernetes", manifestServices: true },
  settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false },
} as const;

interface Acks {
  readonly connected: number;
  readonly wanted: number;
  readonly acknowledged: number;
  readonly rejected: readonly { readonly tunnel: string; readonly reason: string }[];
  readonly waiting: readonly string[];
}
interface Row {
  readonly name: string;
  readonly service: string;
  readonly state: string;
  readonly why: string;
  readonly way?: string;
  readonly instances?: number;
  readonly tunnels: Acks;
  readonly services: readonly unknown[];
  readonly policies: readonly { readonly policy: string; readonly where: string; readonly isEnforced: boolean }[];
}

async function rowsOf(port: number, path: string): Promise<Row[]> {
  return JSON.parse((await page(port, `/debug/${path}`)).body);
}

async function htmlOf(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/debug/${path}`, { headers: { accept: "text/html" } });
  // Marks between the words of a cell.
  return (await response.text()).replaceAll("<wbr>", "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

Deno.test("each pod is captured, or not with the reason", () =>
  withServer({ "world.yaml": [NAMESPACE, ...PODS].join("---") }, async ({ ports }) => {
    const rows = await rowsOf(ports.http, "ambient_pods");
    assert.deepEqual(rows.map(({ name, state, why }) => [name, state, why]), [
      ["cart", "captured", "the node agent of n1 says that a tunnel has it"],
      ["host", "outside", "it uses the node's own network"],
      ["late", "waiting", "its namespace asks for ambient mode, and no node agent has captured it"],
      ["not", "outside", "its label mesh.io/dataplane-mode is none"],
      ["own", "itself", "it takes tunnels itself, by its label"],
      ["point", "itself", "it is a waypoint"],
      ["side", "sidecar", "it has a sidecar"],
      ["starting", "pending", "the node agent of n1 says that no tunnel has acknowledged it"],
    ]);
    const names = async (query: string) => (await rowsOf(ports.http, `ambient_pods?${query}`)).map(({ name }) => name);
    assert.deepEqual(await names("state=waiting"), ["late"]);
    assert.deepEqual(await names("node=n2"), ["late"]);
    assert.deepEqual(await names("namespace=bank"), []);
    const html = await htmlOf(ports.http, "ambient_pods?q=shop/late");
    assert.match(html, /shop\/late 10\.0\.0\.3 on n2 . not captured its namespace asks/);
    assert.match(html, /no tunnel is connected/);
  }, changes));

Deno.test("each pod and service has the tunnels that acknowledged it, and the words of tunnels that rejected it", () =>
  withServer({ "world.yaml": [NAMESPACE, ...PODS, CART].join("---") }, async ({ ports }, folder) => {
    using _one = new TunnelClient(ports.grpc!, { node: "n1" });
    using two = new TunnelClient(ports.grpc!, { node: "n2" });
    using slow = new TunnelClient(ports.grpc!, { node: "n3", holds: true });
    using single = new TunnelClient(ports.grpc!, { node: "n9", onDemand: true });
    const cart = podName("Kubernetes", "shop", "cart");
    two.isWrong = (name) => name === cart ? "port 0 is no port" : undefined;
    const acksOf = async (name: string) =>
      (await rowsOf(ports.http, "ambient_pods")).find((row) => row.name === name)!.tunnels;
    const reason = `${cart}: port 0 is no port`;
    const untilAcks = async (name: string, acks: Omit<Acks, "connected" | "rejected">, isRejected: boolean) => {
      const wanted = { connected: 4, ...acks, rejected: isRejected ? [{ tunnel: "n2", reason }] : [] };
      let got: Acks | undefined;
      await until("acknowledgements", async () => {
        got = await acksOf(name);
        return isDeepStrictEqual(got, wanted);
      }).catch(() => assert.deepEqual(got, wanted));
    };
    await untilAcks("cart", { wanted: 3, acknowledged: 2, waiting: [] }, true);
    await untilAcks("late", { wanted: 3, acknowledged: 3, waiting: [] }, false);

    // The policy makes another version of the pod, for which the slow tunnel must acknowledge the policy first.
    await Deno.writeTextFile(`${folder}/policy.yaml`, OF_PODS);
    await untilAcks("cart", { wanted: 3, acknowledged: 1, waiting: ["n3"] }, true);
    await untilAcks("late", { wanted: 3, acknowledged: 3, waiting: [] }, false);
    const html = await htmlOf(ports.http, "ambient_pods?tunnels=rejected");
    assert.match(html, /on 1 of 3 tunnels NACKed by n2: .*port 0 is no port no answer of n3/);
    assert.doesNotMatch(html, /10\.0\.0\.3/);
    assert.match(await htmlOf(ports.http, "ambientz?q=shop/cart.shop.svc"), /on 3 of 3 tunnels/);
    const [service] = await rowsOf(ports.http, "ambient_services");
    assert.deepEqual([service!.tunnels.wanted, service!.tunnels.acknowledged], [3, 3]);
    slow.release();
    await untilAcks("cart", { wanted: 3, acknowledged: 2, waiting: [] }, true);

    single.demand("/10.0.0.3");
    await untilAcks("late", { wanted: 4, acknowledged: 4, waiting: [] }, false);
  }, changes));

Deno.test("each policy of a pod is enforced at the tunnel, at the waypoint, at the sidecar or nowhere", () =>
  withServer({
    "world.yaml": [NAMESPACE, ...PODS, CART, ...GATE, OF_PODS, OF_ALL, OF_SERVICE].join("---"),
  }, async ({ ports }) => {
    const rows = new Map((await rowsOf(ports.http, "ambient_pods")).map((row) => [row.name, row]));
    const places = (name: string) => rows.get(name)!.policies.map(({ policy, where }) => `${policy} ${where}`);
    const cart = "shop/cart.shop.svc.cluster.local";
    assert.deepEqual(places("cart"), [
      "shop/all at the tunnel",
      "shop/clients at the tunnel",
      `shop/paths at the waypoint shop/gate, for ${cart}`,
    ]);
    assert.deepEqual(places("late"), ["shop/all nowhere: the pod is not captured"]);
    assert.deepEqual(places("side"), ["shop/all at the sidecar"]);
    const names = async (policy: string) =>
      (await rowsOf(ports.http, `ambient_pods?policy=${policy}`)).map(({ name }) => name);
    assert.deepEqual(await names("shop/clients"), ["cart"]);
    assert.equal((await names("shop/all")).length, 9);
    assert.deepEqual(await names("shop/absent"), []);
  }, changes));

Deno.test("a pod with a waypoint of its own has the policies of that waypoint, or hears that nothing enforces them", async () => {
  const asking = pod("solo", "10.0.0.12", {
    ...annotation("enabled"),
    labels: "istio.io/use-waypoint: gate",
  });
  const forAll = GATEWAY.replace("{ name: gate,", "{ name: gate, labels: { istio.io/waypoint-for: all },");
  const atGate = policy(
    "front",
    "{ targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: gate }], rules: [{}] }",
  );
  const policiesOf = async (texts: readonly string[], settings = changes) => {
    const found: unknown[] = [];
    await withServer({ "world.yaml": [NAMESPACE, asking, atGate, ...texts].join("---") }, async ({ ports }) => {
      const rows = await rowsOf(ports.http, "ambient_pods");
      found.push(
        ...rows.find(({ name }) => name === "solo")!.policies.map(({ where, isEnforced }) => [where, isEnforced]),
      );
    }, settings);
    return found;
  };
  assert.deepEqual(await policiesOf([forAll, ...GATE.slice(1)]), [
    ["at the waypoint shop/gate, for its own address", true],
  ]);
  assert.deepEqual(await policiesOf([]), [
    ["nothing reaches its own address: the waypoint shop/gate is not on the way", true],
  ]);
  const open = { ...changes, settings: { ...changes.settings, MESH_WAYPOINT_FAIL_OPEN: true } };
  assert.deepEqual(await policiesOf([], open), [
    ["nowhere for its own address: the waypoint shop/gate is not on the way", false],
  ]);
  // Without a label of its own, a pod has a waypoint for services for its services alone.
  assert.deepEqual(await policiesOf(GATE), []);
});

Deno.test("a service has its waypoint on the way only if an instance of the waypoint is ready", async () => {
  const wayIn = (texts: readonly string[]) => {
    const { promise, resolve } = Promise.withResolvers<Row>();
    return withServer({ "world.yaml": [NAMESPACE, CART, ...texts].join("---") }, async ({ ports }) => {
      const rows = await rowsOf(ports.http, "ambient_services");
      resolve(rows.find((one) => one.service.startsWith("shop/cart"))!);
      await htmlOf(ports.http, "ambient_services");
    }, changes).then(() => promise);
  };
  const short = ({ way, instances, why }: Row) => [way, instances, why];
  assert.deepEqual(short(await wayIn(GATE)), [
    "waypoint",
    1,
    "Connections of node tunnels go through the waypoint shop/gate.",
  ]);
  assert.deepEqual(short(await wayIn(GATE.slice(0, 2))), [
    "closed",
    0,
    "No instance of the waypoint shop/gate is ready: node tunnels refuse connections.",
  ]);
  assert.deepEqual(short(await wayIn([])), [
    "direct",
    0,
    "The waypoint is not used: Gateway shop/gate does not exist. " +
    "Connections go to the workloads directly. No policy needs the waypoint.",
  ]);
  const closed = await wayIn([OF_SERVICE]);
  assert.equal(closed.way, "closed");
  assert.deepEqual(closed.policies, ["AuthorizationPolicy/shop/paths"]);
});

Deno.test("a server without tunnels has the pages, and no link to them in its navigation", () =>
  withServer({ "world.yaml": [NAMESPACE, ...PODS, CART].join("---") }, async ({ ports }) => {
    assert.deepEqual(await rowsOf(ports.http, "ambient_services"), []);
    assert.doesNotMatch(await htmlOf(ports.http, "ambient_pods"), /Services Ambient Pushes/);
    assert.match(await htmlOf(ports.http, "ambient_pods"), /tunnels do not get it/);
  }, { options: changes.options }));
