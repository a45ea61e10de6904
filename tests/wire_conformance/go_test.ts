import assert from "node:assert/strict";
import { listenUnix } from "../../lib/sockets/listen/unix.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "../xds/support/memory_source.ts";
import { go } from "./support/go.ts";
import { GoClient } from "./support/go_client.ts";
import { serve } from "./support/mesh.ts";

function source(): MemorySource {
  const filler = "x".repeat(1000);
  return new MemorySource().change(
    CLUSTER,
    Array.from({ length: 2000 }, (_, i) => textResource(CLUSTER, `c${i}`, filler)),
  );
}

for (const args of [[], ["-gzip"], ["-delta"], ["-delta", "-gzip"]]) {
  Deno.test({
    name: `Go client ${args.join(" ") || "plain"}: 2 MB arrive whole, a change follows, and after a restart it goes on`,
    ignore: go === undefined,
    fn: async () => {
      const delta = args.includes("-delta");
      const from = source();
      const { server, port } = await serve(from);
      const client = await GoClient.start(port, "-type", CLUSTER, ...args);
      const first = await client.next();
      assert.deepEqual([first.event, first.resources], ["response", 2000]);
      assert.ok(first.bytes! > 2_000_000);
      const [connection] = [...server.grpc.connections];
      assert.equal(
        connection!.transport.bytesWritten < 300_000,
        args.includes("-gzip"),
        "compressed if offered, only then",
      );
      from.change(CLUSTER, [textResource(CLUSTER, "c5", "changed")], ["c6"]);
      from.push();
      const change = await client.next();
      assert.deepEqual([change.resources, change.removed ?? 0], delta ? [1, 1] : [1999, 0]);

      await server.stop(2000);
      assert.deepEqual(await client.next(), { event: "end", code: "Unavailable", message: "server is shutting down" });
      const again = await serve(from, {}, port);
      let event = await client.next();
      while (event.event === "end") event = await client.next();
      assert.deepEqual(
        [event.event, event.resources ?? 0],
        ["response", delta ? 0 : 1999],
        "by its versions it has all",
      );
      await client.stop();
      await again.server.stop(1000);
    },
  });
}

Deno.test({
  name: "Go client: at the maximum age it moves to a new connection and goes on",
  ignore: go === undefined,
  fn: async () => {
    const from = source();
    const { server, port } = await serve(from, { maxConnectionAge: 1500, maxConnectionAgeGrace: 1000 });
    const client = await GoClient.start(port, "-type", CLUSTER, "-delta");
    for (let i = 0; i < 3; i++) {
      const response = await client.next();
      assert.deepEqual([response.event, response.resources ?? 0], ["response", i === 0 ? 2000 : 0]);
      const end = await client.next();
      assert.deepEqual([end.event, end.code], ["end", "Unavailable"]);
    }
    await client.stop();
    await server.stop(1000);
  },
});

for (const version of ["v1", "v1alpha"]) {
  Deno.test({
    name: `Go client: reflection ${version} describes every service of the server with all its messages`,
    ignore: go === undefined,
    fn: async () => {
      const { server, port } = await serve(source());
      const client = await GoClient.start(port, "-reflect", version);
      const methods: [string, string, number][] = [];
      let event = await client.next();
      for (; event.event === "method"; event = await client.next()) {
        methods.push([event.message!, event.code!, event.resources ?? 0]);
      }
      const ads = "envoy.service.discovery.v3";
      const health = "grpc.health.v1";
      assert.deepEqual(methods, [
        [`${ads}.AggregatedDiscoveryService.StreamAggregatedResources`, `${ads}.DiscoveryRequest`, 7],
        [`${ads}.AggregatedDiscoveryService.DeltaAggregatedResources`, `${ads}.DeltaDiscoveryRequest`, 9],
        [`${health}.Health.Check`, `${health}.HealthCheckRequest`, 1],
        [`${health}.Health.Watch`, `${health}.HealthCheckRequest`, 1],
        [`${health}.Health.List`, `${health}.HealthListRequest`, 0],
        ...["v1", "v1alpha"].map((v): [string, string, number] => [
          `grpc.reflection.${v}.ServerReflection.ServerReflectionInfo`,
          `grpc.reflection.${v}.ServerReflectionRequest`,
          6,
        ]),
      ]);
      assert.deepEqual(event, { event: "error", message: "not found: no/such.proto" });
      await client.stop();
      await server.stop(1000);
    },
  });
}

Deno.test({
  name: "Go client: health is reported for the server and each service, and changes reach watchers",
  ignore: go === undefined,
  fn: async () => {
    const { server, port } = await serve(source());
    const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";
    const client = await GoClient.start(port, "-health", "-service", ads);
    const next = async () => Object.values(await client.next()).join(" ");
    assert.equal(await next(), "check OK SERVING");
    assert.deepEqual([await next(), await next()], ["list SERVING", `list ${ads} SERVING`]);
    assert.equal(await next(), "watch SERVING");
    server.health.set(ads, "NOT_SERVING");
    assert.equal(await next(), "watch NOT_SERVING");
    server.health.set(ads, "SERVING");
    assert.equal(await next(), "watch SERVING");
    await server.stop(1000);
    assert.equal(await next(), "watch NOT_SERVING");
    assert.equal(await next(), "end Unavailable server is shutting down");
    await client.stop();
  },
});

Deno.test({
  name:
    "Go client: a service that the server does not have is NOT_FOUND, and SERVICE_UNKNOWN to watchers until it comes",
  ignore: go === undefined,
  fn: async () => {
    const { server, port } = await serve(source());
    const client = await GoClient.start(port, "-health", "-service", "later");
    const next = async () => Object.values(await client.next()).join(" ");
    assert.equal(await next(), "check NotFound UNKNOWN");
    await next();
    await next();
    assert.equal(await next(), "watch SERVICE_UNKNOWN");
    server.health.set("later", "SERVING");
    assert.equal(await next(), "watch SERVING");
    await client.stop();
    await server.stop(1000);
  },
});

Deno.test({
  name: "Go client: 2 MB arrive over a Unix socket, and a change follows",
  ignore: go === undefined,
  fn: async () => {
    const from = source();
    const { server } = await serve(from);
    const folder = await Deno.makeTempDir();
    const listener = await listenUnix(`${folder}/run/socket`, (transport) => server.grpc.accept(transport));
    const client = await GoClient.start(`unix://${folder}/run/socket`, "-type", CLUSTER, "-delta");
    assert.equal((await client.next()).resources, 2000);
    assert.equal([...server.streams()][0]!.address, `${folder}/run/socket`);
    from.change(CLUSTER, [textResource(CLUSTER, "c5", "changed")], ["c6"]);
    from.push();
    const change = await client.next();
    assert.deepEqual([change.resources, change.removed], [1, 1]);
    await client.stop();
    await listener.close();
    await server.stop(1000);
    await Deno.remove(folder, { recursive: true });
  },
});
