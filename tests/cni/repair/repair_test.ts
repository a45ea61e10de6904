/** Broken pods, and the action for each. */
import assert from "node:assert/strict";
import { type ApiObject, FakeOrch, injectedPod } from "../support/orch.ts";
import { isBroken, repairFilter, type RepairOptions } from "../../../lib/cni/repair/broken.ts";
import { runRepair } from "../../../lib/cni/repair/repair.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import type { RepairPlace } from "../../../lib/cni/repair/in_place.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { until } from "../../patience.ts";

const options: RepairOptions = {
  repairPods: false,
  deletePods: false,
  labelPods: true,
  labelKey: "cni.mesh.io/uninitialized",
  labelValue: "true",
  nodeName: undefined,
  sidecarAnnotation: "sidecar.mesh.io/status",
  fieldSelectors: "",
  labelSelectors: "",
  initContainerName: "mesh-validation",
  initContainerExitCode: 126,
  terminationMessage: undefined,
};

/** A node without redirection in place. */
const place: RepairPlace = {
  namespaces: "/nowhere",
  redirector: () => assert.fail("nothing is redirected"),
  excludeNamespaces: [],
};

const ended = (exitCode: number, message = "", reason = "Error") => ({ terminated: { exitCode, message, reason } });

/** A pod with its validation container in a given state. */
function pod(name: string, status: ApiObject, more: ApiObject = {}): ApiObject {
  const made = injectedPod("shop", name, more);
  return { ...made, status: { initContainerStatuses: [{ name: "mesh-validation", ...status }] } };
}

const loops = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ended(126, " no redirection \n") };
const judged: [string, boolean, ApiObject, Partial<RepairOptions>][] = [
  ["ended with the code before", true, pod("p", loops), {}],
  ["injected here, in a container of Istio's name", true, {
    metadata: { annotations: { "sidecar.mesh.io/status": "" } },
    status: { initContainerStatuses: [{ name: "istio-validation", ...loops }] },
  }, {}],
  ["injected by Istio's injector", false, {
    metadata: { annotations: { "sidecar.istio.io/status": "" } },
    status: { initContainerStatuses: [{ name: "istio-validation", ...loops }] },
  }, {}],
  ["ended with another code", false, pod("p", { ...loops, lastState: ended(1) }), {}],
  ["any code", true, pod("p", { ...loops, lastState: ended(1) }), { initContainerExitCode: 0 }],
  ["ended well since", false, pod("p", { ...loops, state: ended(0, "", "Completed") }), {}],
  ["ends badly for the first time", false, pod("p", { state: ended(126) }), {}],
  ["the message, apart from spaces", true, pod("p", loops), { terminationMessage: "no redirection" }],
  ["another message", false, pod("p", loops), { terminationMessage: "other" }],
  ["another container", false, pod("p", loops), { initContainerName: "init" }],
  ["any container", true, pod("p", { ...loops, name: "whatever" }), { initContainerName: "" }],
  [
    "deleted already",
    false,
    { ...pod("p", loops), metadata: { ...pod("p", loops).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    {},
  ],
  ["no sidecar", false, { ...pod("p", loops), metadata: {} }, {}],
  ["no sidecar asked for", true, { ...pod("p", loops), metadata: {} }, { sidecarAnnotation: "" }],
];
for (const [what, broken, object, more] of judged) {
  Deno.test(`a pod is ${broken ? "" : "not "}broken: ${what}`, () => {
    assert.equal(isBroken(readPod(object), { ...options, ...more }), broken);
  });
}

Deno.test("the filter adds the node to the field selectors, and none for all nodes", () => {
  assert.deepEqual(repairFilter(options), { labelSelector: "", fieldSelector: "" });
  const more = { nodeName: "n1", fieldSelectors: "status.phase=Pending", labelSelectors: "a=b" };
  assert.deepEqual(repairFilter({ ...options, ...more }), {
    labelSelector: "a=b",
    fieldSelector: "status.phase=Pending,spec.nodeName=n1",
  });
});

/** Runs repair over a stand-in until something holds. */
async function repairing(
  more: Partial<RepairOptions>,
  arrange: (orch: FakeOrch) => void,
  holds: (orch: FakeOrch) => boolean,
): Promise<{ orch: FakeOrch; repaired: string[] }> {
  const orch = new FakeOrch();
  const metrics = createMetrics("install-cni");
  const stop = new AbortController();
  const pods = new RestPods(() => ({ server: orch.address, ca: undefined, token: "secret" }));
  arrange(orch);
  const running = runRepair(
    { ...options, ...more },
    { pods, clock: systemClock, log: silentLog().scope("x"), metrics, cluster: "c1", place },
    stop.signal,
  );
  try {
    await until("a repair", () => holds(orch));
  } finally {
    stop.abort(new Error("test ends"));
    await running;
    await orch.stop();
  }
  const { body } = await metrics.scrape();
  return { orch, repaired: body.split("\n").filter((line) => line.startsWith("mesh_cni_repair_pods_repaired_total")) };
}

Deno.test("broken pods are labelled once, get an event and are counted; healthy ones are left alone", async () => {
  const { orch, repaired } = await repairing(
    {},
    (o) => {
      o.put(pod("broken", loops));
      o.put(pod("healthy", { state: ended(0) }));
      o.put(pod("labelled", loops, { labels: { "cni.mesh.io/uninitialized": "by hand" } }));
    },
    (o) => o.events.length === 1,
  );
  const labels = (name: string) => orch.pods.get(`shop/${name}`).metadata.labels;
  assert.equal(labels("broken")["cni.mesh.io/uninitialized"], "true");
  assert.deepEqual(labels("healthy"), {});
  assert.equal(labels("labelled")["cni.mesh.io/uninitialized"], "by hand");
  assert.deepEqual(orch.events.map((e) => [e.reason, e.message, e.type]), [
    ["LabelBrokenPod", "pod detected as broken, labeled", "Warning"],
  ]);
  assert(repaired.includes(`mesh_cni_repair_pods_repaired_total{type="label",result="success"} 1`), repaired.join());
  assert(repaired.some((line) => line.includes(`{type="label",result="skip"}`)));
});

Deno.test("a pod that breaks later is deleted, and deleting wins over labelling", async () => {
  let put = false;
  const { orch, repaired } = await repairing(
    { deletePods: true },
    (o) => void o.put(pod("later", { state: { running: {} } })),
    (o) => {
      if (!put && o.watching > 0) {
        put = true;
        o.put(pod("later", loops));
      }
      return o.events.length === 1;
    },
  );
  assert.equal(orch.pods.size, 0);
  assert.equal(orch.events[0].reason, "DeleteBrokenPod");
  assert.deepEqual(repaired, [`mesh_cni_repair_pods_repaired_total{type="delete",result="success"} 1`]);
});

Deno.test("an orchestrator that refuses for a while is asked again", async () => {
  let refused = false;
  const { repaired } = await repairing(
    {},
    (o) => void o.put(pod("broken", loops)),
    (o) => {
      if (!refused && o.watching > 0) {
        refused = true;
        o.refusal = { status: 503, body: "later" };
        setTimeout(() => (o.refusal = undefined), 300);
        o.drop("shop/broken");
        o.put(pod("broken2", loops));
      }
      return [...o.pods.values()].some((p) =>
        p.metadata.name === "broken2" && p.metadata.labels["cni.mesh.io/uninitialized"] === "true"
      );
    },
  );
  assert(repaired.some((line) => line.includes(`result="success"`)));
});

Deno.test("with nothing to do nothing is watched", async () => {
  const orch = new FakeOrch();
  const pods = new RestPods(() => ({ server: orch.address, ca: undefined, token: "secret" }));
  const world = {
    pods,
    clock: systemClock,
    log: silentLog().scope("x"),
    metrics: createMetrics("install-cni"),
    cluster: "c1",
    place,
  };
  await runRepair({ ...options, labelPods: false }, world, new AbortController().signal);
  assert.deepEqual(orch.asked, []);
  await orch.stop();
});
