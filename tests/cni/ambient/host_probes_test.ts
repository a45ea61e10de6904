/** The node's exemption of probes: real connections between namespaces, and what is read back. */
import assert from "node:assert/strict";
import { HostProbes, probesText, readProbes } from "../../../lib/cni/ambient/host_probes.ts";
import { podRules } from "../../../lib/cni/ambient/pod_rules.ts";
import { systemKeeper } from "../../../lib/cni/ambient/start.ts";
import { systemRun } from "../../../lib/iptables/run.ts";
import { must, namespaceTest, run } from "../support/commands.ts";

const source = { 4: "169.254.7.127", 6: "fd16:9254:7127:1337:ffff:ffff:ffff:ffff" };

/** A node between a pod and another machine. */
class Machines implements AsyncDisposable {
  readonly #id = crypto.randomUUID().slice(0, 8);
  readonly node = `hp-${this.#id}-n`;
  readonly pod = `hp-${this.#id}-p`;
  readonly other = `hp-${this.#id}-o`;
  readonly probes = new HostProbes(systemRun({ networkNamespace: this.node }), source, true);

  async make(): Promise<this> {
    for (const name of [this.node, this.pod, this.other]) {
      await must("ip", ["netns", "add", name]);
      await must("ip", ["-n", name, "link", "set", "lo", "up"]);
    }
    for (const [name, device, net] of [[this.pod, "p0", 1], [this.other, "o0", 2]] as const) {
      const link = ["link", "add", device, "netns", this.node, "type", "veth", "peer", "name", "eth0", "netns", name];
      await must("ip", link);
      for (const [at, dev, end] of [[this.node, device, 1], [name, "eth0", 2]] as const) {
        await must("ip", ["-n", at, "addr", "add", `10.9.${net}.${end}/24`, "dev", dev]);
        await must("ip", ["-n", at, "addr", "add", `fd09:${net}::${end}/64`, "dev", dev, "nodad"]);
        await must("ip", ["-n", at, "link", "set", dev, "up"]);
      }
      await must("ip", ["-n", name, "route", "add", "default", "via", `10.9.${net}.1`]);
      await must("ip", ["-n", name, "-6", "route", "add", "default", "via", `fd09:${net}::1`]);
    }
    const forward = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"].map((name) => `echo 1 >/proc/sys/net/${name}`);
    await must("ip", ["netns", "exec", this.node, "sh", "-ec", forward.join("\n")]);
    return this;
  }

  /** The source address by which the pod sees a connection. */
  async seen(from: string, address: string): Promise<string> {
    const code = [
      "import socket,subprocess,sys",
      `s=socket.create_server(("${address}",8080),family=socket.AF_INET6 if ":" in "${address}" else socket.AF_INET)`,
      "s.settimeout(60)",
      `dial='import socket; socket.create_connection((\"${address}\",8080),60).recv(9)'`,
      `c=subprocess.Popen(["nsenter","--net=/run/netns/${from}","--","python3","-c",dial])`,
      "k,a=s.accept(); print(a[0]); k.close(); c.wait()",
    ].join("\n");
    return (await must("ip", ["netns", "exec", this.pod, "python3", "-c", code])).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [this.node, this.pod, this.other]) await run("ip", ["netns", "del", name]);
  }
}

namespaceTest(
  "the node's own connections to a pod get the probes' source in both families, forwarded ones keep theirs",
  async () => {
    await using machines = await new Machines().make();
    const { probes, node, other } = machines;
    await probes.put("uid-1", ["10.9.1.2", "[fd09:1::2]"]);
    assert.deepEqual([await machines.seen(node, "10.9.1.2"), await machines.seen(other, "10.9.1.2")], [
      source[4],
      "10.9.2.2",
    ]);
    assert.deepEqual([await machines.seen(node, "fd09:1::2"), await machines.seen(other, "fd09:1::2")], [
      source[6],
      "fd09:2::2",
    ]);
    await probes.drop("uid-1");
    assert.equal(await machines.seen(node, "10.9.1.2"), "10.9.1.1");
  },
);

namespaceTest(
  "a connection like a probe's reaches the pod past the tunnel; without the exemption the tunnel takes it",
  async () => {
    await using machines = await new Machines().make();
    const { probes, node, pod } = machines;
    const nodeRules = { probeSource: source, capturesDns: true, ipv6: true };
    const keeper = systemKeeper({ scopedLock: true, factsFile: undefined });
    await keeper.apply(`/run/netns/${pod}`, podRules({ annotations: {} }, nodeRules), () => {});
    const listen = [
      "import socket,time",
      'for a,f in (("0.0.0.0",socket.AF_INET),("::",socket.AF_INET6)):',
      "  s=socket.socket(f); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)",
      "  if f==socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6,socket.IPV6_V6ONLY,1)",
      "  s.bind((a,15006)); s.listen(9); globals()[a]=s",
      'print("ready",flush=True); time.sleep(600)',
    ].join("\n");
    const tunnel = new Deno.Command("ip", {
      args: ["netns", "exec", pod, "python3", "-c", listen],
      stdout: "piped",
    }).spawn();
    try {
      const reader = tunnel.stdout.getReader();
      assert.match(new TextDecoder().decode((await reader.read()).value), /ready/);
      const probe = new URL("../../../lib/cni/doctor/probe.ts", import.meta.url).href;
      const code = `import { dialPod } from "${probe}";
        console.log(JSON.stringify((await dialPod(["10.9.1.2", "fd09:1::2"])).map(({ outcome }) => outcome)));`;
      const dialled = async () =>
        JSON.parse(await must("ip", ["netns", "exec", node, Deno.execPath(), "eval", "--no-check", code]));
      await probes.put("uid-1", ["10.9.1.2", "fd09:1::2"]);
      assert.deepEqual(await dialled(), ["refused", "refused"]);
      assert.deepEqual(await probes.exempted("uid-1"), ["10.9.1.2", "fd09:1::2"]);
      await must("ip", ["netns", "exec", node, "nft", "delete", "table", "ip", "mesh-probes"]);
      assert.deepEqual(await probes.exempted("uid-1"), ["fd09:1::2"], "the kernel counts, not what was written");
      assert.deepEqual(await dialled(), ["connected", "refused"]);
      await reader.cancel();
    } finally {
      tunnel.kill("SIGKILL");
      await tunnel.status;
    }
  },
);

namespaceTest(
  "a change by others is noticed and undone; a later pod of an address keeps it; everything can be taken away",
  async () => {
    await using machines = await new Machines().make();
    const { probes, node } = machines;
    const list = async () => (await run("ip", ["netns", "exec", node, "nft", "list", "ruleset"])).out;
    assert.equal(await probes.reconcile(), true);
    await probes.put("uid-1", ["10.9.1.2"]);
    await probes.put("uid-2", ["10.9.1.2", "fd09:1::2"]);
    await probes.drop("uid-1");
    assert.deepEqual(probes.of("uid-2"), ["10.9.1.2", "fd09:1::2"]);
    assert.equal(await probes.reconcile(), false);
    const changes = [
      ["delete", "element", "ip", "mesh-probes", "pods", "{ 10.9.1.2 }"],
      ["add", "element", "ip6", "mesh-probes", "pods", "{ fd09:1::9 }"],
      ["flush", "chain", "ip", "mesh-probes", "postrouting"],
      ["delete", "table", "ip6", "mesh-probes"],
    ];
    for (const change of changes) {
      await must("ip", ["netns", "exec", node, "nft", ...change]);
      assert.equal(await probes.reconcile(), true, change.join(" "));
      assert.equal(await probes.reconcile(), false, change.join(" "));
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => probes.put(`many-${i}`, [`10.9.3.${i}`])));
    assert.equal((await list()).match(/many-\d+/g)?.length, 20);
    await probes.remove();
    assert.equal((await list()).trim(), "");
  },
);

Deno.test("a table that is not as written is not read, and no uid can break out of its comment", () => {
  assert.equal(readProbes("{}"), undefined);
  assert.equal(readProbes("no JSON"), undefined);
  assert.match(probesText(4, source[4], new Map([["10.0.0.1", 'a" } evil']])), /10\.0\.0\.1 comment "aevil"/);
});

Deno.test("no set has a key by type, whose trace of nft 1.1 crashes the nft 1.0.6 of a node", () => {
  for (const [family, key] of [[4, "typeof ip daddr"], [6, "typeof ip6 daddr"]] as const) {
    const sets = [...probesText(family, source[family], new Map()).matchAll(/set \w+ \{\n([^}]*)\}/g)];
    assert.deepEqual(sets.map(([, body]) => body!.trim()), [key]);
  }
});
