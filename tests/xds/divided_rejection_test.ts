/**
 * A resource rejected without a name is found by sending halves, so that the rejection keeps nothing else from the
 * client.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ENDPOINTS } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

const namesOf = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);

/** A client's stream. The client rejects responses with a bad resource, and does not name the resource. */
function client(delta: boolean, names: string[], isBad: (name: string, value: string) => boolean) {
  const source = new MemorySource().change(ENDPOINTS, names.map((name) => textResource(ENDPOINTS, name, `${name}=1`)));
  const one = new StreamClient(source, delta, { maxResponseBytes: Infinity });
  one.ask(ENDPOINTS, { names });
  return {
    ...{ one, source },
    answer() {
      while (one.inbox.length > 0) {
        const found = [...one.inbox[0]!.resources].some(([name, { value }]) => isBad(name, value));
        if (found) one.reject(ENDPOINTS, "regex: too large", names);
        else one.accept(ENDPOINTS, names);
      }
    },
    has: () => [...one.has.get(ENDPOINTS)?.keys() ?? []].sort(),
  };
}

for (const [variant, delta] of [["incremental", true], ["state of the world", false]] as const) {
  Deno.test(`${variant}: of 4,000 resources one that is bad is found within 40 responses; the others come, and it does when it is mended`, () => {
    const names = namesOf(4000);
    const { one, source, answer, has } = client(delta, names, (name, value) => name === "n2717" && value === "n2717=1");
    answer();
    assert.deepEqual(has(), names.filter((name) => name !== "n2717").sort());
    assert.ok(one.received.length < 40, `${one.received.length} responses`);
    assert.deepEqual(one.rejects.at(-1)!.resources, ["n2717"], "the last rejection says which it is");
    const news = one.rejects.filter(({ repeated }) => !repeated).map(({ resources }) => resources);
    assert.deepEqual(news, [[], ["n2717"]], "those between say nothing new");
    assert.deepEqual(one.accepted, [], "the type stays rejected");
    source.change(ENDPOINTS, [textResource(ENDPOINTS, "n2717", "n2717=2")]);
    one.stream.reconcile();
    answer();
    assert.equal(has().length, 4000);
    assert.deepEqual(one.accepted, [ENDPOINTS]);
    // All resources go out in one response again.
    const before = one.received.length;
    source.change(ENDPOINTS, names.map((name) => textResource(ENDPOINTS, name, `${name}=3`)));
    one.stream.reconcile();
    answer();
    assert.equal(one.received.length, before + 1);
  });

  Deno.test(`${variant}: whichever are bad, all others come, and no response is repeated for ever`, () => {
    fc.assert(fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.uniqueArray(fc.nat(59), { maxLength: 6 }),
      fc.array(fc.nat(59), { maxLength: 3 }),
      (count, bad, changed) => {
        const names = namesOf(count);
        const isBad = (name: string, value: string) => bad.includes(Number(name.slice(1))) && value.endsWith("=1");
        const { one, source, answer, has } = client(delta, names, isBad);
        answer();
        const good = names.filter((name) => !isBad(name, "=1"));
        assert.deepEqual(has(), good.toSorted());
        const mended = names.filter((name) => changed.includes(Number(name.slice(1))));
        source.change(ENDPOINTS, mended.map((name) => textResource(ENDPOINTS, name, `${name}=2`)));
        one.stream.reconcile();
        answer();
        assert.deepEqual(has(), [...new Set([...good, ...mended])].sort());
        assert.ok(one.received.length <= 2 + 14 * (bad.length + 1), `${one.received.length} responses`);
      },
    ));
  });

  Deno.test(`${variant}: a client that takes nothing gets 201 responses, and then no more until something changes`, () => {
    const names = namesOf(2000);
    const { one, source, answer } = client(delta, names, () => true);
    answer();
    assert.equal(one.received.length, 201);
    source.change(ENDPOINTS, [textResource(ENDPOINTS, "n1999", "n1999=2")]);
    one.stream.reconcile();
    answer();
    assert.equal(one.received.length, 202);
  });
}
