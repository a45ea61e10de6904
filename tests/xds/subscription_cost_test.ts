import assert from "node:assert/strict";
import { CLUSTER, ENDPOINTS, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { VersionTable } from "../../lib/resource/version_table.ts";
import { calls } from "./support/counting.ts";
import { allocatedBytes, bytesInUse, keptBytes } from "./support/memory.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

const name = (i: number) => `outbound|80||svc-${i}.ns-${i % 10}.svc.cluster.local`;

/** A source of the given size: clusters, endpoints, and route configurations with one virtual host each. */
function mesh(size: number): MemorySource {
  const names = Array.from({ length: size }, (_, i) => name(i));
  const source = new MemorySource();
  for (const type of [CLUSTER, ENDPOINTS, ROUTE]) {
    source.change(
      type,
      names.map((n) => textResource(type, n, `${n}=1`)),
    );
  }
  for (const n of names) source.changeHosts(n, [textResource(VIRTUAL_HOST, `${n}/a`, `${n}/a=1`)]);
  return source.serve(VIRTUAL_HOST);
}

/** Ways to change a subscription name by name. Each gets encoded requests. */
const WAYS: Record<string, (size: number) => { client: StreamClient; each: (i: number) => void }> = {
  "names that do not exist, without an acknowledgement": (size) => {
    const client = new StreamClient(new MemorySource().serve(ENDPOINTS), true);
    client.ask(ENDPOINTS, { names: ["first"] });
    const requests = Array.from({ length: size }, (_, i) => client.encode(ENDPOINTS, { names: [name(i)] }));
    return { client, each: (i) => client.send(requests[i]!) };
  },
  "names on demand, each answered and acknowledged": (size) => {
    const client = new StreamClient(mesh(size), true);
    client.ask(CLUSTER, { names: [name(0)] });
    client.accept();
    const requests = Array.from({ length: size }, (_, i) => client.encode(CLUSTER, { names: [name(i)] }));
    return {
      client,
      each: (i) => {
        client.send(requests[i]!);
        client.accept();
      },
    };
  },
  "names that are dropped one by one": (size) => {
    const client = new StreamClient(mesh(size), true, { maxResponseBytes: Infinity });
    client.ask(ENDPOINTS, { names: Array.from({ length: size }, (_, i) => name(i)) });
    client.accept();
    const requests = Array.from({ length: size }, (_, i) => client.encode(ENDPOINTS, { unsubscribe: [name(i)] }));
    return { client, each: (i) => client.send(requests[i]!) };
  },
  "route configurations that do not exist, with virtual hosts on demand": (size) => {
    const client = new StreamClient(mesh(10), true);
    client.ask(ROUTE, { names: [name(0)] });
    client.accept();
    client.ask(VIRTUAL_HOST);
    client.accept();
    const requests = Array.from({ length: size }, (_, i) => client.encode(ROUTE, { names: [name(100 + i)] }));
    return {
      client,
      each: (i) => {
        client.send(requests[i]!);
        while (client.inbox.length > 0) client.accept();
      },
    };
  },
};

for (const [what, way] of Object.entries(WAYS)) {
  Deno.test(`${what}: twice as many cost at most 2.2 times the work`, () => {
    const cost = (size: number) => {
      const { client, each } = way(size);
      const before = { bytes: allocatedBytes(), reads: client.view.reads.count };
      for (let i = 0; i < size; i++) each(i);
      client.stream.close();
      return { bytes: allocatedBytes() - before.bytes, reads: client.view.reads.count - before.reads };
    };
    cost(100);
    // Allocations of the compiler during warm-up count for nobody: the least of some runs has none.
    const least = (size: number) => {
      const runs = Array.from({ length: 3 }, () => cost(size));
      return { reads: runs[0]!.reads, bytes: Math.min(...runs.map(({ bytes }) => bytes)) };
    };
    const [once, twice] = [least(1000), least(2000)];
    const figures = JSON.stringify({ once, twice });
    assert.ok(twice.bytes < 2.2 * once.bytes, figures);
    assert.ok(twice.reads < 2.2 * once.reads + 1000, figures);
  });
}

Deno.test("a route configuration that is subscribed beside many others costs its own virtual hosts and a pointer for each of the others", () => {
  const cost = (size: number) => {
    const client = new StreamClient(mesh(size + 100), true);
    client.ask(ROUTE, { names: Array.from({ length: size }, (_, i) => name(i)) });
    client.accept();
    client.ask(VIRTUAL_HOST);
    client.accept();
    const requests = Array.from({ length: 100 }, (_, i) => client.encode(ROUTE, { names: [name(size + i)] }));
    const before = { bytes: allocatedBytes(), reads: client.view.reads.count };
    for (const request of requests) {
      client.send(request);
      while (client.inbox.length > 0) client.accept();
    }
    return { bytes: (allocatedBytes() - before.bytes) / 100, reads: client.view.reads.count - before.reads };
  };
  cost(100);
  const [few, many] = [cost(100), cost(2100)];
  const figures = JSON.stringify({ few, many });
  assert.equal(few.reads, many.reads, figures);
  assert.ok(many.bytes - few.bytes < 2000 * 100, figures);
});

Deno.test("a turn of the event loop that takes 1,000 requests holds at most 8 kB for each until it ends", async () => {
  const client = new StreamClient(new MemorySource().serve(ENDPOINTS), true);
  client.ask(ENDPOINTS, { names: Array.from({ length: 5000 }, (_, i) => name(i)) });
  const requests = Array.from({ length: 1000 }, (_, i) => client.encode(ENDPOINTS, { names: [name(5000 + i)] }));
  const before = await keptBytes();
  for (const request of requests) client.send(request);
  const each = (bytesInUse() - before) / 1000;
  assert.ok(each < 8000, `${each} bytes a request`);
  client.stream.close();
});

Deno.test("a stream with more than 16 MiB of names ends with a status that gives the limit", () => {
  const long = "n".repeat(1 << 20);
  for (const delta of [true, false]) {
    const client = new StreamClient(new MemorySource().serve(ENDPOINTS, CLUSTER), delta);
    client.ask(CLUSTER, { names: ["*"] });
    const subscribed: string[] = [];
    const refused = { code: 8, message: "the names that this stream subscribes to take more than 16 MiB" };
    assert.throws(() => {
      for (let i = 0; i < 40; i++) {
        if (delta && i % 2 === 1) client.ask(CLUSTER, { unsubscribe: [long + i] });
        else subscribed.push(long + i);
        client.ask(ENDPOINTS, { names: delta ? subscribed.slice(-1) : subscribed });
      }
    }, refused);
    assert.ok(subscribed.length > 4, "not too early");
  }
});

Deno.test("a name that a client subscribes to is kept once, with at most 200 bytes beside it", async () => {
  for (const acknowledged of [true, false]) {
    const cost = async () => {
      const client = new StreamClient(new MemorySource().serve(ENDPOINTS), true);
      client.ask(ENDPOINTS, { names: ["first"] });
      if (acknowledged) client.accept();
      const before = await keptBytes();
      for (let i = 0; i < 5000; i++) {
        client.ask(ENDPOINTS, { names: [name(i)] });
        if (acknowledged) client.accept();
      }
      client.received.length = 0;
      client.infos.length = 0;
      const each = (await keptBytes() - before) / 5000;
      client.stream.close();
      return each;
    };
    // Code compiled meanwhile adds to one of the figures.
    const each = Math.min(await cost(), await cost(), await cost());
    assert.ok(each < 200 + name(4999).length, `${each} bytes a name, acknowledged: ${acknowledged}`);
  }
});

/** Look-ups of reported versions while a client comes back with virtual hosts of many route configurations. */
function looksOfReturn(routes: number, versions: Readonly<Record<string, string>>): { looks: number; removed: number } {
  const client = new StreamClient(mesh(routes), true, { maxResponseBytes: Infinity });
  client.ask(ROUTE, { names: Array.from({ length: routes }, (_, i) => name(i)) });
  client.accept();
  const count = calls(VersionTable.prototype, ["find"]);
  client.ask(VIRTUAL_HOST, { versions });
  const looks = count.stop();
  const { resources, removed } = client.accept(VIRTUAL_HOST);
  assert.equal(resources.size, routes - Object.values(versions).filter((version) => version.length > 10).length);
  client.stream.close();
  return { looks, removed: removed.length };
}

Deno.test("a client that comes back with thousands of other virtual hosts costs some looks for each, however many route configurations it has", () => {
  const others = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`${name(i % 300)}/b${i}`, `version-${i}`.slice(0, 10)]),
  );
  for (const routes of [3, 300]) {
    const { looks, removed } = looksOfReturn(routes, others);
    assert.equal(removed, 5000);
    assert.ok(looks <= 5 * 5000, `${looks} looks with ${routes} route configurations`);
  }
});

Deno.test("a client that comes back with its virtual hosts in any order costs some looks for each", () => {
  const first = new StreamClient(mesh(300), true, { maxResponseBytes: Infinity });
  first.ask(ROUTE, { names: Array.from({ length: 300 }, (_, i) => name(i)) });
  first.accept();
  first.ask(VIRTUAL_HOST);
  const { resources } = first.accept(VIRTUAL_HOST);
  first.stream.close();
  const versions = [...resources].map(([name, { version }]) => [name, version] as const);
  const mixed = Object.fromEntries(versions.map((_, i) => versions[i * 101 % versions.length]!));
  assert.equal(Object.keys(mixed).length, 300);
  const { looks } = looksOfReturn(300, { ...mixed, [`${name(0)}/gone`]: "1" });
  assert.ok(looks <= 6 * 300, `${looks} looks`);
});

Deno.test("an incremental acknowledgement alone looks at no set, and what changed while it was awaited is sent with it", () => {
  const source = mesh(10);
  const client = new StreamClient(source, true);
  client.ask(CLUSTER);
  client.accept();
  source.change(CLUSTER, [textResource(CLUSTER, name(1), "2")]);
  client.stream.reconcile();
  const before = client.view.reads.count;
  client.accept();
  assert.equal(client.view.reads.count, before);
  for (const value of ["3", "4"]) {
    source.change(CLUSTER, [textResource(CLUSTER, name(1), value)]);
    client.stream.reconcile();
  }
  client.accept();
  client.accept();
  assert.equal(client.has.get(CLUSTER)!.get(name(1))!.value, "4");
});
