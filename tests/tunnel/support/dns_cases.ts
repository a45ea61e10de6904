/**
 * Tests of names at a tunnel, in a network of their own: see `dns_test.ts`. The name server of `resolv.conf` is the
 * test's: what it was asked shows who answered.
 *
 * Permissions: those of `node.ts`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { must } from "../../cni/support/commands.ts";
import { type FakeUpstream, startUpstream } from "../../dns/support/upstream.ts";
import { until } from "../../patience.ts";
import { NODE_ADDRESS, type PodNetwork } from "./network.ts";
import { type AmbientNode, withAmbientNode } from "./node.ts";
import { CAPTURED, makePod, makeService, type Placed } from "./objects.ts";
import type { TunnelProcess } from "./tunnel_process.ts";

/** Addresses that the server allocates to hosts. */
const ALLOCATED = /^240\.240\.\d+\.\d+$/;

const PORT = { name: "http", port: 80, targetPort: 8080 };

/** A host outside of the cluster whose workloads are the pods of `web`, or are unknown. */
function entry(name: string, hosts: readonly string[], spec: object, namespace = "shop"): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace },
    spec: { hosts, resolution: "STATIC", ports: [{ ...WRITTEN_PORT }], ...spec },
  };
}

const WRITTEN_PORT = { number: 80, targetPort: 8080, name: "http", protocol: "HTTP" };
const OF_WEB = { workloadSelector: { labels: { app: "web" } } };
const ELSEWHERE = { endpoints: [{ address: "192.0.2.9" }] };

const ENTRIES = [
  entry("api", ["api.example.com"], OF_WEB),
  entry("wild", ["*.wild.example.com"], { ...OF_WEB, addresses: ["192.0.2.7"] }),
  entry("unallocated", ["*.free.example.com"], OF_WEB),
  entry("common", ["common.example.com"], { ...ELSEWHERE, addresses: ["192.0.2.11"] }),
  entry("common", ["common.example.com"], { ...ELSEWHERE, addresses: ["192.0.2.12"] }, "other"),
];

/** Names that the name server knows, with addresses. */
const ZONE = {
  "outside.example.com": ["198.51.100.1"],
  "a.free.example.com": ["198.51.100.2"],
  "wild.example.com": ["198.51.100.3"],
  "alias.shop.svc.cluster.local": ["198.51.100.4"],
};

/** Who asks: `client` and `web` in namespace `shop`, `stranger` in `other`. DNS of `spared` is not captured. */
type Asking = "client" | "web" | "stranger" | "spared";

interface NamesWorld {
  readonly node: AmbientNode;
  readonly tunnel: TunnelProcess;
  readonly upstream: FakeUpstream;
  readonly pods: Readonly<Record<Asking, Placed>>;
  /** Addresses of services, by `name.namespace`. */
  readonly services: Readonly<Record<string, string>>;
}

async function withNamesWorld(run: (world: NamesWorld) => Promise<void>): Promise<void> {
  const files = { "entries.yaml": ENTRIES.map((one) => JSON.stringify(one)).join("\n---\n") };
  const draft = { files, meshConfig: {}, namespaces: ["shop", "other"], capturesDns: true };
  await withAmbientNode(draft, async (node) => {
    const { api, networks } = node;
    const upstream = startUpstream(NODE_ADDRESS, 53, ZONE);
    try {
      const made = async (name: string, namespace: string, annotations = {}): Promise<Placed> => {
        const [network, all] = [await networks.pod(name), { ...CAPTURED, ...annotations }];
        const uid = await makePod(api, namespace, network, { app: name, tier: "all" }, all);
        await node.capture({ network, uid, namespace, serviceAccount: name, annotations: all });
        return { network, uid };
      };
      const pods = {
        client: await made("client", "shop"),
        web: await made("web", "shop"),
        stranger: await made("stranger", "other"),
        spared: await made("spared", "shop", { "ambient.istio.io/dns-capture": "false" }),
      };
      const ofWeb = { selector: { app: "web" }, port: PORT };
      const all = { pods: [pods.web, pods.client, pods.spared], selector: { tier: "all" }, port: PORT };
      const services = {
        "web.shop": await makeService(api, { ...ofWeb, name: "web", pods: [pods.web] }),
        "web.other": await makeService(api, { ...ofWeb, name: "web", namespace: "other" }),
        "only.other": await makeService(api, { ...ofWeb, name: "only", namespace: "other" }),
        "all.shop": await makeService(api, { ...all, name: "all", headless: true }),
      };
      await api.objects.create({
        ...{ apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name: "alias" } },
        spec: { type: "ExternalName", externalName: "outside.example.com" },
      });
      await networks.startApplication(pods.web.network);
      const tunnel = await node.start();
      await tunnel.until("snapshot");
      await run({ node, tunnel, upstream, pods, services });
    } finally {
      upstream.close();
    }
  });
}

/** What dig got. */
interface Dug {
  readonly status: string;
  /** `NAME TYPE DATA`, sorted. */
  readonly answers: readonly string[];
}

/** Asks by dig in a pod. */
async function dig({ netns }: PodNetwork, name: string, ...words: string[]): Promise<Dug> {
  const common = ["+tries=1", "+time=20", "+nocmd", "+noedns", "+comments", "+noquestion", "+nostats"];
  const out = await must("nsenter", [`--net=${netns}`, "dig", ...common, name, ...words]);
  return {
    status: /status: (\w+)/.exec(out)?.[1] ?? out,
    answers: [...out.matchAll(/^(\S+)\.\s+\d+\s+IN\s+(\S+)\s+(\S+?)\.?$/gm)].map(([, ...parts]) => parts.join(" "))
      .toSorted(),
  };
}

/** Ways to ask in a world. */
class Asker {
  constructor(readonly world: NamesWorld) {}

  /** What the name server is asked from now on about a name, also with search domains. Others ask for other names. */
  watch(name: string): () => readonly string[] {
    const { asked } = this.world.upstream;
    const before = asked.length;
    return () => asked.slice(before).filter((one) => `${one.split(" ")[1]}.`.startsWith(`${name}.`));
  }

  /** The answer over UDP. The answer over TCP is the same. */
  async ask(who: Asking, name: string, ...words: string[]): Promise<Dug> {
    const { network } = this.world.pods[who];
    const [udp, tcp] = [await dig(network, name, ...words), await dig(network, name, "+tcp", ...words)];
    assert.deepEqual(tcp, udp, `${name}: over TCP and UDP`);
    return udp;
  }

  /** The addresses of a name, which the name server is not asked about. */
  async addresses(who: Asking, name: string, ...words: string[]): Promise<readonly string[]> {
    const asked = this.watch(name);
    const { status, answers } = await this.ask(who, name, ...words);
    assert.deepEqual([status, asked()], ["NOERROR", []], name);
    return answers.map((one) => one.split(" ")).filter(([, type]) => type !== "CNAME").map(([, , data]) => data!);
  }

  /** The answer of the name server, which is asked over UDP and over TCP. */
  async forwarded(who: Asking, name: string, type = "A"): Promise<Dug> {
    const asked = this.watch(name);
    const answer = await this.ask(who, name, type);
    assert.deepEqual(asked(), [`udp ${name} ${type}`, `tcp ${name} ${type}`]);
    return answer;
  }
}

async function reachesAllocated(ask: Asker): Promise<void> {
  const { node, pods, tunnel } = ask.world;
  const [address = "", ...more] = await ask.addresses("client", "api.example.com");
  assert.match(address, ALLOCATED);
  assert.deepEqual(more, []);
  const [asked, taken] = [ask.watch("api.example.com"), tunnel.connections.length];
  const { status, body } = await node.networks.get(pods.client.network, "http://api.example.com/");
  assert.equal(status, 200, body);
  assert.equal(JSON.parse(body).from, pods.client.network.address);
  assert.deepEqual(asked(), [], "the C library's questions have search domains");
  await tunnel.settled();
  const web = pods.web.network.address;
  assert.deepEqual(
    tunnel.connections.slice(taken).map(({ uid, way, by, target, to }) => [uid, way, by, way === "out" ? to : target])
      .toSorted(),
    [[pods.client.uid, "out", "hbone", `${web}:15008`], [pods.web.uid, "in", "hbone", `${web}:8080`]].toSorted(),
  );
}

async function listsEndpoints(ask: Asker): Promise<void> {
  const { client, web, spared } = ask.world.pods;
  const endpoints = [client, web, spared].map(({ network }) => network.address).toSorted();
  for (const name of ["all.shop.svc.cluster.local", "all.shop"]) {
    assert.deepEqual(await ask.addresses("client", name), endpoints, name);
  }
  assert.deepEqual(await ask.addresses("client", "all.shop", "AAAA"), []);
}

async function coversWildcards(ask: Asker): Promise<void> {
  for (const name of ["a.wild.example.com", "a.b.wild.example.com"]) {
    assert.deepEqual(await ask.addresses("client", name), ["192.0.2.7"], name);
  }
  const { status } = await ask.world.node.networks.get(ask.world.pods.client.network, "http://a.wild.example.com/");
  assert.equal(status, 200);
  const beside = await ask.forwarded("client", "wild.example.com");
  assert.deepEqual(beside.answers, ["wild.example.com A 198.51.100.3"]);
  const unallocated = await ask.forwarded("client", "a.free.example.com");
  assert.deepEqual(unallocated.answers, ["a.free.example.com A 198.51.100.2"], "nothing is allocated to a wildcard");
}

async function prefersOwnNamespace(ask: Asker): Promise<void> {
  const { services } = ask.world;
  const rows: readonly [who: Asking, name: string, address: string | undefined][] = [
    ["client", "web", services["web.shop"]],
    ["stranger", "web", services["web.other"]],
    ["client", "web.other", services["web.other"]],
    ["client", "only.other.svc", services["only.other"]],
    ["client", "web.shop.svc.cluster.local", services["web.shop"]],
    ["client", "common.example.com", "192.0.2.11"],
    ["stranger", "common.example.com", "192.0.2.12"],
  ];
  for (const [who, name, address] of rows) {
    assert.deepEqual(await ask.addresses(who, name), [address], `${who} ${name}`);
  }
  assert.deepEqual(await ask.addresses("client", "web", "+search"), [services["web.shop"]]);
  assert.deepEqual((await ask.ask("client", "api.example.com.shop.svc.cluster.local")).answers.map(wordsOf), [
    ["api.example.com", "A"],
    ["api.example.com.shop.svc.cluster.local", "CNAME"],
  ], "a search domain is taken off");
  assert.equal(
    (await ask.forwarded("client", "only")).status,
    "NXDOMAIN",
    "a short name is of the own namespace alone",
  );
}

const wordsOf = (answer: string) => answer.split(" ").slice(0, 2);

async function forwardsInCluster(ask: Asker): Promise<void> {
  assert.deepEqual(await ask.forwarded("client", "missing.shop.svc.cluster.local"), {
    status: "NXDOMAIN",
    answers: [],
  });
  const { answers } = await ask.forwarded("client", "alias.shop.svc.cluster.local");
  assert.deepEqual(
    answers,
    ["alias.shop.svc.cluster.local A 198.51.100.4"],
    "an ExternalName is no service of tunnels",
  );
}

async function forwardsOthers(ask: Asker): Promise<void> {
  for (const who of ["client", "stranger"] as const) {
    const { status, answers } = await ask.forwarded(who, "outside.example.com");
    assert.deepEqual([status, answers], ["NOERROR", ["outside.example.com A 198.51.100.1"]]);
  }
  assert.equal((await ask.forwarded("client", "nowhere.example.com")).status, "NXDOMAIN");
  await ask.forwarded("client", "api.example.com", "TXT");
}

/** The annotation takes the rules for DNS away. */
async function sparesUncaptured(ask: Asker): Promise<void> {
  assert.equal((await ask.forwarded("spared", "api.example.com")).status, "NXDOMAIN");
  const { pods, tunnel } = ask.world;
  await tunnel.settled();
  assert.deepEqual(tunnel.events.filter((one) => one.event === "question" && one.uid === pods.spared.uid), []);
}

async function followsEntries(ask: Asker): Promise<void> {
  const { node, pods } = ask.world;
  const status = async () => (await dig(pods.client.network, "late.example.com")).status;
  assert.equal(await status(), "NXDOMAIN");
  await node.write("late", entry("late", ["late.example.com"], OF_WEB));
  await until("the name of a new entry", async () => await status() === "NOERROR", 200);
  assert.match((await ask.addresses("client", "late.example.com"))[0] ?? "", ALLOCATED);
  await node.write("late");
  await until("the name has gone", async () => await status() === "NXDOMAIN", 200);
}

Deno.test("names at a node tunnel", (t) =>
  withNamesWorld(async (world) => {
    const ask = new Asker(world);
    const steps: Readonly<Record<string, (ask: Asker) => Promise<void>>> = {
      "a host with an allocated address resolves, and a request by its name reaches the workload by tunnels":
        reachesAllocated,
      "a headless service has the addresses of its endpoints": listsEndpoints,
      "a wildcard's written address is that of every name below, and without address the name server answers":
        coversWildcards,
      "a name is first of the own namespace": prefersOwnNamespace,
      "the cluster's name server answers for names of the cluster that tunnels do not know": forwardsInCluster,
      "other names and other types go to the name server": forwardsOthers,
      "a pod whose DNS is not captured asks the name server itself": sparesUncaptured,
      "the name of an entry comes and goes with the entry": followsEntries,
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
