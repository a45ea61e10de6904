/** The stand-ins for a proxy's rejected resources: no guard is taken from the proxy. */
import assert from "node:assert/strict";
import { StandIns } from "../../lib/discovery/stand_ins/stand_ins.ts";
import { readable } from "../../lib/pb/reflect.ts";
import type { EncodedResource } from "../../lib/resource/encoded.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import type { EarlierVersion } from "../../lib/xds/protocol/source.ts";
import { until } from "../patience.ts";
import { keptBytes } from "../xds/support/memory.ts";
import { Fixture, service } from "./fixture.ts";

const NAME = "outbound|80||s1.example.com";

type Patch = readonly [applyTo: string, operation: string, value: object];

/** A ProxyFilter of namespace `x` about one service. */
function filter(name: string, ...patches: readonly Patch[]): object {
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name, namespace: "x" },
    spec: {
      configPatches: patches.map(([applyTo, operation, value]) => ({
        applyTo,
        ...(applyTo === "CLUSTER" ? { match: { cluster: { service: "s1.example.com" } } } : {}),
        patch: { operation, value },
      })),
    },
  };
}

const slow = (timeout: string) => filter("slow", ["CLUSTER", "MERGE", { connect_timeout: timeout }]);
const field = (name: string, value: object) => filter(name, ["CLUSTER", "MERGE", value]);
const key = (name: string) => `ProxyFilter/x/${name}`;

/** A proxy that rejects clusters by a predicate, and reports as its stream would. */
class RejectingProxy {
  readonly state: ProxyState;
  readonly standIns: StandIns;
  /** The accepted resources by name. */
  readonly has = new Map<string, EncodedResource>();
  offers: string[] = [];
  failures: unknown[] = [];

  constructor(readonly fixture: Fixture, readonly rejects: (cluster: string) => boolean, readonly name = NAME) {
    this.state = fixture.join({ namespace: "x", address: "10.0.0.1" });
    this.standIns = new StandIns({
      state: this.state,
      translator: () => fixture.pipeline.translator,
      changedIn: (key) => fixture.pipeline.known.changedIn(key) ?? 0,
      answered: () => this.look(),
      failed: (error) => this.failures.push(error),
    });
  }

  /** The cluster for the proxy now. */
  get wanted(): EncodedResource | undefined {
    const sets = this.standIns.sets(TYPE.cluster, this.state.resourceSets(TYPE.cluster)) ?? [];
    return sets.findLast((set) => set.has(this.name))?.get(this.name);
  }

  /** Sends changed resources to the proxy. The proxy answers. */
  look(): void {
    const { wanted } = this;
    if (wanted === undefined || wanted === this.has.get(this.name)) return;
    const text = JSON.stringify(readable("envoy.config.cluster.v3.Cluster", wanted.value));
    this.offers.push(wanted.version);
    if (this.rejects(text)) {
      const earlier = (name: string): EarlierVersion => this.has.get(name);
      this.standIns.rejected(TYPE.cluster, [wanted], "no good", earlier);
    } else {
      this.has.set(this.name, wanted);
      this.standIns.accepted(TYPE.cluster, (name) => this.has.get(name));
    }
  }

  /** The proxy's cluster as a message. */
  get cluster(): { readonly connect_timeout?: { readonly seconds: number }; readonly [field: string]: unknown } {
    const { value } = this.has.get(this.name) ?? assert.fail(`no cluster ${this.name}`);
    return readable("envoy.config.cluster.v3.Cluster", value) as ReturnType<() => RejectingProxy["cluster"]>;
  }

  get row() {
    return [...this.state.rejectedPatches.values()][0];
  }

  /** Waits until the stand-in of the proxy is decided. */
  async decided(kind: string): Promise<void> {
    await until(`${kind}, not ${this.row?.standIn}`, () => this.row?.standIn === kind);
  }

  change(...objects: readonly object[]): void {
    this.fixture.put(...objects);
    this.fixture.pipeline.flush();
    this.look();
  }
}

function world(...filters: readonly object[]): Fixture {
  const fixture = new Fixture();
  fixture.put(service(1), service(2), ...filters);
  fixture.pipeline.flush();
  return fixture;
}

const isSlow = (text: string) => text.includes('"seconds":7');

Deno.test("a new proxy gets a cluster without the one rejected filter of many", async () => {
  const harmless = ["a", "b", "c", "d", "e", "f"].map((name, i) =>
    field(name, { metadata: { filter_metadata: { [name]: { i } } } })
  );
  const fixture = world(...harmless.slice(0, 3), slow("7s"), ...harmless.slice(3));
  const proxy = new RejectingProxy(fixture, isSlow);
  const other = new RejectingProxy(fixture, () => false);
  proxy.look();
  other.look();
  assert.equal(proxy.standIns.withheld.get(key("slow")), "", "undecided");
  await proxy.decided("without");
  assert.deepEqual(proxy.row?.filters, [key("slow")]);
  assert.equal(proxy.cluster.connect_timeout?.seconds, 10);
  const metadata = JSON.stringify(proxy.cluster["metadata"]);
  for (const name of ["a", "b", "c", "d", "e", "f"]) assert.ok(metadata.includes(`"${name}"`), name);
  assert.ok(proxy.offers.length <= 8, `${proxy.offers.length} offers`);
  assert.deepEqual([...proxy.standIns.withheld], [[key("slow"), "no good"]]);
  assert.equal(other.cluster.connect_timeout?.seconds, 7, "others have all patches");
  const { translator } = fixture.pipeline;
  assert.equal(translator.counts.proxies, 2, "what stands in is no proxy");
  const [found, ...more] = translator.warnings().filter(({ name }) => name === "patch-rejected");
  assert.match(found?.message ?? "", /^Cluster .* is sent without these patches to .*: no good$/);
  assert.deepEqual([found?.place.objects, more], [[{ kind: "ProxyFilter", namespace: "x", name: "slow" }], []]);
  proxy.standIns.close();
  other.standIns.close();
});

Deno.test("the filter that changed last is tried first", async () => {
  const fixture = world(field("a", { alt_stat_name: "a" }), slow("7s"), field("z", { lb_policy: "RANDOM" }));
  fixture.put(slow("7.5s"));
  fixture.pipeline.flush();
  const proxy = new RejectingProxy(fixture, isSlow);
  proxy.look();
  await proxy.decided("without");
  assert.equal(proxy.offers.length, 2, "the rejected one and the one that stays");
  proxy.standIns.close();
});

Deno.test("the version that was taken last stays, and a change of something else is in force with it", async () => {
  const fixture = world(slow("3s"));
  const proxy = new RejectingProxy(fixture, isSlow);
  proxy.look();
  assert.equal(proxy.cluster.connect_timeout?.seconds, 3);
  proxy.change(slow("7s"));
  await proxy.decided("earlier");
  assert.equal(proxy.cluster.connect_timeout?.seconds, 3, "what the filter did before stays in force");
  const [said] = fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-rejected");
  assert.match(said?.message ?? "", /^Cluster .* keeps its last accepted version at /);
  proxy.change({
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { name: "s1", namespace: "x" },
    spec: { host: "s1.example.com", trafficPolicy: { connectionPool: { tcp: { maxConnections: 5 } } } },
  });
  await proxy.decided("without");
  assert.match(JSON.stringify(proxy.cluster), /max_connections/, "the rule is in force");
  assert.equal(proxy.cluster.connect_timeout?.seconds, 10, "without the filter");
  proxy.standIns.close();
});

Deno.test("another version of the filter is tried, and the finding ends", async () => {
  const fixture = world(slow("7s"));
  const proxy = new RejectingProxy(fixture, isSlow);
  proxy.look();
  await proxy.decided("without");
  proxy.change(slow("8s"));
  assert.equal(proxy.cluster.connect_timeout?.seconds, 8);
  assert.deepEqual([proxy.row, [...proxy.standIns.withheld]], [undefined, []]);
  assert.deepEqual(fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-rejected"), []);
  proxy.standIns.close();
});

Deno.test("a stand-in follows the mesh, and goes with its cluster", async () => {
  const fixture = world(slow("7s"));
  const proxy = new RejectingProxy(fixture, isSlow);
  proxy.look();
  await proxy.decided("without");
  proxy.change({
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { name: "s1", namespace: "x" },
    spec: { host: "s1.example.com", trafficPolicy: { connectionPool: { tcp: { connectTimeout: "4s" } } } },
  });
  await proxy.decided("without");
  assert.equal(proxy.cluster.connect_timeout?.seconds, 4);
  fixture.remove("ServiceEntry/x/s1");
  fixture.pipeline.flush();
  proxy.standIns.sets(TYPE.listener, proxy.state.resourceSets(TYPE.listener));
  assert.notEqual(proxy.row, undefined, "a look at another type tells nothing");
  proxy.standIns.sets(TYPE.cluster, proxy.state.resourceSets(TYPE.cluster));
  assert.equal(proxy.row, undefined);
  proxy.standIns.close();
});

Deno.test("a cluster that is rejected with its TLS is not served without TLS: it is absent", async () => {
  const tls = { name: "envoy.transport_sockets.tls", typed_config: { "@type": `type.googleapis.com/${TLS}` } };
  const fixture = world(field("harmless", { alt_stat_name: "a" }), field("guard", { transport_socket: tls }));
  const proxy = new RejectingProxy(fixture, (text) => text.includes("transport_sockets.tls"));
  proxy.look();
  await proxy.decided("closed");
  assert.equal(proxy.wanted, undefined);
  assert.equal(proxy.standIns.withheld.get("ServiceEntry/x/s1"), "no good", "nothing of it is in force");
  assert.equal(proxy.has.size, 0);
  proxy.standIns.close();
});

const TLS = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

Deno.test("if leaving out patches does not help, the patches are not blamed, and the cluster is tried with its patches", async () => {
  const proxy = new RejectingProxy(world(slow("3s"), field("b", { alt_stat_name: "b" })), () => true);
  proxy.look();
  await proxy.decided("nothing");
  assert.equal(proxy.wanted?.version, proxy.offers[0]);
  assert.deepEqual([...proxy.standIns.withheld], []);
  proxy.standIns.close();
});

Deno.test("a rejection of an unpatched resource stays a rejection", () => {
  const proxy = new RejectingProxy(world(slow("7s")), () => true, "outbound|80||s2.example.com");
  proxy.look();
  assert.deepEqual([proxy.state.rejectedPatches.size, proxy.wanted?.version], [0, proxy.offers[0]]);
  proxy.standIns.close();
});

Deno.test("at most a thousand resources are replaced, and no resource after the end of the stream", async () => {
  const fixture = world(slow("7s"));
  const proxy = new RejectingProxy(fixture, () => true);
  const cluster = proxy.wanted!;
  const many = Array.from({ length: 1500 }, (_, i) => Object.assign(Object.create(cluster), { name: `c${i}` }));
  proxy.standIns.rejected(TYPE.cluster, many, "all", () => undefined);
  assert.equal(proxy.state.rejectedPatches.size, 1000);
  proxy.standIns.close();
  await new Promise((resolve) => setTimeout(resolve, 0));
  fixture.pipeline.translator.leave(proxy.state);
  assert.equal(fixture.pipeline.translator.counts.proxies, 0);
});

Deno.test("if building a stand-in fails, the proxy keeps its resources, and its next rejection tries again", async () => {
  const fixture = world(slow("7s"));
  const proxy = new RejectingProxy(fixture, isSlow);
  const { translator } = fixture.pipeline;
  const prepare = translator.prepareStandIn;
  translator.prepareStandIn = () => assert.fail("broken");
  proxy.look();
  await until("the failure", () => proxy.failures.length > 0);
  assert.match(String(proxy.failures), /broken/);
  assert.equal(proxy.wanted?.version, proxy.offers[0]);
  translator.prepareStandIn = prepare;
  proxy.look();
  await proxy.decided("without");
  proxy.standIns.close();
});

Deno.test("route configurations that a client makes up leave nothing behind, though something was rejected", async () => {
  const fixture = world(slow("7s"));
  const proxy = new RejectingProxy(fixture, isSlow);
  proxy.look();
  await proxy.decided("without");
  const none = proxy.state.virtualHosts("none");
  const before = await keptBytes();
  for (let i = 0; i < 20_000; i++) assert.equal(proxy.standIns.virtualHosts(`made-up-${i}`, none), none);
  const each = (await keptBytes() - before) / 20_000;
  assert.ok(each < 20, `${each} bytes a name`);
  proxy.standIns.close();
});

Deno.test("of hundreds of clusters that one filter spoils and that are named one by one few are rejected by themselves", () => {
  const fixture = new Fixture();
  const services = Array.from({ length: 300 }, (_, i) => service(i + 1));
  const bad = { applyTo: "CLUSTER", patch: { operation: "MERGE", value: { connect_timeout: "7s" } } };
  fixture.put(...services, {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "all", namespace: "x" },
    spec: { configPatches: [bad] },
  });
  fixture.pipeline.flush();
  const proxy = new RejectingProxy(fixture, () => false);
  const sets = proxy.state.resourceSets(TYPE.cluster)!;
  let left = sets.flatMap((set) => [...set]).filter(({ causes }) => causes.includes(key("all")));
  const all = left.length;
  assert.ok(all >= 300, `${all} clusters`);
  let rejections = 0;
  const rows: number[] = [];
  while (left.length > 0) {
    const { also } = proxy.standIns.rejected(TYPE.cluster, left.slice(0, 1), "bad", () => undefined, left);
    rows.push(1 + also.length);
    const gone = new Set([left[0], ...also]);
    left = left.filter((one) => !gone.has(one));
    rejections++;
  }
  assert.ok(rejections < 13, `${rejections} rejections: ${rows}`);
  assert.deepEqual(rows.slice(0, 5), [1, 1, 1, 2, 4], "the first ones are single mistakes");
  assert.equal(proxy.state.rejectedPatches.size, all);
  const said = fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-rejected");
  assert.equal(said.length, 1, "they are one finding");
  assert.match(said[0]!.message, /[(]and \d+ more[)]/);
  proxy.standIns.close();
});
