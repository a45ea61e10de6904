/** The doctor's words about healthy and faulty nodes. */
import assert from "node:assert/strict";
import { examine, type NodeFacts, verdict } from "../../../lib/cni/doctor/examine.ts";
import { redirectedPods } from "../../../lib/cni/doctor/gather.ts";
import type { CallRow } from "../../../lib/cni/plugin/calls.ts";

const list = (...types: string[]) =>
  JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins: types.map((type) => ({ type })) });

const row = (more: Partial<CallRow> = {}): CallRow => ({
  at: "2026-01-01T00:00:00.000Z",
  command: "ADD",
  pod: "shop/cart-0",
  container: "c",
  netns: "/run/netns/p",
  outcome: "redirected; IPv4 applied",
  code: 0,
  took: 80,
  ...more,
});

const healthy: NodeFacts = {
  files: [{ name: "10-a.conflist", text: list("bridge", "mesh-cni") }, { name: "99-old.conf", text: "{" }],
  executableMode: 0o755,
  needed: {
    files: [{ path: "/bin/x/deno", wanted: 0o755, mode: 0o755 }, {
      path: "/bin/x/plugin.js",
      wanted: 0o644,
      mode: 0o644,
    }],
    same: true,
  },
  version: "1",
  orchConfigProblem: undefined,
  record: {
    version: "1",
    placement: "chained",
    config: "10-a.conflist",
    installer: "x",
    at: "now",
    state: "installed",
  },
  calls: [row({ code: 11, outcome: "no answer" }), row()],
  obstacles: [],
  trial: "passed",
  pods: [{ pod: "shop/cart-0", netns: "/run/netns/p", differences: [] }],
  unseen: [],
};

Deno.test("a healthy node is healthy, also after earlier failures", () => {
  const findings = examine(healthy);
  assert.equal(verdict(findings), "healthy: pods that start now are redirected");
  assert.deepEqual(
    findings.filter((f) => f.about === "configuration").map((f) => f.text.split(":").slice(0, 3).join(":")),
    [
      "10-a.conflist: n: bridge > mesh-cni (the runtime takes this one)",
      "99-old.conf: passed over: it is not JSON",
    ],
  );
  assert.equal(findings.find((f) => f.about === "calls")?.severity, "note", "a failure before a later success");
});

/** Files other than those that the launcher names. */
const runtime = (mode: number | undefined) => ({ files: [{ path: "/bin/x/deno", wanted: 0o755, mode }], same: false });

const ills: [string, Partial<NodeFacts>, string, RegExp][] = [
  ["no configuration", { files: [] }, "configuration", /no pod gets a network/],
  [
    "not chained",
    { files: [{ name: "10-a.conflist", text: list("bridge") }] },
    "configuration",
    /10-a\.conflist does not name mesh-cni/,
  ],
  [
    "preempted",
    {
      files: [{ name: "05-b.conflist", text: list("cilium-cni") }, {
        name: "10-a.conflist",
        text: list("bridge", "mesh-cni"),
      }],
    },
    "configuration",
    /05-b\.conflist comes before the configuration that names mesh-cni/,
  ],
  [
    "alone",
    { files: [{ name: "10-a.conflist", text: list("mesh-cni") }] },
    "configuration",
    /is the primary network itself/,
  ],
  ["no executable", { executableMode: undefined }, "executable", /there is no mesh-cni/],
  ["no runtime", { needed: runtime(undefined) }, "executable", /mesh-cni needs \/bin\/x\/deno: there is no such file/],
  ["runtime that is not executable", { needed: runtime(0o644) }, "executable", /x\/deno: may not be executed/],
  ["runtime of everybody", { needed: runtime(0o777) }, "executable", /x\/deno: users other than root may.*mode 777/],
  ["other contents", { needed: runtime(0o755) }, "executable", /contents are not those that mesh-cni names/],
  ["not executable", { executableMode: 0o644 }, "executable", /may not be executed/],
  ["no credentials", { orchConfigProblem: "there is none" }, "orchestrator", /there is none/],
  ["no tools", { obstacles: ["iptables: not found"] }, "tools", /not found/],
  ["a trial that failed", { trial: "no module" }, "trial", /no module/],
  ["a pod that waits", { calls: [row({ code: 102, outcome: "rules" })] }, "calls", /rules/],
  [
    "drift",
    { pods: [{ pod: "a/b", netns: "n", differences: ["IPv4: nat: chain MESH_OUTPUT is missing"] }] },
    "rules",
    /a\/b \(n\): IPv4/,
  ],
  ["no right to look", { unseen: ["Permission denied"] }, "rights", /Permission denied/],
];
for (const [what, facts, about, text] of ills) {
  Deno.test(`${what}: one problem, named`, () => {
    const findings = examine({ ...healthy, ...facts });
    const problems = findings.filter((finding) => finding.severity === "problem");
    assert.deepEqual(problems.map((p) => p.about), [about]);
    assert.match(problems[0]?.text ?? "", text);
    assert.equal(verdict(findings), `1 problem: ${about}`);
  });
}

Deno.test("pods that are there are those redirected and not taken down", () => {
  const rows = [
    row({ container: "a" }),
    row({ container: "b", outcome: "passed on: no proxy" }),
    row({ container: "c", code: 11 }),
    row({ container: "d" }),
    row({ container: "a", command: "DEL" }),
  ];
  assert.deepEqual(redirectedPods(rows).map((r) => r.container), ["d"]);
  const lost = [row({ container: "a" }), row({ container: "b" }), row({ container: "c", pod: "shop/other" })];
  assert.deepEqual(redirectedPods(lost).map((r) => r.container), ["b", "c"], "a DEL that was not recorded");
});

Deno.test("another mesh's plugin in the chain is a word, not a problem", () => {
  const files = [{ name: "10-a.conflist", text: list("bridge", "istio-cni", "mesh-cni") }];
  const findings = examine({ ...healthy, files });
  assert.match(verdict(findings), /^healthy/);
  const notes = findings.filter((f) => f.about === "configuration" && f.severity === "note");
  assert.match(notes.map((f) => f.text).join(), /10-a\.conflist: istio-cni redirects too/);
});

Deno.test("files that an installer of another version placed are not judged by their contents", () => {
  const found = examine({ ...healthy, needed: runtime(0o755), version: "2" });
  assert.match(verdict(found), /^healthy/);
  assert.match(found.find(({ about }) => about === "executable")?.text ?? "", /another version placed them/);
});
