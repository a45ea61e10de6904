/** The ambient node agent with real network namespaces, the real socket process, and a stand-in for the API. */
import assert from "node:assert/strict";
import { podRules } from "../../../lib/cni/ambient/pod_rules.ts";
import { families } from "../../../lib/iptables/model/names.ts";
import { until } from "../../patience.ts";
import { ambient, rules, withNode } from "../support/ambient_node.ts";
import { must, namespaceTest } from "../support/commands.ts";
import { PRIMARY } from "../support/place.ts";
import { text } from "../support/service.ts";

namespaceTest(
  "a running pod of an ambient namespace gets rules, tunnel, probes and annotation, and loses them with the label",
  async () => {
    await withNode(async (node) => {
      const { netns, address } = await node.pod("cart");
      await node.untilAnnotated("cart", "pending");
      assert.deepEqual(await node.drift(netns), []);
      await node.tunnels.connect("t", node.socket);
      await node.tunnels.until("t", "add uid-cart", "snapshot");
      await node.untilAnnotated("cart", "enabled");
      assert.match(await node.probed(), new RegExp(`${address} comment "uid-cart"`));
      await until("the annotation is known", async () => (await node.doctor("cart"))[1] === "captured");
      await until("the doctor sees what the kernel exempts", async () => {
        // The agent restores the set in its next round.
        await must("ip", ["netns", "exec", node.host, "nft", "flush", "set", "ip", "mesh-probes", "pods"]);
        const [code, , text] = await node.doctor("cart");
        return code === 1 && text.includes(`the node's probes of ${address} are not exempted`);
      });
      assert.deepEqual(await node.service.metric("ztunnel_connected"), ["ztunnel_connected 1"]);
      node.service.orch.label("shop", {});
      await node.tunnels.until("t", "del uid-cart");
      await node.untilAnnotated("cart", undefined);
      assert.doesNotMatch(await must("ip", ["netns", "exec", netns.split("/").at(-1)!, "iptables-nft-save"]), /MESH/);
      assert.doesNotMatch(await node.probed(), /uid-cart/);
      assert.match((await node.service.metric("nodeagent_reconcile_events_total")).join(), /type="add"/);
    });
  },
);

namespaceTest(
  "a starting pod is captured before its plugin returns, and refused without a tunnel or with another's namespace",
  async () => {
    await withNode(async (node) => {
      const { netns, address } = await node.namespace();
      node.put("cart", undefined);
      await until("the agent serves", async () => (await node.service.page("/readyz"))[0] === 200);
      await assert.rejects(node.started("cart", netns, address), /^Error: no node tunnel took the pod: no tunnel$/);
      await node.tunnels.connect("t", node.socket);
      await node.tunnels.until("t", "snapshot");
      await assert.rejects(node.started("cart", netns, "10.1.1.1"), /lacks 10\.1\.1\.1: it is not the pod's/);
      await assert.rejects(node.started("none", netns, address), /there is no such pod/);
      await assert.rejects(node.started("cart", netns, address, "other"), /has uid uid-cart, not other/);
      assert.deepEqual(node.tunnels.messages("t").map(({ said }) => said), ["snapshot"]);
      await node.started("cart", netns, address);
      assert.deepEqual(await node.drift(netns), []);
      await node.tunnels.until("t", "add uid-cart");
      await node.untilAnnotated("cart", "enabled");
      assert.match(await node.probed(), /uid-cart/);
      node.service.orch.drop("shop/cart");
      await node.tunnels.until("t", "del uid-cart");
      await until("the exemption ends", async () => !(await node.probed()).includes("uid-cart"));
    });
  },
);

namespaceTest(
  "rules count, not the annotation: flushed rules, a new namespace after a reboot, and a changed set come back",
  async () => {
    await withNode(async (node) => {
      await node.tunnels.connect("t", node.socket);
      // As after a reboot: the annotation is there, the rules are not.
      const { netns, address } = await node.pod("cart", { annotations: { "ambient.istio.io/redirection": "enabled" } });
      await node.tunnels.until("t", "add uid-cart");
      await node.untilAnnotated("cart", "enabled");
      assert.equal(
        node.service.orch.pods.get("shop/cart").metadata.annotations["ambient.istio.io/redirection"],
        undefined,
      );
      assert.deepEqual(await node.drift(netns), []);
      const name = netns.split("/").at(-1)!;
      // The second flush comes in the same second as the rules that the first brought back.
      for (const tool of ["iptables-nft", "ip6tables-nft"]) {
        await must("ip", ["netns", "exec", name, tool, "-t", "nat", "-F"]);
        await must("ip", ["netns", "exec", node.host, "nft", "flush", "ruleset"]);
        await until("the rules are back", async () => (await node.drift(netns)).length === 0, 100);
      }
      await until("the exemption is back", async () => (await node.probed()).includes("uid-cart"), 500);
      await must("ip", ["netns", "del", name]);
      const again = await node.namespace(address);
      await node.tunnels.until("t", "add uid-cart", "add uid-cart");
      assert.deepEqual(await node.drift(again.netns), []);
      await node.untilAnnotated("cart", "enabled");
    });
  },
);

namespaceTest(
  "sidecars, the node's network, excluded and other namespaces stay out; an ended pod is forgotten",
  async () => {
    await withNode(async (node) => {
      await node.tunnels.connect("t", node.socket);
      await node.tunnels.until("t", "snapshot");
      const out = await node.pod("sidecar", { annotations: { "sidecar.istio.io/status": "{}" } });
      node.put("host", "10.1.1.1", { spec: { hostNetwork: true } });
      const { address } = await node.pod("cart", { labels: { "istio.io/dataplane-mode": "foo" } });
      await node.tunnels.until("t", "snapshot", "add uid-cart");
      assert.notDeepEqual(await node.drift(out.netns), []);
      assert.equal(node.annotation("sidecar"), undefined);
      node.put("cart", address, { phase: "Succeeded" });
      await node.tunnels.until("t", "del uid-cart");
    });
  },
);

namespaceTest(
  "a pod that cannot be captured has an event with the reason, once, and is captured when it can be",
  async () => {
    await withNode(async (node) => {
      const { orch } = node.service;
      const address = node.address();
      node.put("cart", address, { annotations: { "ambient.mesh.io/redirection": "enabled" } });
      const reported = () =>
        orch.events.filter(({ reason }) => reason === "AmbientRedirection").map(({ message }) => message);
      await until("an event", () => reported().length > 0);
      await until("the agent tries again", async () => {
        const [count] = await node.service.metric('nodeagent_reconcile_events_total{type="update"}');
        return Number(count?.split(" ").at(-1) ?? 0) >= 4;
      });
      assert.equal(reported().length, 1);
      assert.match(reported()[0], /no network namespace in .* has the pod's addresses/);
      assert.equal(node.annotation("cart"), "enabled", "no peer sends plain text to a pod that was captured");
      const { netns } = await node.namespace(address);
      await node.tunnels.connect("t", node.socket);
      await until("the rules are in place", async () => (await node.drift(netns)).length === 0);
    });
  },
);

namespaceTest("an agent that starts again never takes the exemption of probes away", async () => {
  await withNode(async (node) => {
    await node.tunnels.connect("t", node.socket);
    const { address } = await node.pod("cart");
    await node.untilAnnotated("cart", "enabled");
    const table = async () =>
      await must("ip", ["netns", "exec", node.host, "nft", "-a", "list", "table", "ip", "mesh-probes"]);
    const before = await table();
    assert.match(before, new RegExp(`${address} comment "uid-cart"`));
    await withNode(
      async (next) => {
        await until("the next agent is ready", async () => (await next.service.page("/readyz"))[0] === 200);
        // The same handles: the table was not written again.
        assert.equal(await table(), before);
      },
      (orch) => {
        orch.label("shop", ambient);
        for (const pod of node.service.orch.pods.values()) orch.put(pod);
      },
      {},
      node.host,
    );
  });
});

const daemonSet = {
  metadata: {
    ...{ namespace: "mesh-system", name: "mesh-cni-node-aaaaa" },
    ownerReferences: [{ kind: "DaemonSet", name: "mesh-cni-node", uid: "set-1" }],
  },
};

/** The ends of an agent: of which set, by which setting, and what stays beside the rules in pods. */
const ENDS = [
  ["an upgrade", { stays: true, leavesForGood: false }, "plugin and exemption stay"],
  ["the removal of its daemon set", { stays: false, leavesForGood: false }, "plugin and exemption go"],
  ["any end with AMBIENT_DISABLE_SAFE_UPGRADE", { stays: true, leavesForGood: true }, "plugin and exemption go"],
] as const;

for (const [end, { stays, leavesForGood }, effect] of ENDS) {
  namespaceTest(`at ${end} the ${effect}; the rules in pods and the annotation stay`, async () => {
    await withNode(
      async (node) => {
        const { orch, place, kernel } = node.service;
        orch.put(daemonSet);
        if (stays) orch.daemonSets.set("mesh-system/mesh-cni-node", { metadata: { uid: "set-1" } });
        await node.tunnels.connect("t", node.socket);
        const { netns } = await node.pod("cart");
        await node.untilAnnotated("cart", "enabled");
        await until("the plugin is installed", () => text(place) !== PRIMARY);
        assert.match(await node.probed(), /uid-cart/);
        await kernel.stopper.stop();
        const isSafe = effect === "plugin and exemption stay";
        assert.equal(text(place) !== PRIMARY, isSafe, "the plugin");
        assert.equal((await node.probed()).includes("uid-cart"), isSafe, "the exemption of probes");
        assert.deepEqual(await node.drift(netns), []);
        assert.equal(node.annotation("cart"), "enabled");
      },
      undefined,
      { leavesForGood },
    );
  });
}

Deno.test("annotations change the rules of a pod, in either spelling; a wrong one is reported and ignored", () => {
  const of = (annotations: Record<string, string>) => podRules({ annotations }, rules);
  const { config, warnings } = of({
    "ambient.mesh.io/bypass-inbound-capture": "true",
    "ambient.istio.io/dns-capture": "F",
    "istio.io/reroute-virtual-interfaces": "vm0, net+",
  });
  assert.deepEqual([config.capturesInbound, config.capturesDns, config.virtualInterfaces], [false, false, [
    "vm0",
    "net+",
  ]]);
  assert.deepEqual([config.families, warnings], [families, []]);
  const wrong = of({ "ambient.istio.io/dns-capture": "yes", "mesh.io/reroute-virtual-interfaces": "a -j ACCEPT" });
  assert.deepEqual([wrong.config.capturesDns, wrong.config.virtualInterfaces], [true, []]);
  assert.deepEqual(wrong.warnings.length, 2);
});
