/** Findings of special meshes are followed: covered imports of Sidecars, and hosts that lose a listener to others. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { changedBy, proofWorld, without, type WrittenDocument } from "./support/proof_world.ts";
import { runs } from "../properties.ts";

const document = (kind: string, namespace: string, name: string, spec: object): WrittenDocument => ({
  ...{ apiVersion: "networking.mesh.io/v1", kind, metadata: { namespace, name }, spec },
});

const SERVICES = [["shop", "a.test"], ["shop", "b.test"], ["data", "a.test"], ["data", "c.test"], [
  "mesh-system",
  "d.test",
]]
  .map(([namespace, host], at) =>
    document("ServiceEntry", namespace!, `s${at}`, {
      ...{ hosts: [host], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: `10.4.0.${at + 1}`, labels: { app: `s${at}` } }],
    })
  );

const imported = fc.tuple(
  fc.constantFrom(".", "shop", "data", "*", "mesh-system"),
  fc.constantFrom("*", "a.test", "c.test", "*.test"),
).map((parts) => parts.join("/"));

Deno.test("an import that another import covers changes nothing, in a namespace's Sidecar and in the mesh's Sidecar", () => {
  let followed = 0;
  fc.assert(
    fc.property(
      fc.constantFrom("shop", "mesh-system"),
      fc.array(imported, { minLength: 2, maxLength: 5 }),
      (namespace, hosts) => {
        const world = proofWorld([...SERVICES, document("Sidecar", namespace, "default", { egress: [{ hosts }] })]);
        for (const finding of world.findings.filter(({ expected }) => expected.endsWith("does not cover"))) {
          followed++;
          const rest = without(world, finding, "field");
          assert.ok(rest !== undefined);
          assert.deepEqual(changedBy(world, rest), [], finding.message);
        }
      },
    ),
    { numRuns: runs(60) },
  );
  assert.ok(followed > 10, `${followed} were followed`);
});

/** Hosts of one port, some below others, and rules that lead some hosts to one place. */
const tlsWorld = fc.record({
  protocol: fc.constantFrom("TLS", "TLS", "TCP"),
  hosts: fc.uniqueArray(fc.constantFrom("*.w.test", "www.w.test", "*.test", "a.test"), { minLength: 2 }),
  rule: fc.option(
    fc.record({
      hosts: fc.uniqueArray(fc.constantFrom("*.w.test", "www.w.test", "*.test"), { minLength: 1 }),
      sni: fc.constantFrom("*.w.test", "www.w.test"),
      to: fc.constantFrom("a.test", "www.w.test", "out.test"),
    }),
    { nil: undefined, freq: 5 },
  ),
});

Deno.test("a host that is reported to have lost its connections gets other connections without the winner", () => {
  let followed = 0;
  fc.assert(
    fc.property(tlsWorld, ({ protocol, hosts, rule }) => {
      const entries = [...hosts, "out.test"].map((host, at) =>
        document("ServiceEntry", "shop", `e${at}`, {
          ...{ hosts: [host], location: "MESH_EXTERNAL", resolution: host.startsWith("*") ? "NONE" : "DNS" },
          ports: [{ number: host === "out.test" ? 444 : 443, name: "port", protocol }],
        })
      );
      const rules = rule === undefined ? [] : [
        document("VirtualService", "shop", "rule", {
          hosts: rule.hosts,
          tls: [{
            match: [{ port: 443, sniHosts: [rule.sni] }],
            route: [{ destination: { host: rule.to, port: { number: rule.to === "out.test" ? 444 : 443 } } }],
          }],
        }),
      ];
      const world = proofWorld([...entries, ...rules]);
      for (const finding of world.findings.filter(({ name }) => name === "tcp-listener-conflict")) {
        const [, winner] = /: (\S+) has the (?:listener|port), so/.exec(finding.message) ?? [];
        const rest = world.documents.filter(({ spec, kind }) =>
          kind !== "ServiceEntry" || !(spec as { hosts: string[] }).hosts.includes(winner!)
        );
        followed++;
        const changed = changedBy(world, rest).filter((name) => name.includes("_443"));
        assert.ok(changed.length > 0, `${finding.message}: without ${winner} the listener is the same`);
      }
    }),
    { numRuns: runs(60) },
  );
  assert.ok(followed > 0);
});
