import assert from "node:assert/strict";
import { readAppProbers } from "../../../lib/config/agent_texts/app_probers.ts";

Deno.test("probes are read as injection writes them; a time that is absent is a second, of a hook the caller's", () => {
  const read = readAppProbers(JSON.stringify({
    "/app-health/cart/livez": { httpGet: { path: "hello there?a=1", port: 8080, scheme: "HTTPS" }, timeoutSeconds: 3 },
    "/app-health/cart/readyz": { httpGet: { port: 8080, httpHeaders: [{ name: "x", value: "y" }] } },
    "/app-health/cart/startupz": { tcpSocket: { port: 9000, host: "" }, timeoutSeconds: 0 },
    "/app-health/db/livez": { grpc: { port: 9001, service: null } },
    "/app-lifecycle/cart/prestopz": { httpGet: { path: "/bye", port: 1 } },
    "/app-lifecycle/cart/poststartz": { tcpSocket: { port: 2 } },
  }));
  assert.ok("probers" in read);
  assert.deepEqual(Object.fromEntries(read.probers), {
    "/app-health/cart/livez": {
      probe: { type: "http", secure: true, port: 8080, target: "/hello%20there?a=1" },
      timeout: 3000,
    },
    "/app-health/cart/readyz": { probe: { type: "http", secure: false, port: 8080, target: "/" }, timeout: 1000 },
    "/app-health/cart/startupz": { probe: { type: "tcp", port: 9000 }, timeout: 1000 },
    "/app-health/db/livez": { probe: { type: "grpc", port: 9001, service: "" }, timeout: 1000 },
    "/app-lifecycle/cart/prestopz": {
      probe: { type: "http", secure: false, port: 1, target: "/bye" },
      timeout: undefined,
    },
    "/app-lifecycle/cart/poststartz": { probe: { type: "tcp", port: 2 }, timeout: undefined },
  });
});

Deno.test("all mistakes in probes are reported at once, with field, value and expectation", () => {
  const read = readAppProbers(JSON.stringify({
    "/ready": { tcpSocket: { port: 1 } },
    "/app-health/a/livez": { httpGet: { port: "http" } },
    "/app-health/b/livez": { httpGet: { port: 1 }, tcpSocket: { port: 2 } },
    "/app-health/c/livez": { timeoutSeconds: 1 },
    "/app-health/d/livez": { grpc: { port: 70000 }, timeoutSeconds: -1 },
    "/app-health/e/livez": { httpGet: { port: 1, scheme: "FTP" } },
  }));
  assert.ok("faults" in read);
  const text = read.faults.join("\n");
  for (
    const part of [
      /got "\/ready", expected \/app-health\/CONTAINER\/livez/,
      /a\/livez"\]\.httpGet\.port: got "http", expected a port number/,
      /b\/livez"\]: got an object, expected exactly one of httpGet, tcpSocket, grpc/,
      /c\/livez"\]: got an object, expected exactly one of/,
      /d\/livez"\]\.grpc\.port: got 70000/,
      /d\/livez"\]\.timeoutSeconds: got -1/,
      /e\/livez"\]\.httpGet\.scheme: got "FTP", expected HTTP or HTTPS/,
    ]
  ) assert.match(text, part);
  for (const line of read.faults) assert.match(line, /^variable MESH_ORCH_APP_PROBERS: /);
  for (const bad of ["{", "[]", "5", '{"/app-health/a/livez": null}']) assert.ok("faults" in readAppProbers(bad), bad);
});
