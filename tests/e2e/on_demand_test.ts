/** A sidecar that asks for what its workload calls: a real Envoy gets virtual hosts and clusters with the first request. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { MAX_ASKED } from "../../lib/discovery/proxies/on_demand_resources.ts";
import {
  application,
  ask,
  CLIENT,
  clusterChanges,
  entry,
  heldClusters,
  heldHosts,
  object,
  withClient,
} from "./support/asking.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

Deno.test({
  name: "the first request to a host brings its virtual host and its cluster, also with a body, and nothing else",
  ignore: path === undefined,
  async fn() {
    await using app = application("app");
    await withClient((port) => ({
      "world.yaml": ["one.test", "two.test", "three.test"].map((host) => entry({ host, port, targetPort: app.port }))
        .join("\n---\n"),
    }), async ({ mesh, envoy, port }) => {
      assert.deepEqual(await heldClusters(envoy), []);
      assert.deepEqual(await heldHosts(envoy), ["not-asked-yet.invalid"]);
      assert.equal(await ask(port, "one.test"), "app");
      assert.equal(await ask(port, "two.test", " and its body"), "app and its body");
      assert.equal(await ask(port, "ONE.test:81"), "app");
      assert.deepEqual(await heldClusters(envoy), ["one.test", "two.test"]);
      assert.deepEqual(await heldHosts(envoy), ["not-asked-yet.invalid", "one.test", "two.test"]);
      const url = `http://127.0.0.1:${mesh.server.ports.http}/debug/config_dump?proxyID=client.demo`;
      const html = await (await fetch(url, { headers: { accept: "text/html" } })).text();
      assert.match(html, /Called hosts, by route configuration.*one\.test, two\.test/s);
    });
  },
});

Deno.test({
  name: "requests to hosts that are wildcards take no hosts over: services are still found",
  ignore: path === undefined,
  async fn() {
    await using app = application("app");
    await withClient((port) => ({
      "world.yaml": ["one.test", "two.test", "three.test"].map((host) => entry({ host, port, targetPort: app.port }))
        .join("\n---\n"),
    }), async ({ envoy, port }) => {
      for (const [wildcard, host] of [["*.test", "one.test"], ["tw*", "two.test"], ["*", "three.test"]] as const) {
        assert.equal(await ask(port, wildcard), "404", wildcard);
        assert.equal(await ask(port, host), "app", `${host} after ${wildcard}`);
      }
      assert.deepEqual(await heldHosts(envoy), ["not-asked-yet.invalid", "one.test", "three.test", "two.test"]);
    });
  },
});

Deno.test({
  name: "a host comes, changes and goes after the sidecar asked for it",
  ignore: path === undefined,
  async fn() {
    await using one = application("one");
    await using two = application("two");
    await withClient((port) => ({
      "a.yaml": entry({ host: "a.test", port, targetPort: one.port }),
      "keeps.yaml": entry({ host: "keeps.test", port, targetPort: one.port }),
    }), async ({ mesh, envoy, port }) => {
      const b = (app: { port: number }) => entry({ host: "b.test", port, targetPort: app.port });
      assert.equal(await ask(port, "b.test"), "502");
      await mesh.write("b.yaml", b(two));
      await until("the host that came", async () => await ask(port, "b.test") === "two");
      await mesh.write("b.yaml", b(one));
      await until("the changed endpoint", async () => await ask(port, "b.test") === "one");
      await mesh.write("b.yaml");
      await until("the end of the host", async () => await ask(port, "b.test") === "502");
      await until("the end of the cluster", async () => (await heldClusters(envoy)).length === 0);
      assert.equal(await ask(port, "a.test"), "one");
    }, { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } });
  },
});

Deno.test({
  name: "beside a wildcard the sidecar holds the virtual hosts of more specific hosts",
  ignore: path === undefined,
  async fn() {
    await using any = application("any");
    await using own = application("own");
    await withClient((port) => ({
      "world.yaml": [
        entry({ host: "*.wild.test", port, targetPort: any.port }),
        entry({ host: "own.wild.test", port, targetPort: own.port }),
        entry({ host: "other.test", port, targetPort: any.port }),
      ].join("\n---\n"),
    }), async ({ envoy, port }) => {
      assert.equal(await ask(port, "some.wild.test"), "any");
      assert.deepEqual(await heldHosts(envoy), ["*.wild.test", "not-asked-yet.invalid", "own.wild.test"]);
      assert.equal(await ask(port, "own.wild.test"), "own");
    });
  },
});

Deno.test({
  name: "weights, retries and mirrors reach clusters that no request asked for",
  ignore: path === undefined,
  async fn() {
    await using first = application("first");
    await using second = application("second");
    await using copy = application("copy");
    await withClient((port) => ({
      "world.yaml": [
        entry({ host: "a.test", port, targetPort: first.port }),
        entry({ host: "second.test", port, targetPort: second.port }),
        entry({ host: "copy.test", port, targetPort: copy.port }),
        object("VirtualService", "a", {
          hosts: ["a.test"],
          http: [{
            route: [{ destination: { host: "a.test" }, weight: 50 }, {
              destination: { host: "second.test" },
              weight: 50,
            }],
            mirror: { host: "copy.test" },
          }],
        }),
      ].join("\n---\n"),
    }), async ({ envoy, port }) => {
      const answers = new Set<string>();
      await until("both answers", async () => answers.add(await ask(port, "a.test")).size === 2);
      assert.deepEqual([...answers].sort(), ["first", "second"]);
      await until("a mirrored request", () => copy.seen.count > 0);
      assert.deepEqual(await heldClusters(envoy), ["a.test", "copy.test", "second.test"]);
    });
  },
});

Deno.test({
  name: "a sidecar that calls very many unknown hosts gets the whole route configuration, and asks no more",
  ignore: path === undefined,
  async fn() {
    await using app = application("app");
    await withClient((port) => ({
      "world.yaml": ["one.test", "two.test"].map((host) => entry({ host, port, targetPort: app.port })).join("\n---\n"),
    }), async ({ envoy, port }) => {
      const numbers = Array.from({ length: MAX_ASKED + 1 }, (_, at) => at);
      const answers = new Set<string>();
      for (let from = 0; from < numbers.length; from += 64) {
        for (
          const answer of await Promise.all(
            numbers.slice(from, from + 64).map((number) => ask(port, `unknown-${number}.test`)),
          )
        ) answers.add(answer);
      }
      assert.deepEqual([...answers], ["502"]);
      await until("the whole route configuration", async () => (await heldHosts(envoy)).includes("*"));
      assert.deepEqual(await heldHosts(envoy), ["*", "one.test", "two.test"]);
      assert.equal(await ask(port, "two.test"), "app");
      assert.equal(await ask(port, "nobody.test"), "502");
    }, { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } });
  },
});

Deno.test({
  name: "a sidecar that comes again keeps what it asked for, and no request fails meanwhile",
  ignore: path === undefined,
  async fn() {
    await using app = application("app");
    await withClient((port) => ({
      "world.yaml": ["one.test", "two.test", "three.test"].map((host) => entry({ host, port, targetPort: app.port }))
        .join("\n---\n"),
    }), async ({ mesh, envoy, port }) => {
      assert.deepEqual([await ask(port, "one.test"), await ask(port, "nobody.test")], ["app", "502"]);
      await mesh.settled();
      const [clusters, hosts, changes] = [
        await heldClusters(envoy),
        await heldHosts(envoy),
        await clusterChanges(envoy),
      ];
      const streams = async () => {
        const { clients } = await mesh.page<{ clients: { connectionId: string }[] }>("connections");
        return clients.map(({ connectionId }) => connectionId);
      };
      const before = await streams();
      const url = `http://127.0.0.1:${mesh.server.ports.http}/debug/force_disconnect?proxyID=client.demo`;
      assert.equal(await (await fetch(url, { method: "POST" })).text(), "OK\n");
      await until("another stream", async () => {
        assert.equal(await ask(port, "one.test"), "app");
        const now = await streams();
        return now.length === 1 && now[0] !== before[0];
      });
      await mesh.settled();
      assert.deepEqual([await heldClusters(envoy), await heldHosts(envoy)], [clusters, hosts]);
      assert.equal(await clusterChanges(envoy), changes);
      assert.equal(await ask(port, "two.test"), "app");
    }, { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } });
  },
});

/** The first line of an answer over TCP. */
async function firstLine(port: number): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new Uint8Array(64);
  const count = await connection.read(bytes);
  return count === null ? "closed" : new TextDecoder().decode(bytes.subarray(0, count));
}

for (const measured of [false, true]) {
  Deno.test({
    name: `the first connection to a TCP port brings its cluster${measured ? ", also by the shared TCP proxy" : ""}`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([one = 0, two = 0]) => {
        const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
        const answered = (async () => {
          for await (const connection of server) {
            await connection.write(new TextEncoder().encode("hello"));
            connection.close();
          }
        })();
        const { port: targetPort } = server.addr as Deno.NetAddr;
        try {
          const tcp = (host: string, port: number) =>
            entry({ host, port, targetPort }).replace('"HTTP"', '"TCP"').replace('"http"', '"tcp"');
          const telemetry = object("Telemetry", "all", { metrics: [{ providers: [{ name: "prometheus" }] }] });
          await using mesh = await TestMesh.start({
            files: {
              "world.yaml": [tcp("one.test", one), tcp("two.test", two)].join("\n---\n"),
              ...measured ? { "telemetry.yaml": telemetry.replace("networking.mesh.io", "telemetry.mesh.io") } : {},
            },
            meshConfig: measured ? { extensionProviders: [{ name: "prometheus", prometheus: {} }] } : {},
          });
          const envoy = await mesh.attach(path!, CLIENT, true);
          await envoy.ready(one);
          assert.deepEqual(await heldClusters(envoy), []);
          assert.equal(await firstLine(one), "hello");
          assert.deepEqual(await heldClusters(envoy), ["one.test"]);
          const dump = await envoy.admin("config_dump?resource=dynamic_listeners");
          assert.equal(dump!.includes("envoy.tcp_proxy.cluster"), measured);
          assert.deepEqual(await envoy.rejected(), []);
        } finally {
          server.close();
          await answered;
        }
      }),
  });
}
