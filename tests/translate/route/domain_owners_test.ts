import assert from "node:assert/strict";
import fc from "fast-check";
import { DomainOwners } from "../../../lib/translate/route/domain_owners.ts";
import { runs } from "../../properties.ts";

Deno.test("the virtual host named after a domain owns the domain, before hosts for which the domain is a short form", () => {
  const owners = new DomainOwners();
  owners.update("foo.default.svc.cluster.local:80", ["foo.default.svc.cluster.local", "foo.default"], 1);
  assert.deepEqual([...owners.update("foo.default:80", ["foo.default"], 2)], ["foo.default.svc.cluster.local:80"]);
  assert.deepEqual(owners.owned("foo.default.svc.cluster.local:80"), ["foo.default.svc.cluster.local"]);
  assert.deepEqual(owners.owned("foo.default:80"), ["foo.default"]);
  assert.equal(owners.lost, 1);
});

Deno.test("otherwise the older host owns the domain, and the younger host gets the domain when the older host goes", () => {
  const owners = new DomainOwners();
  owners.update("young:80", ["young", "10.0.0.1"], 2);
  assert.deepEqual([...owners.update("old:80", ["old", "10.0.0.1"], 1)], ["young:80"]);
  assert.deepEqual(owners.owned("young:80"), ["young"]);
  assert.deepEqual([...owners.update("old:80", [])], ["young:80"]);
  assert.deepEqual(owners.owned("young:80"), ["young", "10.0.0.1"]);
  assert.deepEqual([owners.lost, owners.owned("old:80")], [0, []]);
});

Deno.test("an update without a clash changes no other virtual host", () => {
  const owners = new DomainOwners();
  owners.update("a:80", ["a"]);
  assert.equal(owners.update("b:80", ["b", "b"]).size, 0);
  assert.equal(owners.update("b:80", ["c"]).size, 0);
  assert.deepEqual(owners.owned("b:80"), ["c"]);
});

/** The owner of every domain, computed from scratch. */
function fresh(claims: ReadonlyMap<string, readonly [readonly string[], number]>): Map<string, string> {
  const won = new Map<string, string>();
  const rank = (name: string, domain: string) =>
    [name.startsWith(`${domain}:`) ? 0 : 1, claims.get(name)![1], name] as const;
  for (const [name, [domains]] of claims) {
    for (const domain of domains) {
      const other = won.get(domain);
      if (other === undefined || rank(name, domain) < rank(other, domain)) won.set(domain, name);
    }
  }
  return won;
}

Deno.test("after any updates the owners equal the owners of a fresh index, and every change was reported", () => {
  const names = ["a:80", "b:80", "c:80", "d:80"];
  const update = fc.tuple(
    fc.constantFrom(...names),
    fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "x", "y"), { maxLength: 4 }),
    fc.integer({ min: 0, max: 3 }),
  );
  fc.assert(
    fc.property(fc.array(update, { maxLength: 30 }), (updates) => {
      const owners = new DomainOwners();
      const claims = new Map<string, readonly [readonly string[], number]>();
      const known = new Map<string, readonly string[]>(names.map((name) => [name, []]));
      for (const [name, domains, age] of updates) {
        if (domains.length) claims.set(name, [domains, age]);
        else claims.delete(name);
        const reported = owners.update(name, domains, age).add(name);
        for (const changed of reported) known.set(changed, owners.owned(changed));
        const won = fresh(claims);
        for (const each of names) {
          const expected = (claims.get(each)?.[0] ?? []).filter((domain) => won.get(domain) === each);
          assert.deepEqual(owners.owned(each), expected);
          assert.deepEqual(known.get(each), expected);
        }
        const all = [...claims.values()].reduce((sum, [domains]) => sum + domains.length, 0);
        assert.equal(owners.lost, all - won.size);
      }
    }),
    { numRuns: runs(300) },
  );
});
