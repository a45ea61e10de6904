/** Namespaces of running pods by their addresses. */
import assert from "node:assert/strict";
import { looksInside } from "../../../lib/cni/ambient/look_inside.ts";
import { type NamespaceFacts, Namespaces } from "../../../lib/cni/ambient/namespaces.ts";
import { identityOf } from "../../../lib/cni/node/namespace_identity.ts";
import { knownFacts } from "../../../lib/cni/plugin/system_redirector.ts";
import { must, namespaceTest, run } from "../support/commands.ts";

namespaceTest(
  "real namespaces are looked into together; one that cannot be entered is left out",
  async () => {
    const name = `nst-${crypto.randomUUID().slice(0, 8)}`;
    await must("ip", ["netns", "add", name]);
    try {
      await must("ip", ["-n", name, "link", "set", "lo", "up"]);
      const mark = ["fwmark", "0x111/0xfff", "pref", "32764", "lookup", "100", "protocol", "137"];
      for (const family of ["-4", "-6"]) {
        await must("ip", ["-n", name, family, "rule", "add", ...mark]);
        const all = family === "-4" ? "0.0.0.0/0" : "::/0";
        await must("ip", ["-n", name, family, "route", "add", "local", all, "dev", "lo", "table", "100"]);
      }
      const netns = `/run/netns/${name}`;
      const found = await looksInside(knownFacts(undefined))([
        { netns, identity: identityOf(netns)! },
        { netns: "/run/netns/none-such", identity: "1:1" },
      ]);
      assert.deepEqual([...found.keys()], [netns]);
      const { addresses, isNode, answers } = found.get(netns)!;
      assert.deepEqual([addresses, isNode], [new Set(["127.0.0.1", "[::1]"]), false]);
      // The answers are those of single commands.
      const inside = async (...words: string[]) => await must("ip", ["netns", "exec", name, ...words]);
      for (
        const line of ["ip -N -4 rule show", "ip -N -6 rule show", "ip -6 route show table 100", "iptables-nft-save"]
      ) {
        const meaning = (text: string) =>
          text.split("\n").filter((row) => !row.startsWith("#")).map((row) =>
            row.replace(/lookup \S+/, "lookup").trimEnd()
          );
        assert.deepEqual(meaning(answers!.get(line)!.stdout), meaning(await inside(...line.split(" "))), line);
      }
    } finally {
      await run("ip", ["netns", "del", name]);
    }
  },
);

Deno.test("pods that are sought together share a look; an unknown address has all looked into again; two owners are none", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "nst-" });
  try {
    const address: Record<string, string> = { a: "10.0.0.1", b: "10.0.0.2", node: "10.0.0.9" };
    for (const name of Object.keys(address)) Deno.writeTextFileSync(`${folder}/${name}`, "");
    const looks: number[] = [];
    const namespaces = new Namespaces(folder, (places) => {
      looks.push(places.length);
      return Promise.resolve(
        new Map(places.map(({ netns }): [string, NamespaceFacts] => {
          const name = netns.split("/").at(-1)!;
          return [netns, { addresses: new Set([address[name]!]), isNode: name === "node" }];
        })),
      );
    }, () => 0);
    const both = await Promise.all(["10.0.0.1", "10.0.0.2"].map((one) => namespaces.find([one])));
    assert.deepEqual(both.map(({ netns }) => netns), [`${folder}/a`, `${folder}/b`]);
    assert.deepEqual(looks, [3]);
    await assert.rejects(namespaces.find(["10.0.0.9"]), /no network namespace .* has the pod's addresses, 10\.0\.0\.9/);
    address["b"] = "10.0.0.1";
    await assert.rejects(namespaces.find(["10.0.0.3"]), /no network namespace/);
    await assert.rejects(namespaces.find(["10.0.0.1"]), /more than one network namespace/);
    await assert.rejects(namespaces.find([]), /no address/);
    // A path that became another namespace is not the namespace that was listed.
    address["b"] = "10.0.0.2";
    assert.equal((await namespaces.find(["10.0.0.2"])).netns, `${folder}/b`);
    const before = looks.length;
    Deno.renameSync(`${folder}/b`, `${folder}/other`);
    Deno.writeTextFileSync(`${folder}/b`, "");
    address["other"] = "10.0.0.5";
    const { identity } = await namespaces.find(["10.0.0.2"]);
    assert.equal(identity, identityOf(`${folder}/b`));
    assert.ok(looks.length > before);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("what was read in a namespace is given out once, and only while it is fresh", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "nst-" });
  try {
    for (const name of ["a", "b"]) Deno.writeTextFileSync(`${folder}/${name}`, "");
    let now = 0;
    const answers = new Map([["ip -o addr show", { code: 0, stdout: "", stderr: "" }]]);
    const look = (places: readonly { readonly netns: string }[]) =>
      Promise.resolve(
        new Map(places.map(({ netns }): [string, NamespaceFacts] => [
          netns,
          { addresses: new Set([`10.0.0.${netns.endsWith("a") ? 1 : 2}`]), isNode: false, answers },
        ])),
      );
    const namespaces = new Namespaces(folder, look, () => now);
    assert.equal((await namespaces.find(["10.0.0.1"])).answers, answers);
    assert.equal((await namespaces.find(["10.0.0.1"])).answers, undefined);
    now = 60_000;
    assert.equal((await namespaces.find(["10.0.0.2"])).answers, undefined);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
