import assert from "node:assert/strict";
import { SLOTS } from "../../lib/registry/allocation/allocate.ts";
import { Fixture } from "./fixture.ts";

const entry = (name: string, hosts: readonly string[]) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name, namespace: "shop" },
  spec: {
    hosts,
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    endpoints: [{ address: "10.0.0.1" }],
  },
});

Deno.test("more services than automatic addresses are one warning, which ends when fewer services remain", () => {
  const fixture = new Fixture();
  const hosts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `h${from + i}.example.com`);
  for (let from = 0; from < SLOTS; from += 5000) {
    fixture.put(entry(`e${from}`, hosts(from, Math.min(from + 5000, SLOTS))));
  }
  assert.deepEqual(fixture.pipeline.warnings(), []);
  fixture.put(entry("one-more", ["one-more.example.com"]), entry("two-more", ["two-more.example.com"]));
  const without = () =>
    [...fixture.pipeline.aggregate.services()].filter((service) => service.autoAllocatedAddresses === undefined).length;
  assert.equal(without(), 2);
  const [warning, ...others] = fixture.pipeline.warnings();
  assert.match(warning!.message, /65013 services want an automatic address, and only 65011 exist/);
  assert.deepEqual(others, []);
  fixture.remove("ServiceEntry/shop/one-more", "ServiceEntry/shop/e0");
  assert.equal(without(), 0);
  assert.deepEqual(fixture.pipeline.warnings(), []);
});
