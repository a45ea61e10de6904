/** The node agent's pages about the process: address, and a port in use by another program. */
import assert from "node:assert/strict";
import { type NodeIntrospection, serveNode } from "../../../lib/cni/serve/servers.ts";
import { NodeAgentStartError } from "../../../lib/cni/serve/start_error.ts";
import { introspectionRoutes } from "../../../lib/debug/introspection.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";

/** Serves the pages as asked, and gives the port and the log. */
async function serve(
  asked: Omit<NodeIntrospection, "later">,
  run: (port: number | undefined, log: string) => unknown,
) {
  const runDir = await Deno.makeTempDir({ prefix: "mcni-" });
  let text = "";
  const write = (bytes: Uint8Array) => void (text += new TextDecoder().decode(bytes));
  const log = createLog([], { ...defaultLogOptions, targets: ["test"] }, { open: () => ({ write, close() {} }) });
  const kernel = startKernel("install-cni", defaultLogOptions, { log });
  const routes = introspectionRoutes({
    ...{ program: "install-cni", log, args: ["--x=y"], environment: {}, names: [], exit() {} },
  });
  const options = { runDir, healthPort: 0, monitoringPort: 0, metricsLocalOnly: false, names: [] };
  try {
    const notAsked = () => Promise.reject(new Error("not asked"));
    const pods = { pod: notAsked, namespaceLabels: notAsked };
    const ports = await serveNode(
      { ...options, introspection: { ...asked, later: () => Promise.resolve(routes) } },
      kernel,
      pods,
      () => undefined,
    );
    await run(ports.introspection, text);
  } finally {
    await kernel.stopper.stop();
    await Deno.remove(runDir, { recursive: true });
  }
}

Deno.test("the pages show the process, and change the level of a log", () =>
  serve({ address: "127.0.0.1:0", required: true }, async (port) => {
    const at = `http://127.0.0.1:${port}`;
    assert.deepEqual(await (await fetch(`${at}/argsj/`)).json(), ["--x=y"]);
    const change = { method: "PUT", body: JSON.stringify({ output_level: "debug" }) };
    assert.equal((await fetch(`${at}/scopej/cni-agent`, change)).status, 202);
    assert.equal((await (await fetch(`${at}/scopej/cni-agent`)).json()).output_level, "debug");
  }));

Deno.test("a port that is taken keeps the agent from starting only where it was asked for", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${taken.addr.port}`;
  await serve({ address, required: false }, (port, log) => {
    assert.equal(port, undefined);
    assert.match(log, /no introspection pages: the address cannot be used/);
  });
  await assert.rejects(serve({ address, required: true }, () => {}), (error) => {
    assert.ok(error instanceof NodeAgentStartError);
    assert.deepEqual(error.faults.map(({ option }) => option), ["introspection"]);
    return true;
  });
});
