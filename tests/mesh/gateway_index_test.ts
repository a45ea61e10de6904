import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { GatewayIndex } from "../../lib/mesh/gateway_index.ts";
import { inFile } from "../config/origins.ts";
import { keptBytes } from "../xds/support/memory.ts";

function gateway(number: number, mode: string): ConfigObject<"Gateway"> {
  const port = { number: 15443, name: "tls", protocol: "TLS" };
  const tree = {
    apiVersion: "networking.mesh.io/v1",
    kind: "Gateway",
    metadata: { namespace: "edge", name: `gateway-${number}` },
    spec: { selector: { [`door${number}`]: "yes" }, servers: [{ port, hosts: [`*.n${number}`], tls: { mode } }] },
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<"Gateway">;
}

/** Labels that select the Gateways of the set bits. */
function labelsOf(bits: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`door${i}`, (bits >> i) % 2 === 1 ? "yes" : "no"]),
  );
}

Deno.test("workloads that serve the same Gateways share one list, and the list of passed-on hosts survives a change elsewhere", () => {
  const index = new GatewayIndex(false);
  const [first, second] = [gateway(0, "AUTO_PASSTHROUGH"), gateway(1, "AUTO_PASSTHROUGH")];
  index.update([], [second, first]);
  const passed = index.passed("edge", labelsOf(0b11));
  assert.deepEqual(passed, [{ namespace: "*", host: "*.n0" }, { namespace: "*", host: "*.n1" }]);
  assert.equal(index.select("edge", labelsOf(0b11)), index.select("other", { ...labelsOf(0b11), app: "x" }));
  index.update([], [gateway(2, "AUTO_PASSTHROUGH")]);
  assert.equal(index.passed("edge", labelsOf(0b11)), passed);
  assert.deepEqual(index.select("edge", labelsOf(0b101)).map(({ meta }) => meta.name), ["gateway-0", "gateway-2"]);
});

Deno.test("labels that workloads make up leave nothing behind, whichever Gateways they select", async () => {
  const index = new GatewayIndex(false);
  index.update([], Array.from({ length: 12 }, (_, i) => gateway(i, "AUTO_PASSTHROUGH")));
  const visit = (from: number, to: number) => {
    for (let bits = from; bits < to; bits++) index.passed("edge", labelsOf(bits));
  };
  visit(1, 100);
  const before = await keptBytes();
  visit(100, 4096);
  const each = (await keptBytes() - before) / 3996;
  assert.ok(each < 50, `each of 3,996 selections leaves ${each.toFixed(0)} bytes behind`);
});
