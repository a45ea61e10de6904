/** Processes of others in a pod's network namespace that change the rules: the node agent restores the rules, and says so. */
import assert from "node:assert/strict";
import { until } from "../../patience.ts";
import { type AmbientNode, withNode } from "../support/ambient_node.ts";
import { namespaceTest } from "../support/commands.ts";

/** A shell of somebody else in a network namespace. */
class Foreign implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;

  constructor(netns: string) {
    const pipes = { stdin: "piped", stdout: "piped", stderr: "inherit" } as const;
    this.#child = new Deno.Command("nsenter", { args: [`--net=${netns}`, "sh", "-e"], ...pipes }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Runs a script to its end. */
  async does(script: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${script}\necho done\n`));
    for (let said = ""; !said.endsWith("done\n");) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`the shell ended within: ${script}`);
      said += value;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }
}

/** A captured pod, and what the agent has said about others who change its rules. */
async function captured(node: AmbientNode): Promise<{ netns: string; said: () => string[] }> {
  await node.tunnels.connect("t", node.socket);
  const { netns } = await node.pod("cart");
  await node.untilAnnotated("cart", "enabled");
  const said = () => node.service.lines.filter((line) => line.includes("were changed by others, and are restored"));
  assert.deepEqual([await node.drift(netns), said()], [[], []], "the first rules are nobody's change");
  return { netns, said };
}

/** Changes of others, and the first difference that the agent names. */
const CHANGES = [
  ["iptables-nft -t nat -F", /IPv4: nat: rule 1 of MESH_INBOUND is missing/],
  ["ip6tables-nft -t raw -F MESH_OUTPUT", /IPv6: raw: .*MESH_OUTPUT/],
  ["iptables-nft -t nat -I MESH_OUTPUT -j ACCEPT", /IPv4: nat: .*MESH_OUTPUT/],
  ["iptables-nft -t mangle -D OUTPUT -j MESH_OUTPUT", /IPv4: mangle: .* OUTPUT/],
  ["ip rule del fwmark 0x111/0xfff lookup 100", /ip -4 rule add fwmark/],
] as const;

namespaceTest("each change of a pod's rules by a foreign process is repaired and named", async () => {
  await withNode(async (node) => {
    const { netns, said } = await captured(node);
    await using foreign = new Foreign(netns);
    for (const [index, [change, named]] of CHANGES.entries()) {
      await foreign.does(change);
      await until(`${change}: said`, () => said().length > index);
      assert.deepEqual(await node.drift(netns), [], change);
      const line = said().at(-1)!;
      assert.match(line, /shop\/cart/);
      assert.match(line, named);
    }
    assert.equal(said().length, CHANGES.length);
    assert.equal(node.annotation("cart"), "enabled");
    assert.deepEqual(node.tunnels.messages("t").filter(({ said }) => said.startsWith("del")), []);
  });
});

namespaceTest("a foreign process that flushes again as soon as the rules are back loses, however often", async () => {
  await withNode(async (node) => {
    const { netns, said } = await captured(node);
    await using foreign = new Foreign(netns);
    // The process sees the rules as soon as they are written, before the agent has read them again.
    await foreign.does(`
      for round in 1 2 3; do
        iptables-nft -t nat -F
        until iptables-nft -t nat -S OUTPUT | grep -q MESH; do sleep 0.01; done
      done
      iptables-nft -t nat -F`);
    await until("the rules are back", async () => (await node.drift(netns)).length === 0, 100);
    await until("the agent says so", () => said().length > 0);
    assert.equal(node.annotation("cart"), "enabled", "no peer sends plain text to the pod meanwhile");
  });
});
