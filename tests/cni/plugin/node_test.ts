/** The plugin as a process on a node: many pods at once, restarts, refusals, cost. */
import assert from "node:assert/strict";
import { install } from "../../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { lastCalls } from "../../../lib/cni/plugin/calls.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { servePlugin } from "../../../lib/cni/serve/servers.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { Authority } from "../../certificates.ts";
import { must, namespaceTest, run } from "../support/commands.ts";
import { chainedText } from "../support/chained.ts";
import { addressOf, failureOf, type Sandbox, TestNode } from "../support/node.ts";
import { FakeOrch, injectedPod } from "../support/orch.ts";

/** Runs work on a node with our plugin chained. */
async function onNode(work: (node: TestNode, orch: FakeOrch) => Promise<void>, more = {}): Promise<void> {
  await using node = await TestNode.make();
  const orch = new FakeOrch();
  try {
    await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node, "1.0.0", {}, more));
    await node.placePlugin(orch);
    await work(node, orch);
  } finally {
    await orch.stop();
  }
}

/** Runs jobs, some at a time. */
async function inParallel<T>(jobs: readonly (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < jobs.length; i = next++) results[i] = await (jobs[i] as () => Promise<T>)();
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

/** Rules of ours in a namespace. */
async function ownRules(sandbox: Sandbox, tool = "iptables-nft-save"): Promise<number> {
  const listed = await must("nsenter", [`--net=${sandbox.netns}`, tool]);
  return listed.split("\n").filter((line) => line.startsWith("-A MESH_")).length;
}

for (const how of ["the node agent", "the API"] as const) {
  namespaceTest(
    `200 pods at once, asked for by ${how}: every one redirected, none with another's rules, nothing left behind`,
    async () => {
      await onNode(async (node, orch) => {
        const access = { server: orch.address, ca: undefined, token: orch.token };
        const agent = how === "the API"
          ? undefined
          : await servePlugin(`${node.runDir}/log.sock`, silentLog().scope("x"), new RestPods(() => access));
        const sandboxes = await inParallel(
          Array.from({ length: 200 }, (_, i) => () => {
            // Every pod has its own excluded port, to see that rules go to the right pod.
            const annotations = { "traffic.sidecar.mesh.io/excludeInboundPorts": String(20000 + i) };
            const pod = orch.put(injectedPod("load", `p-${i}`, { annotations }));
            return node.sandbox("load", `p-${i}`, pod.metadata.uid);
          }),
          8,
        );
        const began = performance.now();
        const outcomes = await Promise.all(sandboxes.map((sandbox) => node.chain("ADD", sandbox)));
        const took = performance.now() - began;
        assert.deepEqual(outcomes.filter((outcome) => !outcome.ok), []);
        await agent?.close();
        const listed = await inParallel(
          sandboxes.map((sandbox) => () =>
            must("nsenter", [`--net=${sandbox.netns}`, "iptables-nft-save", "-t", "nat"])
          ),
          8,
        );
        listed.forEach((text, i) => {
          const marks = [...text.matchAll(/--dport (20\d\d\d) /g)].map((match) => Number(match[1]));
          assert.deepEqual(marks, [20000 + i]);
        });
        const names = [...Deno.readDirSync(node.runDir)].map((entry) => entry.name).toSorted();
        assert.deepEqual(names, ["calls.jsonl", "known-facts.json", "mesh-cni-orchconfig"]);
        const rows = lastCalls(node.runDir, 1000);
        assert.equal(rows.length, 200);
        assert(rows.every((row) => row.code === 0 && row.command === "ADD"));
        if (Deno.env.get("MESH_SHOW_NUMBERS") !== undefined) {
          console.log(`200 ADDs of a chain at once: ${(took / 1000).toFixed(1)} s`);
        }
      });
    },
  );
}

namespaceTest(
  "a runtime that restarts and calls again finds all in order, and drift is reported and repaired",
  async () => {
    await onNode(async (node, orch) => {
      const pod = orch.put(injectedPod("shop", "cart-0"));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      const added = await node.chain("ADD", sandbox);
      assert(added.ok);
      const rules = await ownRules(sandbox);
      assert(rules > 10);
      const list = node.chosen();
      const plugin = { ...list?.plugins.at(-1), cniVersion: "1.0.0", name: "testnet", prevResult: added.result };
      assert.equal((await node.call("ADD", plugin, sandbox)).code, 0, "a second time");
      assert.equal(await ownRules(sandbox), rules);
      assert.equal((await node.call("CHECK", plugin, sandbox)).code, 0);
      await must("nsenter", [`--net=${sandbox.netns}`, "iptables-nft", "-t", "nat", "-F", "MESH_OUTPUT"]);
      const checked = await node.call("CHECK", plugin, sandbox);
      assert.deepEqual([checked.code, failureOf(checked).code], [1, 103]);
      assert.match(failureOf(checked).details ?? "", /IPv4: nat: rule 1 of MESH_OUTPUT is missing/);
      assert.equal((await node.call("ADD", plugin, sandbox)).code, 0, "mended");
      assert.equal(await ownRules(sandbox), rules);
      assert.equal((await node.call("DEL", plugin, sandbox)).code, 0);
      assert.equal((await node.call("DEL", plugin, { ...sandbox, netns: "" })).code, 0, "DEL without a namespace");
    });
  },
);

namespaceTest(
  "CHECK reports missing routing, without which marked packets are lost; ADD restores it",
  async () => {
    await onNode(async (node, orch) => {
      const annotations = { "sidecar.istio.io/interceptionMode": "TPROXY" };
      const pod = orch.put(injectedPod("shop", "cart-0", { annotations }));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      const added = await node.chain("ADD", sandbox);
      assert(added.ok);
      const list = node.chosen();
      const plugin = { ...list?.plugins.at(-1), cniVersion: "1.0.0", name: "testnet", prevResult: added.result };
      assert.equal((await node.call("CHECK", plugin, sandbox)).code, 0);
      await must("nsenter", [`--net=${sandbox.netns}`, "ip", "rule", "del", "fwmark", "1337"]);
      const checked = await node.call("CHECK", plugin, sandbox);
      assert.equal(checked.code, 1);
      assert.match(failureOf(checked).details ?? "", /IPv4: routing is not there: ip -4 rule add fwmark 1337 /);
      assert.equal((await node.call("ADD", plugin, sandbox)).code, 0, "mended");
      assert.equal((await node.call("CHECK", plugin, sandbox)).code, 0);
    });
  },
);

namespaceTest(
  "fail closed: an injected pod that cannot be configured ends without network; it gets one once it can",
  async () => {
    await onNode(async (node, orch) => {
      const annotations = { "traffic.sidecar.mesh.io/excludeInboundPorts": "80;reboot" };
      const pod = orch.put(injectedPod("shop", "bad-0", { annotations }));
      const sandbox = await node.sandbox("shop", "bad-0", pod.metadata.uid);
      const refused = await node.chain("ADD", sandbox);
      assert(!refused.ok);
      assert.deepEqual([refused.plugin, refused.error.code], ["mesh-cni", 100]);
      assert.equal(await ownRules(sandbox), 0);
      // Like a runtime after a failed network of a pod.
      assert((await node.chain("DEL", sandbox)).ok);
      const links = await must("nsenter", [`--net=${sandbox.netns}`, "ip", "-o", "link"]);
      assert.doesNotMatch(links, /eth0/);
      const [row] = lastCalls(node.runDir, 1);
      assert.equal(lastCalls(node.runDir, 2)[0]?.code, 100);
      assert.equal(row?.command, "DEL");
      orch.put({ ...pod, metadata: { ...pod.metadata, annotations: { "sidecar.mesh.io/status": "{}" } } });
      assert((await node.chain("ADD", sandbox)).ok);
      assert(await ownRules(sandbox) > 10);
    });
  },
);

namespaceTest(
  "fail closed: without credentials or an orchestrator no injected pod starts, but the node agent's does",
  async () => {
    await onNode(async (node) => {
      await Deno.remove(`${node.runDir}/mesh-cni-orchconfig`);
      const refused = await node.chain("ADD", await node.sandbox("shop", "cart-0"));
      assert(!refused.ok);
      assert.deepEqual([refused.error.code, refused.error.msg], [
        11,
        "the node has no credentials for the orchestrator yet",
      ]);
      const entry = { pod_namespace: "mesh-system", agent_pods: "mesh-cni-node-" };
      await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node, "1.0.0", entry));
      assert((await node.chain("ADD", await node.sandbox("mesh-system", "mesh-cni-node-x1y2z"))).ok);
    });
  },
);

namespaceTest("a namespace of another pod is refused: no rules, no identity of another", async () => {
  await onNode(async (node, orch) => {
    const pods = ["a-0", "b-0"].map((name) => orch.put(injectedPod("shop", name)));
    const [a, b] = [await node.sandbox("shop", "a-0", pods[0].metadata.uid), await node.sandbox("shop", "b-0")];
    const list = node.chosen();
    const [bridge, , ours] = list?.plugins ?? [];
    const config = (plugin: unknown, more = {}) => ({
      ...(plugin as object),
      cniVersion: "1.0.0",
      name: "testnet",
      ...more,
    });
    const prevResult = JSON.parse((await node.call("ADD", config(bridge), a)).out);
    const crossed = await node.call("ADD", config(ours, { prevResult }), { ...a, netns: b.netns });
    assert.deepEqual(failureOf(crossed).code, 101);
    assert.match(failureOf(crossed).details ?? "", new RegExp(`lacks ${addressOf(prevResult)}`));
    assert.equal(await ownRules(b), 0);
    const own = await node.call("ADD", config(ours, { prevResult }), { ...a, netns: "/proc/self/ns/net" });
    assert.equal(failureOf(own).code, 101);
    const gone = await node.call("ADD", config(ours, { prevResult }), { ...a, netns: "/run/netns/mcni-none" });
    assert.deepEqual([failureOf(gone).code, /cannot be entered/.test(failureOf(gone).msg)], [5, true]);
  });
});

namespaceTest("dual stack: IPv6 goes through the proxy too", async () => {
  await onNode(async (node, orch) => {
    const pod = orch.put(injectedPod("shop", "cart-0"));
    const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
    const added = await node.chain("ADD", sandbox);
    assert(added.ok, JSON.stringify(added));
    const address = addressOf(added.result, 6);
    assert.match(address, /^fd77::/);
    await node.answer("app", [8080], sandbox.netns, 1000);
    await node.answer("inbound", [15006], sandbox.netns, 1337);
    assert.equal(await node.ask(address, 8080), "inbound");
    assert(await ownRules(sandbox, "ip6tables-nft-save") > 10);
  }, { ipv6: true });
});

namespaceTest("the legacy back end is found and used; the pod's lock leaves no file", async () => {
  if ((await run("iptables-legacy-save", [])).code !== 0) return;
  await onNode(async (node, orch) => {
    const pod = orch.put(injectedPod("shop", "cart-0"));
    const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
    const legacy = ["iptables-legacy", "-w", "-t", "nat", "-A", "POSTROUTING", "-j", "RETURN"];
    await must("nsenter", [`--net=${sandbox.netns}`, ...legacy]);
    const added = await node.chain("ADD", sandbox);
    assert(added.ok, JSON.stringify(added));
    assert(await ownRules(sandbox, "iptables-legacy-save") > 10);
    await node.answer("inbound", [15006], sandbox.netns, 1337);
    assert.equal(await node.ask(addressOf(added.result), 8080), "inbound");
  });
});

namespaceTest("a full run folder costs the record of the call, not the pod", async () => {
  await onNode(async (node, orch) => {
    const full = `${node.dir}/full`;
    await Deno.mkdir(full);
    await must("mount", ["-t", "tmpfs", "-o", "size=16k", "mcni", full]);
    try {
      await Deno.copyFile(`${node.runDir}/mesh-cni-orchconfig`, `${full}/mesh-cni-orchconfig`);
      await Deno.writeFile(`${full}/fill`, new Uint8Array(64 * 1024)).catch(() => {});
      await Deno.writeTextFile(
        `${node.netDir}/10-test.conflist`,
        chainedText(node, "1.0.0", { cni_agent_run_dir: full }),
      );
      const pod = orch.put(injectedPod("shop", "cart-0"));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      assert((await node.chain("ADD", sandbox)).ok);
      assert(await ownRules(sandbox) > 10);
    } finally {
      await must("umount", ["--lazy", full]);
    }
  });
});

namespaceTest(
  "the orchestrator over TLS: its CA is checked, unless that was switched off; memory stays under 80 MB",
  async () => {
    const [authority, other] = [await Authority.make("orchestrator"), await Authority.make("other")];
    const { certificate: cert, key } = await authority.sign("api", 2, [["IP", "127.0.0.1"]]);
    await using node = await TestNode.make();
    const orch = new FakeOrch({ cert, key });
    try {
      await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node));
      const add = async (name: string, access: { ca?: string }) => {
        await node.placePlugin(orch, access);
        const pod = orch.put(injectedPod("shop", name));
        return await node.chain("ADD", await node.sandbox("shop", name, pod.metadata.uid));
      };
      assert((await add("good", { ca: authority.certificate })).ok);
      assert((await add("unchecked", {})).ok);
      const refused = await add("other-ca", { ca: other.certificate });
      assert(!refused.ok);
      assert.match(refused.error.details ?? "", /invalid peer certificate/);
      await node.placePlugin(orch, { ca: authority.certificate });
      const costs = await measured(node, orch, 5);
      const largest = Math.max(...costs.map((cost) => cost.kilobytes));
      assert(largest < 80 * 1024, `${largest} KB`);
      if (Deno.env.get("MESH_SHOW_NUMBERS") !== undefined) console.log("cost of an ADD:", JSON.stringify(costs));
    } finally {
      await orch.stop();
      await Promise.all([authority.remove(), other.remove()]);
    }
  },
);

/** The cost of some ADDs, each for a new pod, children included: seconds and kilobytes by the command `time`. */
async function measured(node: TestNode, orch: FakeOrch, count: number) {
  const [bridge, , ours] = node.chosen()?.plugins ?? [];
  const costs: { wall: number; cpu: number; kilobytes: number }[] = [];
  for (let i = 0; i < count; i++) {
    const pod = orch.put(injectedPod("cost", `p-${i}`));
    const sandbox = await node.sandbox("cost", `p-${i}`, pod.metadata.uid);
    const base = { cniVersion: "1.0.0", name: "testnet" };
    const prevResult = JSON.parse((await node.call("ADD", { ...bridge, ...base }, sandbox)).out);
    const timed = await node.callBy(["/usr/bin/time", "-q", "-f", "%e %U %S %M"], "ADD", {
      ...ours,
      ...base,
      prevResult,
    }, sandbox);
    assert.equal(timed.code, 0, timed.out);
    const [wall = 0, user = 0, system = 0, kilobytes = 0] = timed.err.trim().split(" ").map(Number);
    costs.push({ wall, cpu: Math.round((user + system) * 100) / 100, kilobytes });
  }
  return costs;
}

namespaceTest(
  "the runtime calls the plugin that the installer put on the node: from an empty node to a redirected pod",
  async () => {
    await using node = await TestNode.make();
    const orch = new FakeOrch();
    try {
      await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, node.primary());
      await node.placePlugin(orch);
      const launcher = await Deno.readTextFile(`${node.binDir}/mesh-cni`);
      const orchConfig = await Deno.readTextFile(`${node.runDir}/mesh-cni-orchconfig`);
      const folders = { net: node.netDir, bin: node.binDir, run: node.runDir };
      install(
        folders,
        {
          placement: "owned",
          confName: undefined,
          ownedName: "02-mesh-cni.conflist",
          entry: { name: "mesh-cni", type: "mesh-cni", cni_agent_run_dir: node.runDir },
          executable: { script: launcher },
          orchConfig,
          orchConfigMode: 0o600,
          version: "1",
          installer: "x",
        },
        systemFileCalls,
        Date.now,
      );
      assert.equal(node.chosen()?.file, "02-mesh-cni.conflist");
      const pod = orch.put(injectedPod("shop", "cart-0"));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      const added = await node.chain("ADD", sandbox);
      assert(added.ok, JSON.stringify(added));
      assert(await ownRules(sandbox) > 10);
    } finally {
      await orch.stop();
    }
  },
);
