/** Pods that started without redirection get redirection in place. */
import assert from "node:assert/strict";
import { redirectInPlace, type RepairPlace } from "../../../lib/cni/repair/in_place.ts";
import type { RepairOptions } from "../../../lib/cni/repair/broken.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { link, namespaceTest } from "../support/commands.ts";
import { addressOf, TestNode } from "../support/node.ts";
import { type ApiObject, injectedPod } from "../support/orch.ts";
import { withService } from "../support/service.ts";
import { until } from "../../patience.ts";

/** A folder with namespaces: each name, and the output of `ip -o addr show` there; undefined: cannot be entered. */
async function withPlace(
  namespaces: Readonly<Record<string, string | undefined>>,
  work: (place: RepairPlace, applied: string[]) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "netns-" });
  const applied: string[] = [];
  let open = 0;
  const nameOf = (path: string) => path.slice(folder.length + 1);
  const place: RepairPlace = {
    namespaces: folder,
    excludeNamespaces: ["kept"],
    redirector: () => {
      open++;
      return {
        look: (path) => {
          const addresses = namespaces[nameOf(path)];
          if (addresses === undefined) return Promise.reject(new Error("no such namespace"));
          return Promise.resolve({ addresses, isNode: nameOf(path) === "node" });
        },
        apply: (path, { config }) => {
          applied.push(`${nameOf(path)} ${config.proxyPort}`);
          return Promise.resolve("IPv4 applied");
        },
        check: () => assert.fail("nothing is compared"),
        obstacles: () => assert.fail("nothing is asked"),
        end: () => Promise.resolve(void open--),
      };
    },
  };
  try {
    for (const name of Object.keys(namespaces)) await Deno.writeTextFile(`${folder}/${name}`, "");
    await work(place, applied);
    assert.equal(open, 0, "each redirector has ended");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const addresses = (...list: string[]) =>
  ["127.0.0.1/8", ...list].map((a, i) => `${i}: eth0    ${a.includes(":") ? "inet6" : "inet"} ${a} scope global`).join(
    "\n",
  );

/** An injected pod with addresses. */
function pod(more: ApiObject = {}, ips: readonly string[] = ["10.1.0.7", "fd00::7"], namespace = "shop") {
  const made = injectedPod(namespace, "cart-0", more);
  return readPod({ ...made, status: { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) } });
}

Deno.test("the rules go into the one namespace that has all addresses of the pod", () =>
  withPlace({
    other: addresses("10.1.0.70/24", "fd00::70/64"),
    half: addresses("10.1.0.7/24"),
    node: addresses("10.1.0.7/24", "fd00::7/64"),
    gone: undefined,
    right: addresses("10.1.0.7/24", "fd00:0::7/64"),
  }, async (place, applied) => {
    assert.equal(await redirectInPlace(pod(), place), "IPv4 applied");
    assert.deepEqual(applied, ["right 15001"]);
  }));

const own = addresses("10.1.0.7/24", "fd00::7/64");
const kept: [string, Record<string, string | undefined>, ReturnType<typeof pod>, RegExp][] = [
  [
    "none has its addresses",
    { other: addresses("10.1.0.70/24"), gone: undefined },
    pod(),
    /^no network namespace in \S+ has the pod's addresses, 10\.1\.0\.7, \[fd00::7\]; 1 could not be looked at, one of them gone: no such namespace$/,
  ],
  ["two have its addresses", { a: own, b: own }, pod(), /^more than one network namespace \(.*has the pod's addresses/],
  ["it has no address", { a: own }, pod({}, []), /^it has no address by which/],
  [
    "it uses the node's network",
    { a: own },
    pod({ spec: { hostNetwork: true } }),
    /does not redirect it: it uses the no/,
  ],
  ["its namespace is excluded", { a: own }, pod({}, undefined, "kept"), /^its namespace is excluded$/],
  [
    "its annotations cannot be",
    { a: own },
    pod({ annotations: { "traffic.sidecar.mesh.io/includeInboundPorts": "http" } }),
    /annotation traffic\.sidecar\.mesh\.io\/includeInboundPorts: got "http", expected/,
  ],
];
for (const [why, namespaces, made, reason] of kept) {
  Deno.test(`no rule is changed, and the reason is said: ${why}`, () =>
    withPlace(namespaces, async (place, applied) => {
      await assert.rejects(redirectInPlace(made, place), ({ message }: Error) => {
        assert.match(message, reason);
        return true;
      });
      assert.deepEqual(applied, []);
    }));
}

const options: RepairOptions = {
  ...{ repairPods: true, deletePods: true, labelPods: true, labelKey: "broken", labelValue: "true" },
  ...{ nodeName: undefined, sidecarAnnotation: "sidecar.mesh.io/status", fieldSelectors: "", labelSelectors: "" },
  ...{ initContainerName: "mesh-validation", initContainerExitCode: 126, terminationMessage: undefined },
};

namespaceTest(
  "REPAIR_REPAIR_PODS: a pod that runs outside of the mesh is in it, once, and neither deleted nor labelled",
  async () => {
    await using node = await TestNode.make();
    await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, node.primary());
    const sandbox = await node.sandbox("shop", "cart-0");
    const added = await node.chain("ADD", sandbox);
    assert(added.ok, JSON.stringify(added));
    const ip = addressOf(added.result);
    await node.answer("app", [8080], sandbox.netns, 1000);
    await node.answer("inbound", [15006], sandbox.netns, 1337);
    assert.equal(await node.ask(ip, 8080), "app", "it is outside of the mesh");
    await Deno.mkdir(`${node.dir}/netns`);
    link(sandbox.netns, `${node.dir}/netns/cni-1`);
    const before = { exitCode: 126, message: "", reason: "Error" };
    const loops = { name: "mesh-validation", state: {}, lastState: { terminated: before } };
    const broken = (more: ApiObject = {}) => {
      const status = { podIP: ip, podIPs: [{ ip }], initContainerStatuses: [loops] };
      return { ...injectedPod("shop", "cart-0", more), status };
    };
    await withService(
      async ({ orch, metric }) => {
        const put = orch.put(broken());
        await until("the pod is redirected", () => orch.events.length === 1);
        assert.equal(await node.ask(ip, 8080), "inbound");
        assert.deepEqual([orch.events[0].reason, orch.events[0].message], [
          "RepairBrokenPod",
          "pod detected as broken, redirected where it is",
        ]);
        // The pod's validation container has not run again yet.
        orch.put({
          ...broken({ labels: { changed: "yes" } }),
          metadata: { ...put.metadata, labels: { changed: "yes" } },
        });
        orch.put({ ...broken(), metadata: { ...injectedPod("shop", "away-0").metadata } });
        await until("another pod of the same address is redirected", () => orch.events.length === 2);
        assert.deepEqual(await metric("mesh_cni_repair_pods_repaired_total"), [
          `mesh_cni_repair_pods_repaired_total{type="repair",result="success"} 2`,
        ]);
        assert.equal(orch.pods.size, 2);
        assert.equal("broken" in orch.pods.get("shop/cart-0").metadata.labels, false);
      },
      {},
      undefined,
      options,
      undefined,
      { namespaces: `${node.dir}/netns` },
    );
  },
);
