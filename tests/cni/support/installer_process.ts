/** Installers as processes. */
import assert from "node:assert/strict";
import type { TestNode } from "./node.ts";
import type { FakeOrch } from "./orch.ts";
import { until } from "../../patience.ts";

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

/** A running installer. */
export interface InstallerProcess {
  /** The output so far. */
  readonly text: string;
  /** Ends the installer. @returns the exit code, and the whole output */
  stop(): Promise<{ readonly code: number; readonly text: string; readonly err: string }>;
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
): Promise<InstallerProcess> {
  const [first = "", ...words] = program;
  const child = new Deno.Command(first, {
    args: [...words, ...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let [text, isOver] = ["", false];
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) text += part;
    isOver = true;
  })();
  // Whole lines.
  const isSaid = () => text.includes(said) && text.endsWith("\n");
  await until(`the installer says ${said}`, () => isSaid() || isOver);
  if (!isSaid()) assert.fail(`${text}${await new Response(child.stderr).text()}`);
  return {
    get text() {
      return text;
    },
    async stop() {
      child.kill("SIGTERM");
      await reading;
      const err = await new Response(child.stderr).text();
      const { code } = await child.status;
      return { code, text, err };
    },
  };
}
