import assert from "node:assert/strict";
import { data, missing, Namespace, type NamespaceOptions, sh } from "./support/namespace.ts";

const giant = Array.from({ length: 40 }, (_, i) => `240.0.0.${i}`);
/** A single attempt: a question that waits for a timeout fails, instead of being asked again. */
const search = "search ns1.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5 attempts:1\n";

/**
 * A machine without redirection: the server is the machine's only name server, and another name server is behind it.
 */
const direct: NamespaceOptions = {
  address: "127.0.0.1:53",
  resolvConf: `nameserver 127.0.0.1\n${search}`,
  behind: `nameserver 127.0.0.2\n${search}`,
  zone: { "www.bing.com": ["4.4.4.4"], "giant.example": giant, "broken.example": "SERVFAIL" },
};

const v6 = "2001:db8::ff00:42:8329";
/** A program's question (0: both families), and the required addresses and canonical name. */
const rows: [family: 0 | 4 | 6, name: string, addresses: string[], canonical?: string][] = [
  [0, "productpage", ["9.9.9.9"], "productpage.ns1.svc.cluster.local"],
  [4, "productpage", ["9.9.9.9"], "productpage.ns1.svc.cluster.local"],
  [0, "productpage.ns1", ["9.9.9.9"], "productpage.ns1"],
  [0, "productpage.ns1.svc", ["9.9.9.9"], "productpage.ns1.svc"],
  [0, "productpage.ns1.svc.cluster.local", ["9.9.9.9"], "productpage.ns1.svc.cluster.local"],
  [0, "productpage.ns1.svc.cluster.local.", ["9.9.9.9"]],
  [0, "PRODUCTPAGE", ["9.9.9.9"]],
  [6, "productpage", []],
  [0, "example.ns2", ["10.10.10.10"], "example.ns2"],
  [0, "example", []],
  [0, "details.ns2.svc.cluster.remote", ["11.11.11.11", "12.12.12.12", "13.13.13.13", "14.14.14.14"]],
  [0, "mysql", ["10.44.0.1", "10.44.0.2", "10.44.0.3"]],
  [0, "mysql-0.mysql", ["10.44.0.1"]],
  [0, "svc-with-alt.ns1.svc.clusterset.local", ["15.15.15.15"]],
  [0, "www.google.com", ["1.1.1.1"], "www.google.com"],
  [4, "www.google.com", ["1.1.1.1"], "www.google.com"],
  [0, "foo.wildcard", ["10.10.10.10", "10.10.10.11"], "foo.wildcard"],
  [4, "foo.wildcard", ["10.10.10.10", "10.10.10.11"], "foo.wildcard"],
  [0, "a.b.wildcard", ["11.11.11.11"], "a.b.wildcard"],
  [0, "foo.foons.svc.mesh.company.net", ["10.1.2.3"], "foo.foons.svc.mesh.company.net"],
  [0, "allocated.external.example", ["2001:2::7", "240.240.0.7"], "allocated.external.example"],
  [6, "allocated.external.example", ["2001:2::7"], "allocated.external.example"],
  [0, "dual.localhost", ["2.2.2.2", v6]],
  [6, "ipv6.localhost", [v6]],
  [0, "ipv6.localhost", [v6]],
  [0, "www.bing.com", ["4.4.4.4"], "www.bing.com"],
  [0, "no.such.example", []],
];

/** Runs the table through a program that reads questions line by line. */
async function table(t: Deno.TestContext, namespace: Namespace, command: string, args: readonly string[] = []) {
  const input = rows.map(([family, name]) => `${family} ${name}\n`).join("");
  const lines = (await namespace.run(command, args, input)).trimEnd().split("\n");
  for (const [i, [family, name, addresses, canonical]] of rows.entries()) {
    await t.step(`${name}${family === 0 ? "" : ` IPv${family}`}`, () => {
      const [left = "", right] = lines[i]!.split("|");
      const got = left.trim().split(" ").sort();
      if (addresses.length === 0) return assert.equal(lines[i], "none | no such name");
      assert.deepEqual(got, [...addresses].sort());
      if (canonical !== undefined) assert.equal(right?.trim(), canonical);
    });
  }
}

/** A test with a need of root and programs. On other machines the test is ignored, with the reason in its name. */
function needs(commands: readonly string[], name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const reason = missing(["ip", ...commands]);
  Deno.test({ name: reason === undefined ? name : `${name} (ignored: ${reason})`, ignore: reason !== undefined, fn });
}

for (const [library, compiler] of [["glibc", "gcc"], ["musl", "musl-gcc"]] as const) {
  needs([compiler], `programs that are linked with ${library} find every name, and nothing else`, async (t) => {
    const program = await Deno.makeTempFile();
    await sh(compiler, ["-O1", ...(library === "musl" ? ["-static"] : []), "-o", program, data.c]);
    await Deno.chmod(program, 0o755);
    await using namespace = await Namespace.make(direct);
    await table(t, namespace, program);
    await t.step("a large answer: complete if the library asks again over TCP, else cut off", async () => {
      const [left = ""] = (await namespace.run(program, [], "4 giant.example\n")).split("|");
      const got = left.trim().split(" ");
      // musl asks over TCP from 1.2.4 on; before, musl takes the addresses within 512 bytes.
      assert.ok(library === "glibc" ? got.length === 40 : got.length > 10, `${got.length} addresses`);
    });
    await t.step("a failing name server is a failure that may pass, not a name that does not exist", async () => {
      assert.match(await namespace.run(program, [], "4 broken.example.\n"), /^none \| again/);
    });
    await Deno.remove(program);
  });
}

needs(["python3"], "Python finds every name, and nothing else", async (t) => {
  await using namespace = await Namespace.make(direct);
  await table(t, namespace, "python3", [data.python]);
});

needs(["getent"], "getent finds names of all sorts", async () => {
  await using namespace = await Namespace.make(direct);
  const get = async (database: string, name: string) =>
    (await namespace.run("getent", [database, name])).trim().split("\n").map((line) => line.split(/\s+/)[0]).sort();
  assert.deepEqual([...new Set(await get("ahosts", "mysql"))], ["10.44.0.1", "10.44.0.2", "10.44.0.3"]);
  assert.deepEqual(await get("hosts", "www.google.com"), ["1.1.1.1"]);
  assert.deepEqual([...new Set(await get("ahostsv4", "foo.wildcard"))], ["10.10.10.10", "10.10.10.11"]);
  assert.deepEqual([...new Set(await get("ahostsv6", "ipv6.localhost"))], [v6]);
  assert.deepEqual([...new Set(await get("ahosts", "www.bing.com"))], ["4.4.4.4"]);
  await assert.rejects(get("hosts", "no.such.example"));
});

needs(
  ["iptables", "dig"],
  "redirection that catches the server's own questions is recognized, instead of asking in a circle",
  async () => {
    const options = { ...direct, address: "localhost:15053", resolvConf: `nameserver 127.0.0.2\n${search}` };
    await using namespace = await Namespace.make(options, async (name) => {
      for (const protocol of ["udp", "tcp"]) {
        const rule = [
          "-t",
          "nat",
          "-A",
          "OUTPUT",
          "-p",
          protocol,
          "--dport",
          "53",
          "-j",
          "REDIRECT",
          "--to-ports",
          "15053",
        ];
        await sh("ip", ["netns", "exec", name, "iptables", ...rule]);
      }
    });
    // Less patience than the server's deadline of 4.5 s: an answer proves that no timeout passed.
    const dig = (...args: string[]) => namespace.run("dig", ["+tries=1", "+time=4", ...args]);
    assert.match(await dig("productpage.ns1"), /productpage\.ns1\.\s+30\s+IN\s+A\s+9\.9\.9\.9/);
    for (const transport of ["+notcp", "+tcp"]) {
      assert.match(await dig(transport, "www.bing.com"), /status: SERVFAIL/);
    }
  },
);
