/** A proxy that rejects what patches changed gets it without patches, alone, until that changes. */
import assert from "node:assert/strict";
import { UnpatchedResources } from "../../lib/discovery/unpatched_resources.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { ProxyState } from "../../lib/translate/per_proxy/proxy_state.ts";
import { keptBytes } from "../xds/support/memory.ts";
import { Fixture, service } from "./fixture.ts";

const NAME = "outbound|80||s1.example.com";

/** Patches clusters of one service by their timeout, and all virtual hosts by their retries. */
function proxyFilter(timeout: string): object {
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "slow", namespace: "x" },
    spec: {
      configPatches: [{
        applyTo: "CLUSTER",
        match: { cluster: { service: "s1.example.com" } },
        patch: { operation: "MERGE", value: { connect_timeout: timeout } },
      }, {
        applyTo: "VIRTUAL_HOST",
        patch: { operation: "MERGE", value: { include_request_attempt_count: false } },
      }],
    },
  };
}

/** A proxy of a mesh with patches, as its stream sees it. */
class PatchedProxy {
  readonly state: ProxyState;
  readonly unpatched: UnpatchedResources;
  #heard = Promise.withResolvers<string>();

  constructor(readonly fixture: Fixture) {
    this.state = fixture.join({ namespace: "x", address: "10.0.0.1" });
    const { pipeline } = fixture;
    this.unpatched = new UnpatchedResources(
      this.state,
      () => pipeline.translator,
      (type) => this.#heard.resolve(type),
      (error) => assert.fail(String(error)),
    );
  }

  /** A cluster as the proxy gets it. */
  cluster(name = NAME) {
    const sets = this.unpatched.sets(TYPE.cluster, this.state.resourceSets(TYPE.cluster)) ?? [];
    return sets.findLast((set) => set.has(name))?.get(name);
  }

  /** Its timeout for connecting, seconds. */
  timeout(): number | undefined {
    const { value } = this.cluster() ?? assert.fail(`no cluster ${NAME}`);
    const cluster = readable("envoy.config.cluster.v3.Cluster", value) as { connect_timeout?: { seconds: number } };
    return cluster.connect_timeout?.seconds;
  }

  /** A virtual host as the proxy gets it. */
  virtualHost(routes: string, name: string) {
    const sets = this.unpatched.virtualHosts(routes, this.state.virtualHosts(routes));
    return sets.findLast((set) => set.has(name))?.get(name);
  }

  /** Rejects a virtual host; resolves when others stand in. */
  async rejectsVirtualHost(routes: string, name: string): Promise<void> {
    this.#heard = Promise.withResolvers();
    this.unpatched.rejected(TYPE.virtualHost, [this.virtualHost(routes, name)!], "too many");
    assert.equal(await this.#heard.promise, TYPE.virtualHost);
  }

  /** Its sets are looked at, as in each push. */
  look(...types: readonly (keyof typeof TYPE)[]): void {
    for (const type of types) this.unpatched.sets(TYPE[type], this.state.resourceSets(TYPE[type]));
  }

  /** Names of the resources that it does without patches. */
  get without(): string[] {
    return [...this.state.rejectedPatches.values()].map(({ name }) => name);
  }

  /** Rejects a cluster; resolves when others stand in. */
  async rejects(name = NAME): Promise<void> {
    this.#heard = Promise.withResolvers();
    this.unpatched.rejected(TYPE.cluster, [this.cluster(name)!], "too slow");
    assert.equal(await this.#heard.promise, TYPE.cluster);
  }
}

function world(): Fixture {
  const fixture = new Fixture();
  fixture.put(service(1), service(2), proxyFilter("7s"));
  fixture.pipeline.flush();
  return fixture;
}

Deno.test("who rejects a patched cluster gets it without patches, and nobody else does", async () => {
  const fixture = world();
  const [one, other] = [new PatchedProxy(fixture), new PatchedProxy(fixture)];
  assert.equal(one.timeout(), 7);
  await one.rejects();
  assert.equal(one.timeout(), 10);
  assert.equal(other.timeout(), 7);
  const { translator } = fixture.pipeline;
  assert.equal(translator.counts.proxies, 2, "what stands in is no proxy");
  const [found, ...more] = translator.warnings().filter(({ name }) => name === "patch-rejected");
  assert.match(found?.message ?? "", /^Cluster outbound\|80\|\|s1\.example\.com goes without patches to .*: too slow$/);
  assert.deepEqual(more, []);
  one.unpatched.close();
  other.unpatched.close();
});

Deno.test("another version of the patch is tried, and nothing is said any more", async () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  await proxy.rejects();
  fixture.put(proxyFilter("8s"));
  fixture.pipeline.flush();
  assert.equal(proxy.timeout(), 8);
  assert.deepEqual(fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-rejected"), []);
  await proxy.rejects();
  assert.equal(proxy.timeout(), 10);
  proxy.unpatched.close();
});

Deno.test("what stands in follows the mesh", async () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  await proxy.rejects();
  fixture.put({
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { name: "s1", namespace: "x" },
    spec: { host: "s1.example.com", trafficPolicy: { connectionPool: { tcp: { connectTimeout: "3s" } } } },
  });
  fixture.pipeline.flush();
  assert.equal(proxy.timeout(), 7, "the patched cluster is another one now: it is tried");
  await proxy.rejects();
  assert.equal(proxy.timeout(), 3);
  fixture.remove("ServiceEntry/x/s1");
  fixture.pipeline.flush();
  assert.equal(proxy.cluster(), undefined);
  proxy.unpatched.close();
});

Deno.test("what is remembered of a cluster goes with it, and a later one of its name is tried with its patches", async () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  await proxy.rejects();
  proxy.look("cluster", "listener", "route");
  assert.deepEqual(proxy.without, [NAME], "looks at other types tell nothing of it");
  fixture.remove("ServiceEntry/x/s1");
  fixture.pipeline.flush();
  proxy.look("listener", "route");
  assert.deepEqual(proxy.without, [NAME]);
  proxy.look("cluster");
  assert.deepEqual(proxy.without, []);
  assert.deepEqual(fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-rejected"), []);
  fixture.put(service(1));
  fixture.pipeline.flush();
  assert.equal(proxy.timeout(), 7);
  proxy.unpatched.close();
});

Deno.test("what is remembered of a virtual host goes with it or with its route configuration, and with nothing else", async () => {
  const fixture = world();
  const port = { number: 81, name: "http" };
  fixture.put(service(3, { port }), service(4));
  fixture.pipeline.flush();
  const proxy = new PatchedProxy(fixture);
  const [one, three, four] = ["80/s1.example.com:80", "81/s3.example.com:81", "80/s4.example.com:80"] as const;
  for (const name of [one, three, four]) await proxy.rejectsVirtualHost(name.slice(0, 2), name);
  assert.deepEqual(proxy.without, [one, three, four]);
  fixture.remove("ServiceEntry/x/s1");
  fixture.pipeline.flush();
  proxy.look("cluster", "listener");
  assert.deepEqual(proxy.without, [one, three, four]);
  assert.equal(proxy.virtualHost("80", one), undefined);
  assert.deepEqual(proxy.without, [three, four], "that of another port, and the other of its port, are there");
  fixture.remove("ServiceEntry/x/s3");
  fixture.pipeline.flush();
  // Nobody asks for virtual hosts of a route configuration that is gone.
  proxy.look("route");
  assert.deepEqual(proxy.without, [four]);
  proxy.unpatched.close();
});

Deno.test("a rejection of what no patch changed stays one", () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  proxy.unpatched.rejected(TYPE.cluster, [proxy.cluster("outbound|80||s2.example.com")!], "no");
  assert.equal(proxy.state.rejectedPatches.size, 0);
  assert.equal(
    proxy.cluster("outbound|80||s2.example.com"),
    proxy.state.resourceSets(TYPE.cluster)
      ?.findLast((set) => set.has("outbound|80||s2.example.com"))?.get("outbound|80||s2.example.com"),
  );
  proxy.unpatched.close();
});

Deno.test("a thousand resources at most are replaced, and none after the stream is over", async () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  const cluster = proxy.cluster()!;
  const many = Array.from({ length: 1500 }, (_, i) => Object.assign(Object.create(cluster), { name: `c${i}` }));
  proxy.unpatched.rejected(TYPE.cluster, many, "all");
  assert.equal(proxy.state.rejectedPatches.size, 1000);
  proxy.unpatched.close();
  await new Promise((resolve) => setTimeout(resolve, 0));
  fixture.pipeline.translator.leave(proxy.state);
  assert.equal(fixture.pipeline.translator.counts.proxies, 0);
});

Deno.test("a proxy keeps what it has where building without patches fails, and its next rejection tries again", async () => {
  const fixture = world();
  const state = fixture.join({ namespace: "x", address: "10.0.0.1" });
  const { translator } = fixture.pipeline;
  const broken = { prepareUnpatched: () => assert.fail("broken") } as unknown as typeof translator;
  let use = broken;
  const answered = Promise.withResolvers<string>();
  const failures: unknown[] = [];
  const unpatched = new UnpatchedResources(state, () => use, (type) => answered.resolve(type), (e) => failures.push(e));
  const sets = () => unpatched.sets(TYPE.cluster, state.resourceSets(TYPE.cluster));
  const cluster = sets()!.findLast((set) => set.has(NAME))!.get(NAME)!;
  unpatched.rejected(TYPE.cluster, [cluster], "too slow");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(sets(), state.resourceSets(TYPE.cluster));
  assert.match(String(failures), /broken/);
  use = translator;
  unpatched.rejected(TYPE.cluster, [cluster], "too slow");
  assert.equal(await answered.promise, TYPE.cluster);
  assert.notEqual(sets(), state.resourceSets(TYPE.cluster));
  unpatched.close();
});

Deno.test("a rejection of many resources has the sets of their type looked at again once", async () => {
  const fixture = world();
  fixture.put(...[3, 4, 5].map((i) => service(i)));
  fixture.pipeline.flush();
  const state = fixture.join({ namespace: "x", address: "10.0.0.1" });
  const answered: string[] = [];
  const heard = Promise.withResolvers<void>();
  const unpatched = new UnpatchedResources(state, () => fixture.pipeline.translator, (type) => {
    answered.push(type);
    heard.resolve();
  }, (error) => assert.fail(String(error)));
  const hosts = state.virtualHosts("80").flatMap((set) => [...set]);
  assert.ok(hosts.length >= 4);
  unpatched.rejected(TYPE.virtualHost, hosts, "all of them");
  await heard.promise;
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(answered, [TYPE.virtualHost]);
  assert.ok(state.rejectedPatches.size >= 4);
  unpatched.close();
});

Deno.test("route configurations that a client makes up leave nothing behind, though something was rejected", async () => {
  const fixture = world();
  const proxy = new PatchedProxy(fixture);
  await proxy.rejectsVirtualHost("80", "80/s1.example.com:80");
  const none = proxy.state.virtualHosts("none");
  const before = await keptBytes();
  for (let i = 0; i < 20_000; i++) assert.equal(proxy.unpatched.virtualHosts(`made-up-${i}`, none), none);
  const each = (await keptBytes() - before) / 20_000;
  assert.ok(each < 20, `${each} bytes a name`);
  proxy.unpatched.close();
});
