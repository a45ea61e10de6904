/**
 * Random configurations against the kernel: the kernel lists our rules exactly, on both back ends, and clean-up removes
 * them.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { explainedText } from "../../lib/iptables/change.ts";
import { cleanUpText } from "../../lib/iptables/dry_run.ts";
import { families } from "../../lib/iptables/model/names.ts";
import { buildRules } from "../../lib/iptables/rules/build.ts";
import { systemRun } from "../../lib/iptables/run.ts";
import { hasOwnPart, parseListing } from "../../lib/iptables/state.ts";
import { applyIn, type Changes, configOf } from "./support/inputs.ts";
import { Cable } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";
import { runs } from "../properties.ts";

const list = (part: fc.Arbitrary<string>, max = 3) =>
  fc.array(part, { maxLength: max }).map((parts) => parts.join(","));
const port = fc.integer({ min: 1, max: 65535 }).map(String);
const ports = fc.oneof(
  port,
  fc.tuple(fc.integer({ min: 1, max: 60000 }), fc.integer({ min: 0, max: 5000 })).map(([a, n]) => `${a}:${a + n}`),
);
const range = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, bits]) => `${address}/${bits}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).filter(([address]) => !/::ffff:/i.test(address)).map((
    [a, bits],
  ) => `${a}/${bits}`),
  fc.ipV4(),
  // Printed like an embedded IPv4 address.
  fc.constantFrom("::1:0/112", "::102:304", "::1:2", "::ffff/100"),
);
const device = fc.constantFrom("eth0", "lo", "tap0", "net+", "a.b-c_d", "veth12345678901");
const id = fc.integer({ min: 0, max: 0xfffffffe }).map(String);

/** Any valid inputs. */
const anyChanges: fc.Arbitrary<Changes> = fc.record({
  proxyPort: port,
  inboundPort: port,
  tunnelPort: port,
  proxyUid: list(id),
  proxyGid: list(id),
  inboundMode: fc.constantFrom("", "REDIRECT", "TPROXY"),
  tproxyMark: fc.integer({ min: 1, max: 0xffffffff }).filter((mark) => mark !== 1338).map(String),
  tproxyTable: fc.integer({ min: 300, max: 0xffffffff }).map(String),
  inboundPorts: fc.oneof(fc.constant("*"), list(ports)),
  inboundPortsExcluded: list(ports),
  outboundPorts: list(ports),
  outboundPortsExcluded: list(ports),
  outboundRanges: fc.oneof(fc.constant("*"), list(range)),
  outboundRangesExcluded: list(range),
  interfacesExcluded: list(device),
  virtualInterfaces: list(device),
  groups: fc.oneof(fc.constant("*"), list(id, 5), fc.constant(Array.from({ length: 300 }, (_, i) => i).join(","))),
  groupsExcluded: list(id),
  loopback: fc.integer({ min: 8, max: 32 }).map((bits) => `127.0.0.1/${bits}`),
  captureDns: fc.boolean(),
  captureAllDns: fc.boolean(),
  dropInvalid: fc.boolean(),
});

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`${kind}: for any configuration, the kernel lists our rules word for word`, async () => {
    await using cable = await Cable.lay();
    const run = systemRun({ networkNamespace: cable.pod });
    await fc.assert(
      fc.asyncProperty(anyChanges, async (changes) => {
        const first = await applyIn(cable.pod, kind, changes, { reconcile: true });
        assert.ok(Object.values(first).every((outcome) => outcome !== "skipped"));
        for (const family of families) {
          const tool = family === 4 ? "iptables" : "ip6tables";
          const listed = parseListing((await run(`${tool}-${kind}-save`, [])).stdout);
          const written = parseListing(explainedText(buildRules(configOf(changes), family)));
          for (const [table, chains] of written) {
            for (const [chain, rules] of chains) {
              assert.deepEqual(listed.get(table)?.get(chain), rules, `${table} ${chain}`);
            }
          }
        }
        assert.deepEqual(await applyIn(cable.pod, kind, changes), { 4: "unchanged", 6: "unchanged" });
      }),
      { numRuns: runs(15) },
    );
    // Clean-up does not know marks and tables.
    await applyIn(cable.pod, kind, {}, { cleanup: true });
    for (const tool of [`iptables-${kind}-save`, `ip6tables-${kind}-save`]) {
      assert.equal(hasOwnPart(parseListing((await run(tool, [])).stdout)), false);
    }
    for (const family of ["-4", "-6"]) assert.doesNotMatch(await cable.exec("pod", "ip", family, "rule"), /fwmark/);
    for (const family of ["-4", "-6"]) {
      assert.doesNotMatch(await cable.exec("pod", "ip", family, "route", "show", "table", "all"), /local default/);
    }
  }, [kind]);

  packetTest(
    `${kind}: the text of a dry run is taken by iptables-restore, is what a run finds in place, and that of a clean-up ends it`,
    async () => {
      await using cable = await Cable.lay();
      const changes: Changes = {
        inboundPorts: "*",
        outboundRanges: "*",
        captureDns: true,
        dropInvalid: true,
        inboundMode: "TPROXY",
      };
      const run = systemRun({ networkNamespace: cable.pod });
      for (const family of families) {
        const tool = family === 4 ? "iptables" : "ip6tables";
        const text = explainedText(buildRules(configOf(changes), family));
        assert.match(text, /^# /m);
        assert.deepEqual(await run(`${tool}-${kind}-restore`, ["--noflush"], text), {
          code: 0,
          stdout: "",
          stderr: "",
        });
      }
      assert.deepEqual(await applyIn(cable.pod, kind, changes), { 4: "unchanged", 6: "unchanged" });

      const texts = cleanUpText(configOf(changes)).split(/^(?=# IPv)/m);
      for (const [i, family] of families.entries()) {
        const tool = `${family === 4 ? "iptables" : "ip6tables"}-${kind}`;
        assert.equal((await run(`${tool}-restore`, ["--noflush"], texts[i])).stderr, "");
        assert.equal(hasOwnPart(parseListing((await run(`${tool}-save`, [])).stdout)), false);
        const commands = [...(texts[i] ?? "").matchAll(/^# ip (.*)$/gm)].map(([, words]) => (words ?? "").split(" "));
        assert.equal(commands.length, family === 4 ? 2 : 3);
        for (const words of commands) assert.deepEqual((await run("ip", words)).code, 0, words.join(" "));
      }
    },
    [kind],
  );
}
