/** Addresses of sources of configuration. */
import assert from "node:assert/strict";
import { parseSourceAddress } from "../../../lib/config/mesh/config_sources.ts";
import { parseMeshConfig } from "../../../lib/config/mesh/parse.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("an address means a folder, the server's orchestrator, or something elsewhere", () => {
  const kinds = (...addresses: string[]) => addresses.map((address) => parseSourceAddress(address).kind);
  assert.deepEqual(kinds("fs:///etc/mesh", "k8s://", "k8s:///", "orch://"), [
    ...["folder", "orchestrator", "orchestrator", "orchestrator"],
  ]);
  assert.deepEqual(kinds("k8s://east", "orch://east"), ["other orchestrator", "other orchestrator"]);
  assert.deepEqual(["xds://host:15010", "xds://[::1]:15012/"].map(parseSourceAddress), [
    { kind: "control plane", host: "host", port: 15010 },
    { kind: "control plane", host: "::1", port: 15012 },
  ]);
  assert.deepEqual(kinds("fs://relative", "fs:///", "xds://", "http://x", ""), Array(5).fill("wrong"));
});

test("a source that is listed twice, also in the other spelling, is a warning that names the second", () => {
  const addresses = ["k8s://", "fs:///a", "orch://", "fs:///a", "fs:///b", "xds://h:1", "xds://h:2"];
  const text = JSON.stringify({ configSources: addresses.map((address) => ({ address })) });
  const { value, findings } = parseMeshConfig(text, { systemNamespace: "mesh-system", source: "mesh" });
  assert.ok(value !== undefined);
  assert.deepEqual(findings.map(({ severity, place }) => `${severity} ${place.field}`), [
    "warning configSources[2].address",
    "warning configSources[3].address",
  ]);
});
