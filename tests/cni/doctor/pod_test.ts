/** What the doctor says about a pod in ambient mode. */
import assert from "node:assert/strict";
import type { DialledPod, PodReport } from "../../../lib/cni/ambient/redirection.ts";
import { examinePod, podVerdict } from "../../../lib/cni/doctor/pod.ts";

const good: PodReport = {
  isIn: true,
  why: "enablement selector 1",
  redirection: "enabled",
  netns: "/run/netns/a",
  addresses: ["10.0.0.1"],
  rules: "outbound, inbound to the tunnel, IPv4",
  differences: [],
  tunnel: { outcome: "acked", why: "" },
  tunnels: 1,
  probes: ["10.0.0.1"],
  dialled: [],
};

Deno.test("a pod is captured, out, or has problems by name: rules, tunnel, probes, annotation", () => {
  const verdict = (change: Partial<PodReport>) => podVerdict(examinePod({ ...good, ...change }));
  assert.equal(verdict({}), "captured");
  assert.equal(verdict({ isIn: false, redirection: undefined }), "not in ambient mode");
  assert.equal(verdict({ isIn: false }), "1 problem: annotation");
  assert.equal(verdict({ differences: ["a", "b"] }), "2 problems: rules, rules");
  assert.equal(verdict({ netns: undefined, differences: ["no network namespace"] }), "1 problem: namespace");
  assert.equal(verdict({ tunnel: { outcome: "refused", why: "port" } }), "1 problem: tunnel");
  assert.equal(
    verdict({ tunnel: undefined, probes: [], redirection: "pending" }),
    "3 problems: tunnel, probes, annotation",
  );
});

Deno.test("each address must be exempted, and a connection like a probe's must reach the pod past the tunnel", () => {
  const two: PodReport = { ...good, addresses: ["10.0.0.1", "fd00::1"] };
  assert.equal(podVerdict(examinePod(two)), "1 problem: probes");
  assert.match(JSON.stringify(examinePod(two)), /probes of fd00::1 are not exempted/);
  const packet = (outcome: DialledPod["outcome"], report = good) =>
    examinePod({ ...report, dialled: [{ address: "10.0.0.1", outcome, why: "timed out" }] }).filter(({ about }) =>
      about === "packet"
    )
      .map(({ severity }) => severity);
  assert.deepEqual(packet("refused"), ["ok"]);
  assert.deepEqual(packet("connected"), ["problem"]);
  assert.deepEqual(packet("unanswered"), ["note"]);
  // Without a listener in the pod, redirected connections are refused, too.
  assert.deepEqual(packet("refused", { ...good, tunnel: undefined }), ["note"]);
});
