/**
 * Tests of names that a proxy resolves, with a name server of their own at the port that resolvers use: see
 * `dynamic_dns_test.ts`.
 *
 * Permissions: run (envoy), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { answerTo, startUpstream } from "../../dns/support/upstream.ts";
import { envoyPath, TestMesh } from "./mesh.ts";
import { until } from "../../patience.ts";
import { askNamed, dynamicDnsWorld } from "./dynamic_dns_world.ts";
import { NAME_SERVER } from "./own_network.ts";

Deno.test("a request goes to the address that the name server gives for its host, and to the next one when it gives another", () =>
  withPorts(2, async ([requests = 0, names = 0]) => {
    const serve = (hostname: string, name: string) =>
      Deno.serve({ hostname, port: requests, onListen() {} }, () => new Response(name));
    const first = serve("127.0.0.1", "first");
    await using _second = serve("127.0.0.3", "second");
    // For one second: Envoy asks again when it has passed, after five seconds at the earliest.
    const at = (ip: string) => (query: Uint8Array) => answerTo(query, [ip], 1);
    const server = startUpstream(NAME_SERVER, 53, { "a.wild.test": at("127.0.0.1"), "b.wild.test": at("127.0.0.3") });
    try {
      const files = { "world.yaml": dynamicDnsWorld("*.wild.test", requests, names) };
      await using mesh = await TestMesh.start({ files });
      const identity = { name: "client", namespace: "demo", address: "127.0.0.1", labels: { app: "client" } };
      await mesh.attach(envoyPath()!, { ...identity, type: "sidecar" }, true);
      const ask = (host: string) => askNamed(requests, `${host}:${requests}`);
      await until("the first address", async () => await ask("a.wild.test") === "first");
      assert.equal(await ask("b.wild.test"), "second");
      assert.equal(await ask("gone.wild.test"), "503", "a name that does not exist");
      server.zone.set("a.wild.test", at("127.0.0.3"));
      // An open connection stays with its address.
      await first.shutdown();
      await until("the second address", async () => await ask("a.wild.test") === "second");
      assert.ok(server.asked.includes("udp a.wild.test A"));
      await mesh.settled();
    } finally {
      server.close();
    }
  }));
