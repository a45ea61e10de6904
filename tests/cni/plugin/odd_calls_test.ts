/** Odd calls of runtimes, and odd nodes: the plugin as a process. */
import assert from "node:assert/strict";
import { lastCalls } from "../../../lib/cni/plugin/calls.ts";
import { chainedText } from "../support/chained.ts";
import { namespaceTest, type Ran, run } from "../support/commands.ts";
import { failureOf, type Sandbox, TestNode } from "../support/node.ts";
import { FakeOrch, injectedPod } from "../support/orch.ts";

/** Makes a call with unchanged standard input and some changed variables; undefined removes a variable. */
type Raw = (command: string, input: unknown, env?: Record<string, string | undefined>) => Promise<Ran>;

/** Runs work on a node with our plugin, a sandbox of an injected pod, and our entry in the runtime's form. */
async function onNode(
  work: (world: { node: TestNode; orch: FakeOrch; sandbox: Sandbox; ours: object; raw: Raw }) => Promise<void>,
): Promise<void> {
  await using node = await TestNode.make();
  const orch = new FakeOrch();
  try {
    await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node));
    await node.placePlugin(orch);
    const pod = orch.put(injectedPod("shop", "cart-0"));
    const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
    const ours = { ...node.chosen()?.plugins.at(-1), name: "testnet", cniVersion: "1.0.0" };
    const raw: Raw = (command, input, change = {}) => {
      const env: Record<string, string> = { ...node.callWords(command, {}, sandbox).env };
      for (const [name, value] of Object.entries(change)) {
        if (value === undefined) delete env[name];
        else env[name] = value;
      }
      const text = typeof input === "string" ? input : JSON.stringify(input);
      return run(`${node.binDir}/mesh-cni`, [], { env, input: text, clearEnv: true });
    };
    await work({ node, orch, sandbox, ours, raw });
  } finally {
    await orch.stop();
  }
}

namespaceTest(
  "input that is garbage, nothing, deep or huge gets an error object or is done",
  async () => {
    await onNode(async ({ raw, ours }) => {
      const deep = "[".repeat(100_000) + "]".repeat(100_000);
      const none = { CNI_ARGS: undefined };
      for (const input of ["", "\0\x01", "{", "[]", "7", "\ufeff{}x", `{"cniVersion":`]) {
        const ran = await raw("ADD", input);
        assert.deepEqual([ran.code, failureOf(ran).code, ran.err], [1, 6, ""], JSON.stringify(input));
      }
      const huge = await raw("ADD", `{"cniVersion":"1.0.0","x":"${"a".repeat(40 << 20)}"}`, none);
      assert.deepEqual([huge.code, failureOf(huge).msg], [1, "standard input is larger than 16777216 bytes"]);
      const kept = await raw("ADD", `{"cniVersion":"1.0.0","prevResult":{"x":${deep}}}`, none);
      assert.equal(kept.out, `{"x":${deep},"cniVersion":"1.0.0"}\n`);
      assert.equal((await raw("ADD", { ...ours, prevResult: [] })).code, 1);
    });
  },
);

namespaceTest(
  "DEL and GC end well without a namespace, with one that is gone, twice, and for unknown containers",
  async () => {
    await onNode(async ({ raw, ours, node }) => {
      const rows: [string, object, Record<string, string | undefined>][] = [
        ["DEL", ours, { CNI_NETNS: "/run/netns/mcni-there-is-none" }],
        ["DEL", ours, { CNI_NETNS: undefined }],
        ["DEL", ours, {}],
        ["DEL", ours, {}],
        ["DEL", { ...ours, plugin_log_level: 7 }, {}],
        ["DEL", ours, { CNI_ARGS: "K8S_POD_NAMESPACE=A_B" }],
        ["GC", { ...ours, "cni.dev/valid-attachments": [{ containerID: "unknown", ifname: "eth9" }, 7] }, {
          CNI_CONTAINERID: undefined,
          CNI_NETNS: undefined,
          CNI_IFNAME: undefined,
          CNI_ARGS: undefined,
        }],
      ];
      for (const [command, input, env] of rows) {
        const ran = await raw(command, input, env);
        assert.deepEqual([ran.code, ran.out, ran.err], [0, "", ""], `${command} ${JSON.stringify(env)}`);
      }
      assert.deepEqual(lastCalls(node.runDir, 100).map(({ outcome }) => outcome), rows.map(() => "nothing is kept"));
    });
  },
);

namespaceTest(
  "a namespace must be a path: any other text, or a path with more in it, is refused, and nothing is run",
  async () => {
    await onNode(async ({ raw, ours, node }) => {
      const marker = `${node.dir}/marker`;
      for (
        const netns of [
          "relative",
          "/etc/passwd",
          node.dir,
          `/run/netns/x; touch ${marker}`,
          `/run/netns/x --mount=/proc/1/ns/mnt`,
          `$(touch ${marker})`,
          "--target=1",
        ]
      ) {
        const ran = await raw("ADD", { ...ours, prevResult: {} }, { CNI_NETNS: netns });
        assert.deepEqual([ran.code, failureOf(ran).code], [1, 5], netns);
        assert.match(failureOf(ran).msg, /cannot be entered/);
      }
      assert.throws(() => Deno.statSync(marker), Deno.errors.NotFound);
    });
  },
);

namespaceTest("an API that refuses connections ends an ADD, with the reason", async () => {
  await onNode(async ({ raw, ours, orch }) => {
    await orch.stop();
    const refused = await raw("ADD", { ...ours, prevResult: {} });
    assert.deepEqual([refused.code, failureOf(refused).code], [1, 11]);
    assert.match(failureOf(refused).details ?? "", /Connection refused/);
  });
});

namespaceTest("a token that was rotated is used by the next call", async () => {
  await onNode(async ({ raw, ours, orch, node }) => {
    orch.token = "renewed";
    const before = await raw("ADD", { ...ours, prevResult: {} });
    assert.deepEqual([before.code, failureOf(before).code], [1, 11], "the old token is refused, which may pass");
    assert.match(failureOf(before).details ?? "", /status 401/);
    await node.placePlugin(orch);
    assert.equal((await raw("ADD", { ...ours, prevResult: {} })).code, 0);
  });
});

namespaceTest("a call ends although the node agent never takes its log lines", async () => {
  await onNode(async ({ raw, ours, node }) => {
    const agent = Deno.listen({ transport: "unix", path: `${node.runDir}/log.sock` });
    try {
      // A call without a look-up of a pod.
      const ran = await raw("DEL", { ...ours, plugin_log_level: "debug" });
      assert.deepEqual([ran.code, ran.err], [0, ""], ran.out);
    } finally {
      agent.close();
    }
  });
});
