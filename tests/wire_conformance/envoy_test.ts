import assert from "node:assert/strict";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../lib/xds/protocol/types.ts";
import { MemorySource } from "../xds/support/memory_source.ts";
import { envoyPath } from "../envoy/path.ts";
import { SubscribedEnvoy, until } from "../envoy/subscribed.ts";
import {
  badListener,
  cluster,
  endpoints,
  host,
  hostResource,
  listener,
  routes,
  serve,
  vhdsRoutes,
} from "./support/mesh.ts";
import { PATIENCE } from "../patience.ts";

const path = envoyPath();

/** An HTTP server that answers with a text. */
function backend(text: string) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response(text));
  return { port: (server.addr as Deno.NetAddr).port, stop: () => server.shutdown() };
}

async function body(address: string, hostName: string): Promise<string> {
  const answer = await SubscribedEnvoy.get(address, hostName);
  return answer === undefined ? "refused" : answer.status === 200 ? answer.body : String(answer.status);
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental with VHDS" : "state of the world";
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test({ name: `Envoy, ${variant}: ${name}`, ignore: path === undefined, fn: run });

  /** Sets the routes of a listener, in the way of the variant. */
  const setHosts = (source: MemorySource, route: string, ...hosts: { name: string }[]) => {
    if (!delta) return source.change(ROUTE, [routes(route, ...hosts)]);
    source.change(ROUTE, [vhdsRoutes(route)]);
    const names = new Set(hosts.map((h) => `${route}/${h.name}`));
    const gone = [...source.hosts.get(route) ?? []].map((r) => r.name).filter((name) => !names.has(name));
    return source.changeHosts(route, hosts.map((h) => hostResource(route, h)), gone);
  };

  test("takes everything, follows every change, and rejects nothing", async () => {
    const [one, two] = [backend("one"), backend("two")];
    const source = new MemorySource();
    source.change(CLUSTER, [cluster("a"), cluster("b")]);
    source.change(ENDPOINTS, [endpoints("a", one.port), endpoints("b", two.port)]);
    source.change(LISTENER, [listener("main", "r1")]);
    setHosts(source, "r1", host("h", "h.test", { cluster: "a" }));
    const { server, port } = await serve(source);
    const envoy = await SubscribedEnvoy.start(path!, port, delta);
    try {
      const main = await envoy.listener("main");
      await until("the first answer", async () => await body(main, "h.test") === "one");

      setHosts(source, "r1", host("h", "h.test", { cluster: "b" }), host("new", "new.test", { text: "static" }));
      const push = source.push();
      await until("the changed route", async () => await body(main, "h.test") === "two");
      assert.equal(await body(main, "new.test"), "static");
      assert.equal(await server.ledger.waitLive(push, PATIENCE), true);

      setHosts(source, "r1", host("h", "h.test", { cluster: "b" }));
      source.push();
      await until("the removed host", async () => await body(main, "new.test") === "404");

      source.change(ENDPOINTS, [endpoints("b", one.port)]);
      source.push();
      await until("the changed endpoint", async () => await body(main, "h.test") === "one");

      source.change(LISTENER, [listener("second", "r2")]);
      setHosts(source, "r2", host("s", "s.test", { text: "second" }));
      source.push();
      const second = await envoy.listener("second");
      await until("the second listener", async () => await body(second, "s.test") === "second");

      source.change(LISTENER, [], ["second"]).change(CLUSTER, [], ["a"]).change(ENDPOINTS, [], ["a"]);
      await server.ledger.waitLive(source.push(), PATIENCE);
      await until("the end of the cluster", async () => !(await envoy.page("clusters")).includes("a::"));
      assert.equal(await body(main, "h.test"), "one");
      assert.deepEqual(await envoy.rejections(), []);
    } finally {
      await envoy.stop();
      await server.stop(0);
      await Promise.all([one.stop(), two.stop()]);
    }
  });

  test("a changed cluster whose endpoints have not changed leaves warming at once", async () => {
    const one = backend("one");
    const source = new MemorySource();
    source.change(CLUSTER, [cluster("a")]).change(ENDPOINTS, [endpoints("a", one.port)]);
    source.change(LISTENER, [listener("main", "r1")]);
    setHosts(source, "r1", host("h", "h.test", { cluster: "a" }));
    const { server, port } = await serve(source);
    const envoy = await SubscribedEnvoy.start(path!, port, delta);
    try {
      const main = await envoy.listener("main");
      await until("the first answer", async () => await body(main, "h.test") === "one");
      for (const timeout of [2, 3]) {
        source.change(CLUSTER, [cluster("a", timeout)]);
        source.push();
        await until("the changed cluster in force", async () => {
          const dump = JSON.parse(await envoy.page("config_dump?resource=dynamic_active_clusters"));
          // deno-lint-ignore no-explicit-any -- a page of Envoy
          return dump.configs?.some((c: any) => c.cluster.name === "a" && c.cluster.connect_timeout === `${timeout}s`);
        });
        assert.equal(await envoy.stat("cluster_manager.warming_clusters"), 0);
        assert.equal(await body(main, "h.test"), "one");
      }
      assert.deepEqual(await envoy.rejections(), []);
    } finally {
      await envoy.stop();
      await server.stop(0);
      await one.stop();
    }
  });

  test("a cluster that is gone before its endpoints were asked for does not hold later changes back", async () => {
    const one = backend("one");
    const source = new MemorySource();
    source.change(CLUSTER, [cluster("a")]).change(ENDPOINTS, [endpoints("a", one.port)]);
    source.change(LISTENER, [listener("main", "r1")]);
    setHosts(source, "r1", host("h", "h.test", { cluster: "a" }));
    const { server, port } = await serve(source);
    const envoy = await SubscribedEnvoy.start(path!, port, delta);
    try {
      const main = await envoy.listener("main");
      await until("the first answer", async () => await body(main, "h.test") === "one");
      source.change(CLUSTER, [cluster("b")]).change(ENDPOINTS, [endpoints("b", one.port)]);
      source.push();
      // The server has sent the cluster in this very turn of the event loop, so it has read no answer yet.
      const clusters = [...server.streams()][0]!.stream!.watches.get(CLUSTER)!.resources;
      while (clusters.inFlight === undefined) await new Promise<void>((resolve) => setImmediate(resolve));
      source.change(CLUSTER, [cluster("c")], ["b"]).change(ENDPOINTS, [endpoints("c", one.port)], ["b"]);
      assert.equal(await server.ledger.waitLive(source.push(), PATIENCE), true);
      await until("the next cluster", async () => (await envoy.page("clusters")).includes("c::"));
      assert.equal(await envoy.stat("cluster_manager.warming_clusters"), 0);
      assert.equal((await envoy.page("clusters")).includes("b::"), false);
      assert.equal(await body(main, "h.test"), "one");
      assert.deepEqual(await envoy.rejections(), []);
    } finally {
      await envoy.stop();
      await server.stop(0);
      await one.stop();
    }
  });

  test("after a restart of the server it reconnects, keeps its resources, and gets the changes", async () => {
    const one = backend("one");
    const source = new MemorySource();
    source.change(CLUSTER, [cluster("a"), cluster("b")]);
    source.change(ENDPOINTS, [endpoints("a", one.port), endpoints("b", one.port)]);
    source.change(LISTENER, [listener("main", "r1")]);
    setHosts(source, "r1", host("h", "h.test", { cluster: "a" }));
    const first = await serve(source);
    const envoy = await SubscribedEnvoy.start(path!, first.port, delta);
    try {
      const main = await envoy.listener("main");
      await until("the first answer", async () => await body(main, "h.test") === "one");
      await first.server.stop(1000);
      assert.equal(await body(main, "h.test"), "one", "the proxy works on without the server");
      source.change(CLUSTER, [cluster("b", 7)]);
      const second = await serve(source, {}, first.port);
      try {
        await until("the cluster that changed meanwhile", async () => {
          const dump = JSON.parse(await envoy.page("config_dump?resource=dynamic_active_clusters"));
          // deno-lint-ignore no-explicit-any -- a page of Envoy
          return dump.configs?.some((c: any) => c.cluster.name === "b" && c.cluster.connect_timeout === "7s");
        });
        assert.equal(await envoy.stat("cluster_manager.warming_clusters"), 0);
        setHosts(source, "r1", host("h", "h.test", { text: "after" }));
        source.push();
        await until("a change after the restart", async () => await body(main, "h.test") === "after");
        assert.deepEqual(await envoy.rejections(), []);
      } finally {
        await second.server.stop(0);
      }
    } finally {
      await envoy.stop();
      await one.stop();
    }
  });

  test("a rejected listener is recorded with its causes and harms no other", async () => {
    const source = new MemorySource().serve(CLUSTER);
    source.change(LISTENER, [listener("main", "r1"), badListener("bad")]);
    setHosts(source, "r1", host("h", "h.test", { text: "fine" }));
    const { server, port } = await serve(source);
    const envoy = await SubscribedEnvoy.start(path!, port, delta);
    try {
      const main = await envoy.listener("main");
      await until("the good listener's answer", async () => await body(main, "h.test") === "fine");
      const rejection = await until("the rejection", () => server.ledger.rejections()[0]);
      assert.equal(rejection.typeUrl, LISTENER);
      assert.deepEqual(rejection.resources, ["bad"]);
      const sent = server.ledger.rejections().length;
      source.change(LISTENER, [], ["bad"]);
      await server.ledger.waitLive(source.push(), PATIENCE);
      assert.equal(server.ledger.rejections().length, sent, "what was rejected was not sent again");
      assert.equal(await body(main, "h.test"), "fine");
    } finally {
      await envoy.stop();
      await server.stop(0);
    }
  });
}
