import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";

const entry = (name: string, metadata: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x${metadata} }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
`;

Deno.test("registryz shows the date of a service if its object has a date", async () => {
  const files = { "a.yaml": entry("a", ""), "b.yaml": entry("b", ', creationTimestamp: "2024-01-02T03:04:05Z"') };
  await withServer(files, async ({ ports }) => {
    const services = JSON.parse((await page(ports.http, "/debug/registryz")).body) as Record<string, unknown>[];
    assert.deepEqual(services.map((s) => [s.hostname, s.creationTimestamp]), [
      ["a.example.com", undefined],
      ["b.example.com", Date.UTC(2024, 0, 2, 3, 4, 5)],
    ]);
  });
});
