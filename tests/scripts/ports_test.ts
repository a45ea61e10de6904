import assert from "node:assert/strict";
import { PortLease, PortTaken, saysTaken, withPorts } from "../../scripts/ports.ts";

Deno.test("a port that is leased is not leased again, and is free to be bound", () => {
  using first = new PortLease(50);
  using second = new PortLease(50);
  const all = [...first.ports, ...second.ports];
  assert.equal(new Set(all).size, 100);
  for (const port of all) Deno.listen({ hostname: "0.0.0.0", port }).close();
});

Deno.test("a port that another program listens on, at any address, is not chosen", () => {
  // 2,000 of the 20,000 ports are taken: by chance, 200 ports miss all taken ports in one case of 10^9.
  const taken: Deno.Listener[] = [];
  try {
    for (let port = 12_000; taken.length < 2000; port++) {
      try {
        taken.push(Deno.listen({ hostname: "127.0.7.7", port }));
      } catch (error) {
        if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      }
    }
    const numbers = new Set(taken.map(({ addr }) => (addr as Deno.NetAddr).port));
    using lease = new PortLease(200);
    assert.deepEqual(lease.ports.filter((port) => numbers.has(port)), []);
  } finally {
    for (const listener of taken) listener.close();
  }
});

Deno.test("work whose port was taken meanwhile runs again with others; any other error is passed on", async () => {
  const tried: number[] = [];
  const found = await withPorts(1, ([port = 0]) => {
    tried.push(port);
    return tried.length < 3 ? Promise.reject(new PortTaken("cannot bind")) : Promise.resolve(port);
  });
  assert.equal(tried.length, 3);
  assert.equal(found, tried[2]);
  let runs = 0;
  const broken = withPorts(1, () => Promise.reject(new Error(`run ${++runs}`)));
  await assert.rejects(broken, /run 1/);
  assert.equal(runs, 1);
});

Deno.test("if the ports are taken in every try, the work ends with that error", async () => {
  let runs = 0;
  await assert.rejects(withPorts(1, () => Promise.reject(new PortTaken(`run ${++runs}`))), PortTaken);
  assert.equal(runs, 5);
});

Deno.test("the messages of programs about an address in use are understood", () => {
  assert(saysTaken("error adding listener '0.0.0.0_8080': cannot bind '0.0.0.0:8080': Address already in use"));
  assert(saysTaken("AddrInUse: Address already in use (os error 98)"));
  assert(!saysTaken("cannot find cluster outbound|80||a.example.com"));
});
