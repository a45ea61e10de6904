/**
 * Services of a folder have no address, because a server would assign the address; services told apart by an address do
 * not collide.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { StandInAddresses, standInOfSlot } from "../../../lib/registry/allocation/stand_ins.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import { ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import { fact, manifest } from "../../config/facts/manifests.ts";
import { OPTIONS, RecordingSink, serviceEntry } from "../objects.ts";
import { cluster, keyOf, object, ORCH_OPTIONS } from "./cluster.ts";
import { runs } from "../../properties.ts";

function named(name: string, spec: object, from: "file" | "api" = "file"): AnyFact {
  const made = object("Service", name, { spec: { ...spec } });
  if (from === "file") return made;
  return { ...made, origin: { from: "api", source: "cluster-1", uid: "7c0f" } } as AnyFact;
}

function standInOf(id: string) {
  const alone = new StandInAddresses();
  alone.want(id);
  alone.settle();
  return alone.addresses(id)!;
}

function reported(spec: object, from: "file" | "api" = "file") {
  const { sink } = cluster([named("db", spec, from)]);
  return sink.state.services.get(keyOf("db"))!;
}

const tcp = { ports: [{ port: 3306 }] };

const CASES: readonly (readonly [string, object, "file" | "api", boolean])[] = [
  ["a port of TCP", tcp, "file", true],
  ["a port that says no protocol", { ports: [{ port: 9000 }] }, "file", true],
  ["one such port beside others", { ports: [{ name: "http", port: 80 }, { name: "redis", port: 6379 }] }, "file", true],
  ["an address that is none", { ...tcp, clusterIP: "$(ADDRESS)" }, "file", true],
  ["ports of HTTP alone: names tell them apart", { ports: [{ name: "http", port: 80 }] }, "file", false],
  ["a port of TLS: names tell it apart", { ports: [{ name: "tls", port: 443 }] }, "file", false],
  ["a headless service", { ...tcp, clusterIP: "None" }, "file", false],
  ["an external name", { ...tcp, type: "ExternalName", externalName: "a.test" }, "file", false],
  ["an object of an API, which has given no address", tcp, "api", false],
];

for (const [what, spec, from, has] of CASES) {
  Deno.test(`${what}: ${has ? "an address stands in" : "no address stands in"}`, () => {
    const { IPv4, IPv6 } = standInOf("shop/db");
    assert.deepEqual(reported(spec, from).addresses, has ? [IPv4, IPv6] : []);
  });
}

Deno.test("an address that is written is kept", () => {
  assert.deepEqual(reported({ ...tcp, clusterIP: "10.0.0.7" }).addresses, ["10.0.0.7"]);
});

const FAMILIES: readonly (readonly [string, object, readonly ("IPv4" | "IPv6")[], boolean])[] = [
  ["nothing is said", {}, ["IPv4", "IPv6"], true],
  ["the policy says one of any family", { ipFamilyPolicy: "SingleStack" }, ["IPv4", "IPv6"], true],
  ["IPv4 is written", { ipFamilies: ["IPv4"] }, ["IPv4"], false],
  ["IPv6 is written", { ipFamilies: ["IPv6"] }, ["IPv6"], false],
  ["IPv6 is written for one family", { ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" }, ["IPv6"], false],
  ["both are written", { ipFamilies: ["IPv6", "IPv4"] }, ["IPv6", "IPv4"], false],
  ["both are preferred", { ipFamilyPolicy: "PreferDualStack" }, ["IPv4", "IPv6"], false],
  [
    "both are needed, IPv6 first",
    { ipFamilies: ["IPv6"], ipFamilyPolicy: "RequireDualStack" },
    ["IPv6", "IPv4"],
    false,
  ],
];

for (const [what, spec, families, oneFamily] of FAMILIES) {
  Deno.test(`where ${what}, the address is of ${families.join(" and ")}${oneFamily ? ", one for each proxy" : ""}`, () => {
    const service = reported({ ...tcp, ...spec });
    const standIn = standInOf("shop/db");
    assert.deepEqual(service.addresses, families.map((family) => standIn[family]));
    assert.equal(service.oneFamily ?? false, oneFamily);
  });
}

/** Services, imports, endpoints and entries without an address, or with the address of a stand-in. */
const FEW = 13;
const name = fc.constantFrom("a", "b", "c", "d", "e");
const address = fc.nat({ max: 3 }).chain((slot) => fc.constantFrom(standInOfSlot(slot).IPv4, standInOfSlot(slot).IPv6));
const anyFact = fc.oneof(
  { weight: 3, arbitrary: name.map((name) => named(name, tcp)) },
  fc.tuple(name, address).map(([name, clusterIP]) => named(name, { ...tcp, clusterIP })),
  fc.tuple(name, address).map(([name, ip]) =>
    fact(manifest("Endpoints", "shop", name, { subsets: [{ addresses: [{ ip }], ports: [{ port: 1 }] }] }))
  ),
);
const anyEntry = fc.tuple(name, address).map(([name, address]) =>
  serviceEntry(name, {
    hosts: [`${name}.test`],
    addresses: [address, "241.0.0.0/8"],
    ports: [{ number: 3306, name: "tcp", protocol: "TCP" }],
    resolution: "STATIC",
  })
);

/** Both registries of a server, and the virtual addresses of all their services. */
function server() {
  const standIns = new StandInAddresses(FEW);
  const services = new OrchRegistry({ ...ORCH_OPTIONS, standIns });
  const entries = new ServiceEntryRegistry({ ...OPTIONS, standIns });
  const [orch, external] = [new RecordingSink(), new RecordingSink()];
  void services.start(orch);
  void entries.start(external);
  const of = ({ state }: RecordingSink) =>
    [...state.services].map(([key, { addresses }]) => [key, addresses] as const).sort(([a], [b]) => a < b ? -1 : 1);
  return { services, entries, addresses: () => ({ orch: of(orch), external: of(external) }) };
}

Deno.test("no service of a folder stands at a written address, in any order of changes of services and entries", () => {
  const change = fc.record({
    put: fc.array(anyFact, { maxLength: 3 }),
    entry: fc.option(anyEntry, { nil: undefined }),
    gone: fc.option(fc.nat(), { nil: undefined }),
    goneEntry: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const facts = new Map<string, AnyFact>();
      const written = new Map<string, ReturnType<typeof serviceEntry>>();
      const { services, entries, addresses } = server();
      for (const { put, entry, gone, goneEntry } of changes) {
        const added = [...new Map(put.map((one) => [one.key, one])).values()];
        for (const one of added) facts.set(one.key, one);
        services.apply(added, []);
        const removed = gone === undefined || facts.size === 0 ? [] : [[...facts.keys()][gone % facts.size]!];
        for (const key of removed) facts.delete(key);
        services.apply([], removed);
        if (entry !== undefined) {
          if (goneEntry) written.delete(entry.key);
          else written.set(entry.key, entry);
          entries.apply(goneEntry ? [] : [entry], goneEntry ? [entry.key] : []);
        }
      }
      const found = addresses();
      const isWritten = (key: string) => {
        const one = facts.get(`Service/shop/${key.slice("shop/".length).split(".")[0]}`);
        return one?.kind === "Service" && one.spec.clusterIPs.length > 0;
      };
      const standing = found.orch.filter(([key]) => !isWritten(key)).flatMap(([, list]) => list);
      const all = [...found.orch, ...found.external].flatMap(([, list]) => list);
      for (const one of standing) assert.equal(all.filter((other) => other === one).length, 1, one);
      const fresh = server();
      fresh.entries.apply([...written.values()].reverse(), []);
      fresh.services.apply([...facts.values()].reverse(), []);
      assert.deepEqual(found, fresh.addresses(), "equal sets have equal addresses");
      assert.equal(services.check([...facts.values()], []), 0, "nothing has drifted");
    }),
    { numRuns: runs(300) },
  );
});
