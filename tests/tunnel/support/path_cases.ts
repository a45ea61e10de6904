/**
 * Tests of connections through tunnels and a waypoint, in a network of their own: see `path_test.ts`.
 *
 * Permissions: those of `world.ts`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { askByHbone, type HboneAnswer } from "../../e2e/support/hbone_client.ts";
import { until } from "../../patience.ts";
import type { ConnectionEvent } from "../path/log.ts";
import { type Got, NODE_ADDRESS } from "./network.ts";
import { type AmbientWorld, withAmbientWorld } from "./world.ts";

const [CLIENT, DOOR, BORDER, OTHER] = ["client", "door", "border", "other"].map((account) =>
  `spiffe://cluster.local/ns/shop/sa/${account}`
);

function policy(name: string, spec: object): object {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name, namespace: "shop" },
    spec,
  };
}

const ofService = (name: string) => ({ targetRefs: [{ kind: "Service", name, group: "" }] });
const ofPods = { selector: { matchLabels: { app: "web" } } };
const ADMIN = [{ to: [{ operation: { paths: ["/admin"] } }] }];
const from = (account: string) => [{ from: [{ source: { principals: [`cluster.local/ns/shop/sa/${account}`] } }] }];

const STRICT = {
  apiVersion: "security.istio.io/v1",
  kind: "PeerAuthentication",
  metadata: { name: "default", namespace: "mesh-system" },
  spec: { mtls: { mode: "STRICT" } },
};

/** The client's address, as the application saw it. */
const seenBy = ({ body }: Got): string => JSON.parse(body).from;

/** Ways to ask in a world. */
class Asker {
  constructor(readonly world: AmbientWorld) {}

  /** A request of the client to a service. */
  get(service: keyof AmbientWorld["services"], path = "/"): Promise<Got> {
    const { networks, pods, services } = this.world;
    return networks.get(pods.client, `http://${services[service]}${path}`);
  }

  /** Resolves when a request has a status; 0: it is refused. */
  async until(service: keyof AmbientWorld["services"], path: string, status: number): Promise<void> {
    await until(`${service}${path}: ${status}`, async () => (await this.get(service, path)).status === status, 200);
  }

  /** Connections that the tunnel tells of while something is done. */
  async connections(work: () => Promise<unknown>): Promise<ConnectionEvent[]> {
    const { tunnel } = this.world;
    await tunnel.settled();
    const before = tunnel.connections.length;
    await work();
    await tunnel.settled();
    return tunnel.connections.slice(before);
  }
}

const isIn = ({ way }: ConnectionEvent) => way === "in";
const refusals = (all: readonly ConnectionEvent[], way: "in" | "out") =>
  all.filter((one) => one.way === way).map(({ refused }) => refused);

async function carries(ask: Asker): Promise<void> {
  const { pods, networks, uids } = ask.world;
  for (const pod of [pods.client, pods.web]) await networks.watch(pod);
  await ask.until("direct", "/", 200);
  const through = await ask.connections(() => ask.until("web", "/", 200));
  const comers = new Set(through.filter(isIn).map(({ identity }) => identity));
  assert.deepEqual([...comers], [DOOR], "the waypoint comes as itself");
  const direct = await ask.connections(async () => assert.equal(seenBy(await ask.get("direct")), pods.client.address));
  assert.ok(
    direct.some(({ uid, way, by, to }) =>
      uid === uids.client && way === "out" && by === "hbone" && to === `${pods.web.address}:15008`
    ),
  );
  const named = { uid: uids.web, way: "in", by: "hbone", target: `${pods.web.address}:8080`, event: "connection" };
  assert.deepEqual(direct.filter(isIn), [{ ...named, peer: pods.client.address, identity: CLIENT }]);
  for (let at = 0; at < 20; at++) {
    assert.deepEqual([(await ask.get("web")).status, (await ask.get("direct")).status], [200, 200]);
  }
  for (const pod of [pods.client, pods.web]) assert.equal(await networks.plainPackets(pod), 0, pod.name);
}

async function refusesAtTheWaypoint(ask: Asker): Promise<void> {
  await ask.world.write("admin", policy("admin", { action: "DENY", rules: ADMIN, ...ofService("web") }));
  await ask.until("web", "/admin", 403);
  const seen = await ask.connections(async () => {
    assert.deepEqual(await ask.get("web", "/admin"), { status: 403, body: "RBAC: access denied" });
  });
  assert.deepEqual(seen.filter(isIn), [], "nothing reaches the server's tunnel");
  assert.deepEqual([(await ask.get("web")).status, (await ask.get("direct", "/admin")).status], [200, 200]);
  await ask.world.write("admin");
  await ask.until("web", "/admin", 200);
}

async function refusesAtTheServer(ask: Asker): Promise<void> {
  const { write } = ask.world;
  const rows = [
    ["shop/no-client", policy("no-client", { action: "DENY", rules: from("client"), ...ofPods })],
    ["none of the ALLOW policies", policy("door-only", { action: "ALLOW", rules: from("door"), ...ofPods })],
  ] as const;
  for (const [name, one] of rows) {
    await write("guard", one);
    await ask.until("direct", "/", 0);
    const seen = await ask.connections(() => ask.get("direct"));
    assert.deepEqual([refusals(seen, "in"), refusals(seen, "out")], [[`policy ${name}`], ["status 401"]]);
    assert.equal((await ask.get("web")).status, 200, "the waypoint is admitted");
    await write("guard");
    await ask.until("direct", "/", 200);
  }
}

async function closesForLayer7(ask: Asker): Promise<void> {
  const { write } = ask.world;
  await write("admin", policy("admin", { action: "DENY", rules: ADMIN, ...ofPods }));
  await ask.until("direct", "/", 0);
  await write("admin");
  await ask.until("direct", "/", 200);
}

async function closesForMissingWaypoint(ask: Asker): Promise<void> {
  const { write } = ask.world;
  await ask.until("lost", "/", 200);
  await write("lost", policy("lost", { action: "DENY", rules: ADMIN, ...ofService("lost") }));
  await ask.until("lost", "/", 0);
  const seen = await ask.connections(() => ask.get("lost"));
  assert.deepEqual(refusals(seen, "out"), ["unknown waypoint: shop/missing.shop.svc.cluster.local"]);
  await write("lost");
  await ask.until("lost", "/", 200);
}

async function refusesPlain(ask: Asker): Promise<void> {
  const { networks, pods, write } = ask.world;
  const plain = () => networks.get(pods.outside, `http://${pods.web.address}:8080/`);
  const permitted = await plain();
  assert.deepEqual([permitted.status, seenBy(permitted)], [200, pods.outside.address]);
  assert.notEqual(await networks.plainPackets(pods.web), 0, "the counter counts");
  await write("strict", STRICT);
  await until("plain text is refused", async () => (await plain()).status === 0, 200);
  assert.equal((await ask.get("direct")).status, 200);
  const seen = await ask.connections(plain);
  assert.deepEqual(
    seen.map(({ by, peer, refused }) => [by, peer, refused]),
    [["plain", pods.outside.address, "policy mesh-system/istio_converted_static_strict"]],
  );
}

async function refusesByTunnel(ask: Asker): Promise<void> {
  const { pods, certificate } = ask.world;
  const { chain: cert, key } = await certificate(CLIENT!);
  const get = "GET / HTTP/1.1\r\nHost: web\r\n\r\n";
  const connected = async (to: string, proof: { cert?: string; key?: string } = { cert, key }) =>
    (await askByHbone({ to, proxy: pods.web.address, ...proof }, get)).connected;
  assert.equal(await connected(`${pods.web.address}:8080`), 200);
  assert.equal(await connected(`${pods.web.address}:8081`), 503, "nobody listens");
  assert.equal(await connected(`${pods.client.address}:8080`), 400, "another pod");
  assert.equal(await connected("web.shop:8080"), 400, "a name");
  assert.equal(await connected(`${pods.web.address}:8080`, {}), 0, "no certificate");
}

/** Tries of what the tunnel waits for five seconds alone. A busy machine may need longer. */
const TRIES = 5;

/** A pod that the node agent hands over before the orchestrator tells of it, and leaves again. */
async function waitsForNewPods(ask: Asker): Promise<void> {
  const { networks, capture, publish, zds, services, tunnel } = ask.world;
  for (let tries = 1;; tries++) {
    const [late, uid] = [await networks.pod(`late${tries}`), `late-uid-${tries}`];
    await capture(late, uid, late.name);
    await tunnel.settled();
    assert.deepEqual(
      tunnel.events.filter((event) => event.event === "pod" && event.uid === uid),
      [{ event: "pod", uid, namespace: late.identity }],
      "the tunnel has the pod's namespace",
    );
    const early = networks.get(late, `http://${services.direct}/`);
    await publish(late, late.name);
    const { status } = await early;
    await zds.release(uid);
    assert.equal(
      (await networks.get(late, `http://${services.direct}/`)).status,
      0,
      "without a tunnel nothing goes out",
    );
    if (status === 200) break;
    assert.ok(tries < TRIES, `status ${status}`);
  }
  const lost = await networks.pod("lost");
  await capture(lost, "lost-uid", "lost");
  const seen = await ask.connections(async () => {
    assert.equal((await networks.get(lost, `http://${services.direct}/`)).status, 0);
  });
  assert.deepEqual(refusals(seen, "out"), ["timed out waiting for workload"]);
}

/** The tunnel serves on while the agent is away, and knows the namespaces that the next agent hands over. */
async function survivesTheAgent(ask: Asker): Promise<void> {
  const { killAgent, tunnel } = ask.world;
  const count = (name: string) => tunnel.events.filter(({ event }) => event === name).length;
  const [pods, snapshots] = [count("pod"), count("snapshot")];
  killAgent();
  await tunnel.until("agent left");
  assert.equal((await ask.get("direct")).status, 200);
  await until("the next snapshot", () => count("snapshot") > snapshots);
  assert.equal(count("pod"), pods, "no namespace is entered anew");
  assert.equal((await ask.get("direct")).status, 200);
}

/** A pod that answers with the certificate of another account. */
async function refusesImpostors(ask: Asker): Promise<void> {
  const { networks, capture, publish, pods } = ask.world;
  const impostor = await networks.pod("impostor");
  await publish(impostor, "impostor");
  await capture(impostor, "impostor-uid", "client");
  const reason = `the other end is ${CLIENT}, expected spiffe://cluster.local/ns/shop/sa/impostor`;
  await until("the impostor is recognized", async () => {
    const seen = await ask.connections(async () => {
      assert.equal((await networks.get(pods.client, `http://${impostor.address}:8080/`)).status, 0);
    });
    return refusals(seen, "out").includes(reason);
  }, 200);
}

/** A tunnel in a tunnel, which the gateway of the other network carries without a look at its bytes. */
async function crossesNetworks(ask: Asker): Promise<void> {
  const { networks, pods, uids, write } = ask.world;
  for (const pod of [pods.client, pods.far, pods.border]) await networks.watch(pod);
  await ask.until("far", "/", 200);
  const seen = await ask.connections(async () => {
    assert.equal(seenBy(await ask.get("far")), pods.border.address, "who dials the other network's pod");
  });
  assert.deepEqual(
    seen.filter(({ way }) => way === "out").map(({ uid, to, by }) => [uid, to, by]),
    [[uids.client, `${pods.border.address}:15008`, "hbone"]],
  );
  const named = { uid: uids.far, way: "in", by: "hbone", target: "far.shop.svc.cluster.local:80", event: "connection" };
  assert.deepEqual(seen.filter(isIn), [{ ...named, peer: pods.border.address, identity: CLIENT }]);
  for (const pod of [pods.client, pods.far]) assert.equal(await networks.plainPackets(pod), 0, pod.name);

  const select = { selector: { matchLabels: { app: "far" } } };
  await write("guard", policy("no-client", { action: "DENY", rules: from("client"), ...select }));
  await ask.until("far", "/", 0);
  const refused = await ask.connections(() => ask.get("far"));
  assert.deepEqual([refusals(refused, "in"), refusals(refused, "out")], [["policy shop/no-client"], ["status 401"]]);
  await write("guard", policy("no-border", { action: "DENY", rules: from("border"), ...select }));
  await ask.until("far", "/", 200);
  await write("guard");
}

/** Without the gateway, and for a service of its cluster alone, nobody dials the pod of another network. */
async function staysWithoutGateway(ask: Asker): Promise<void> {
  const { write, gateway } = ask.world;
  await write("border");
  await ask.until("far", "/", 0);
  const seen = await ask.connections(() => ask.get("far"));
  assert.deepEqual(refusals(seen, "out"), ["no gateway"]);
  assert.deepEqual(seen.filter(isIn), []);
  await write("border", gateway("border"));
  await ask.until("far", "/", 200);
  await write("border", gateway("other"));
  await until("the gateway is another", async () => {
    const tries = await ask.connections(() => ask.get("far"));
    return refusals(tries, "out").includes(`the other end is ${BORDER}, expected ${OTHER}`);
  }, 200);
  await write("border", gateway("border"));
  await ask.until("far", "/", 200);
}

/** The connection lives as long as the policy admits it. */
async function endsOpenConnections(ask: Asker): Promise<void> {
  const { certificate, pods, tunnel, write } = ask.world;
  const { chain: cert, key } = await certificate(CLIENT!);
  let open: Promise<HboneAnswer> | undefined;
  const seen = await ask.connections(async () => {
    const to = `${pods.web.address}:8080`;
    const carried = () => tunnel.connections.filter((one) => isIn(one) && one.peer === NODE_ADDRESS).length;
    const before = carried();
    open = askByHbone({ to, proxy: pods.web.address, cert, key }, "GET / HTTP/1.1\r\n");
    await until("an open connection", () => carried() > before);
  });
  assert.deepEqual(refusals(seen, "in"), [undefined]);
  await write("guard", policy("no-client", { action: "DENY", rules: from("client") }));
  assert.deepEqual(await open, { connected: 200, text: "" });
  await write("guard");
  await ask.until("direct", "/", 200);
}

Deno.test("a node tunnel", (t) =>
  withAmbientWorld(async (world) => {
    const ask = new Asker(world);
    const steps: Readonly<Record<string, (ask: Asker) => Promise<void>>> = {
      "requests reach the application by tunnels alone, directly and through the waypoint": carries,
      "a DENY about paths refuses at the waypoint": refusesAtTheWaypoint,
      "DENY and ALLOW about identities refuse at the server's tunnel": refusesAtTheServer,
      "a DENY about paths without a waypoint refuses everything": closesForLayer7,
      "a policy whose waypoint is missing closes the service": closesForMissingWaypoint,
      "STRICT refuses plain text": refusesPlain,
      "requests for others, for nobody and without a certificate are refused": refusesByTunnel,
      "a tunnel in a tunnel reaches another network, and its pod sees the client": crossesNetworks,
      "no gateway, or one with another identity, carries nothing": staysWithoutGateway,
      "a policy that comes later ends open connections": endsOpenConnections,
      "a new pod waits for its workload, and an ended pod has no way out": waitsForNewPods,
      "an agent that ends and comes back changes nothing": survivesTheAgent,
      "a server with the identity of another is refused": refusesImpostors,
    };
    for (const [name, step] of Object.entries(steps)) {
      await t.step(name, async () => {
        await step(ask).catch((error) => {
          const last = world.tunnel.events.slice(-10).map((event) => JSON.stringify(event)).join("\n");
          throw new Error(`${error.message}\n${last}\n${world.tunnel.complaints}`, { cause: error });
        });
      });
    }
  }));
