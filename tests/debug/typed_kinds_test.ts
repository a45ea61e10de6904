import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";

const A = "ServiceEntry/x/a";

const ENTRY = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

const SERVICE = `apiVersion: v1
kind: Service
metadata: { name: cart, namespace: x }
spec: { ports: [{ port: 80, name: http }] }
`;

Deno.test("pages take a kind in any case, as plural and by its short name", async () => {
  await withServer({ "a.yaml": ENTRY, "b.yaml": SERVICE }, async ({ ports }) => {
    for (const word of ["se", "SE", "serviceentries", "serviceentry", "ServiceEntry"]) {
      const { status, body } = await page(ports.http, `/debug/live?object=${word}/x/a`);
      assert.deepEqual([status, JSON.parse(body).object], [200, A], word);
    }
    for (const word of ["svc", "Services", "service"]) {
      const { body } = await page(ports.http, `/debug/factz?kind=${word}`);
      assert.deepEqual(JSON.parse(body).kinds, { Service: 1 }, word);
    }
    const { body } = await page(ports.http, "/debug/search?q=SE/x/a");
    assert.deepEqual(JSON.parse(body).objects.names, [A]);
    for (const [word, count] of [["SE", 1], ["vs", 0]] as const) {
      const url = `http://127.0.0.1:${ports.http}/debug/configz?kind=${word}`;
      const list = await (await fetch(url, { headers: { accept: "text/html" } })).text();
      assert.equal(list.split("/debug/live?object=ServiceEntry").length - 1, count, word);
    }
  });
});
