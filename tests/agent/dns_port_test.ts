/** An agent with root's rights that serves DNS on the port of DNS, in a private network namespace. */
import assert from "node:assert/strict";
import { missing, sh } from "../dns/support/namespace.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";

const PROXY_USER = 1337;

interface RunningIds {
  readonly agent: readonly number[];
  readonly envoy: readonly number[];
}

/** User and group of a process. */
async function idsOf(pid: number): Promise<number[]> {
  const text = await sh("cat", [`/proc/${pid}/status`]);
  return [...text.matchAll(/^[UG]id:\t(\d+)/gm)].map(([, id]) => Number(id));
}

/**
 * Starts an agent that serves DNS at a port. @returns the ids of its processes, once Envoy has asked for configuration
 */
async function servingAt(port: number): Promise<RunningIds> {
  const namespace = `mesh-agent-${crypto.randomUUID().slice(0, 8)}`;
  const folder = await Deno.makeTempDir();
  try {
    // Envoy runs as another user and reads its bootstrap there.
    await Deno.chmod(folder, 0o755);
    await sh("ip", ["netns", "add", namespace]);
    await sh("ip", ["-n", namespace, "link", "set", "lo", "up"]);
    await using agent = await AgentProcess.start({
      folder,
      runner: ["ip", "netns", "exec", namespace],
      env: {
        ...{ POD_NAME: "a", POD_NAMESPACE: "shop", INSTANCE_IP: "127.0.0.1" },
        ...{ MESH_META_DNS_CAPTURE: "true", DNS_PROXY_ADDR: `127.0.0.1:${port}` },
        PROXY_CONFIG: JSON.stringify({
          ...{ binaryPath: "envoy", discoveryAddress: "127.0.0.1:1", controlPlaneAuthPolicy: "NONE" },
          ...{ concurrency: 1, terminationDrainDuration: "0.1s" },
        }),
      },
    });
    try {
      // Envoy asks over a socket open to Envoy's user alone.
      await agent.says(/no discovery server/);
      for (const transport of ["+notcp", "+tcp"]) {
        const question = ["@127.0.0.1", "-p", `${port}`, transport, "+tries=1", "+timeout=60", "name.test"];
        const said = await sh("ip", ["netns", "exec", namespace, "dig", ...question]);
        assert.match(said, /->>HEADER<<- opcode: QUERY, status: [A-Z]+/, said);
      }
      return { agent: await idsOf(agent.pid), envoy: await idsOf(await agent.envoy()) };
    } catch (cause) {
      throw new Error(agent.output, { cause });
    }
  } finally {
    await sh("ip", ["netns", "del", namespace]).catch(() => {});
    await Deno.remove(folder, { recursive: true });
  }
}

const without = missing(["ip", "dig"]);

Deno.test({
  name:
    `as root with DNS_PROXY_ADDR on port 53 the agent serves DNS there, over UDP and TCP, and its Envoy runs as 1337; on another port as root${
      without === undefined ? "" : ` (ignored: ${without})`
    }`,
  ignore: envoyPath() === undefined || without !== undefined,
  async fn() {
    const root = [0, 0];
    assert.deepEqual(await servingAt(53), { agent: root, envoy: [PROXY_USER, PROXY_USER] });
    assert.deepEqual(await servingAt(15053), { agent: root, envoy: root });
  },
});
