/** Installers as processes. */
import assert from "node:assert/strict";
import type { TestNode } from "./node.ts";
import type { FakeOrch } from "./orch.ts";

/** Variables of an installer on a node. */
export function installerVariables(node: TestNode, orch: FakeOrch): Record<string, string> {
  const { hostname, port } = new URL(orch.address);
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ORCH_SERVICE_PROTOCOL: "http",
    MESH_CNI_BIN_DIR: node.binDir,
    MESH_CNI_HEALTH_PORT: "0",
    MESH_CNI_SERVICE_ACCOUNT_DIR: node.saDir,
    MOUNTED_CNI_NET_DIR: node.netDir,
    CNI_AGENT_RUN_DIR: node.runDir,
    MONITORING_PORT: "0",
    POD_NAME: "mesh-cni-node-abcde",
    POD_NAMESPACE: "mesh-system",
    NO_COLOR: "1",
  };
}

/**
 * Starts an installer and waits for a text in its output.
 * @param program The command line, without the arguments of the installer.
 */
export async function startInstaller(
  program: readonly string[],
  env: Record<string, string>,
  said: string,
  ...args: readonly string[]
) {
  const [first = "", ...words] = program;
  const child = new Deno.Command(first, {
    args: [...words, ...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // Whole lines.
  while (!text.includes(said) || !text.endsWith("\n")) {
    const { value, done } = await reader.read();
    if (done) assert.fail(`${text}${await new Response(child.stderr).text()}`);
    text += value;
  }
  return {
    text,
    async stop() {
      child.kill("SIGTERM");
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
      }
      const err = await new Response(child.stderr).text();
      const { code } = await child.status;
      return { code, text, err };
    },
  };
}
