/** The limit of series applies to a whole Envoy, and an Envoy whose loggers share statistics exits without a fault. */
import assert from "node:assert/strict";
import { SERIES_LIMITS } from "../../lib/config/mesh/series_limits.ts";
import { withPorts } from "../../scripts/ports.ts";
import { DOOR } from "./support/door.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const meshConfig = { defaultProviders: { metrics: ["prometheus"] } };

function gateway(ports: readonly number[], name = "door"): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "Gateway",
    metadata: { name, namespace: "demo" },
    spec: {
      selector: { app: "door" },
      servers: ports.map((number) => ({ port: { number, name: `http-${number}`, protocol: "HTTP" }, hosts: ["*"] })),
    },
  };
}

const answer = {
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: { name: "door", namespace: "demo" },
  spec: { hosts: ["*"], gateways: ["door"], http: [{ directResponse: { status: 200 } }] },
};

/** Each path is a separate series of one counter. Nothing else is measured. */
const byPath = {
  apiVersion: "telemetry.mesh.io/v1",
  kind: "Telemetry",
  metadata: { name: "paths", namespace: "demo" },
  spec: {
    metrics: [{
      providers: [{ name: "prometheus" }],
      overrides: [
        { match: { metric: "REQUEST_COUNT" }, tagOverrides: { path: { value: "request.path" } } },
        ...["REQUEST_DURATION", "REQUEST_SIZE", "RESPONSE_SIZE"].map((metric) => ({
          match: { metric },
          disabled: true,
        })),
      ],
    }],
  },
};

async function overflown(envoy: TestEnvoy): Promise<number> {
  const text = await envoy.admin("stats/prometheus?filter=stats_overflow") ?? "";
  return Number(/^envoy_server_stats_overflow_counter\S* (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function series(envoy: TestEnvoy): Promise<number> {
  const text = await envoy.admin("stats?filter=^istio.requests_total") ?? "";
  return text.split("\n").filter((line) => line.startsWith("istio.requests_total")).length;
}

async function askAll(port: number, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const response = await fetch(`http://127.0.0.1:${port}/${port}/${at}`);
      await response.body?.cancel();
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

Deno.test({
  name: "listeners share the limit of series, and what is over it is not counted",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([first = 0, second = 0]) => {
      const objects = [gateway([first, second]), answer, byPath];
      const files = Object.fromEntries(objects.map((object, i) => [`${i}.json`, JSON.stringify(object)]));
      await using mesh = await TestMesh.start({ files, meshConfig });
      const envoy = await mesh.attach(path!, DOOR, true);
      await envoy.ready(first);
      await envoy.ready(second);
      const more = SERIES_LIMITS.counters / 2 + 5;
      await askAll(first, more);
      // A request is counted after its answer.
      await until("all are counted", async () => await series(envoy) === more);
      assert.equal(await overflown(envoy), 0);
      await askAll(second, more);
      await until("what is over the limit is left out", async () => await overflown(envoy) === 10);
      assert.equal(await series(envoy), SERIES_LIMITS.counters);
    }),
});

Deno.test({
  name: "counts outlive the listener that began them, and Envoy ends without a fault when all listeners are gone",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([first = 0, second = 0]) => {
      const files = { "a.json": JSON.stringify(gateway([first])), "b.json": JSON.stringify(answer) };
      await using mesh = await TestMesh.start({ files, meshConfig });
      const envoy = await mesh.attach(path!, DOOR, true, { drainTime: 1 });
      await envoy.ready(first);
      await askAll(first, 3);
      const listen = async (ports: readonly number[]) => {
        await mesh.write("a.json", ports.length > 0 ? JSON.stringify(gateway(ports)) : undefined);
        await until("listeners are replaced", async () => {
          const text = await envoy.admin("listeners?format=text") ?? "";
          const draining = await envoy.admin("stats?filter=total_listeners_draining") ?? "";
          return / 0\n/.test(draining) &&
            [first, second].every((port) => text.includes(`:${port}\n`) === ports.includes(port));
        });
      };
      await listen([first, second]);
      await askAll(second, 1);
      await listen([second]);
      await askAll(second, 1);
      await until("all are counted", async () =>
        /: 5\n/.test(await envoy.admin("stats?filter=^istio.requests_total") ?? ""));
      await listen([]);
      await envoy.stop();
    }),
});
