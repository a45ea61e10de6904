/** WasmPlugins in stock Envoys without an agent: a file runs, and an unavailable module denies or admits. */
import assert from "node:assert/strict";
import { oneRequest } from "../../scripts/demo/load.ts";
import { withPorts } from "../../scripts/ports.ts";
import { answeringModule } from "../agent/support/wasm_files.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const gatewayFile = (port: number) => `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - { port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"], bind: 127.0.0.1 }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: app, namespace: demo }
spec: { hosts: ["*"], gateways: [door], http: [{ directResponse: { status: 200 } }] }
`;

interface Spec {
  readonly url: string;
  readonly type?: "NETWORK";
  readonly failStrategy?: string;
  readonly match?: readonly object[];
}

/**
 * Draining chains have filters of the previous type under the plugin's name, so plugins of different types need
 * different names.
 */
const pluginFile = (spec: Spec) =>
  JSON.stringify({
    apiVersion: "extensions.istio.io/v1alpha1",
    kind: "WasmPlugin",
    metadata: { name: `guard-${spec.type ?? "HTTP"}`.toLowerCase(), namespace: "demo" },
    spec: { selector: { matchLabels: { app: "door" } }, ...spec },
  });

/** The status of an answer on a new connection. `closed` without an answer. */
async function ask(port: number): Promise<string> {
  const answer = await oneRequest(port, "app.test");
  return answer === "" ? "200" : answer;
}

for (const delta of [true, false]) {
  Deno.test({
    name: `a plugin at a stock Envoy without an agent (${delta ? "delta" : "state of the world"})`,
    ignore: envoyPath() === undefined,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        const module = await Deno.makeTempFile({ suffix: ".wasm" });
        await Deno.writeFile(module, answeringModule(418));
        const local = { url: `file://${module}` };
        const remote = { url: "registry.example.com/guard:1" };
        const cases: readonly (readonly [string, Spec, string])[] = [
          ["a file", local, "418"],
          ["a file at this port", { ...local, match: [{ mode: "CLIENT", ports: [{ number: port }] }] }, "418"],
          ["a file at another port", { ...local, match: [{ ports: [{ number: 1 }] }] }, "200"],
          ["a file for inbound traffic", { ...local, match: [{ mode: "SERVER" }] }, "200"],
          ["a file that sees connections alone", { ...local, type: "NETWORK" }, "200"],
          ["an image", remote, "403"],
          ["an image that may fail", { ...remote, failStrategy: "FAIL_OPEN" }, "200"],
          ["an image for connections", { ...remote, type: "NETWORK" }, "refused"],
          ["one that may fail", { ...remote, type: "NETWORK", failStrategy: "FAIL_OPEN" }, "200"],
          ["a file in its place", { ...local, failStrategy: "FAIL_RELOAD" }, "418"],
        ];
        try {
          await using mesh = await TestMesh.start({ files: { "gateway.yaml": gatewayFile(port) } });
          const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
          const envoy = await mesh.attach(envoyPath()!, { type: "router", ...identity }, delta);
          await envoy.ready(port);
          for (const [name, spec, answer] of cases) {
            await mesh.write("plugin.json", pluginFile(spec));
            await until(name, async () => await ask(port) === answer);
            const findings = await mesh.page<{ message: string; objects?: string[] }[]>("warningz");
            const said = findings.some(({ message }) => message.includes("has no agent that fetches the module"));
            assert.equal(said, spec.url === remote.url, name);
          }
          await mesh.write("plugin.json");
          await until("nothing is left of it", async () => await ask(port) === "200");
          await mesh.settled();
        } finally {
          await Deno.remove(module);
        }
      }),
  });
}

/** A plugin for requests to a port. */
const pluginAt = (name: string, port: number, module: string) => ({
  apiVersion: "extensions.istio.io/v1alpha1",
  kind: "WasmPlugin",
  metadata: { name, namespace: "demo" },
  spec: {
    selector: { matchLabels: { app: "door" } },
    url: `file://${module}`,
    match: [{ mode: "CLIENT", ports: [{ number: port }] }],
  },
});

for (const delta of [true, false]) {
  Deno.test({
    name: `a module that Envoy refuses keeps no other plugin back, and the one before it stays (${
      delta ? "delta" : "state of the world"
    })`,
    ignore: envoyPath() === undefined,
    fn: () =>
      withPorts(3, async (ports) => {
        const folder = await Deno.makeTempDir({ prefix: "mesh-modules-" });
        try {
          for (const status of [418, 421]) await Deno.writeFile(`${folder}/${status}.wasm`, answeringModule(status));
          await Deno.writeTextFile(`${folder}/broken.wasm`, "no module");
          const plugins = (modules: readonly (string | number)[]) =>
            modules.map((module, i) => JSON.stringify(pluginAt(`guard-${i}`, ports[i]!, `${folder}/${module}.wasm`)))
              .join("\n---\n");
          const files = {
            "gateways.yaml": ports.map((port, i) =>
              gatewayFile(port).replaceAll(/\b(door|app), n/g, `$1-${i}, n`)
                .replace("[door]", `[door-${i}]`)
            ).join("---"),
            "plugins.yaml": plugins([418, 418, 418]),
          };
          await using mesh = await TestMesh.start({ files });
          const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
          const envoy = await mesh.attach(envoyPath()!, { type: "router", ...identity }, delta);
          for (const port of ports) await envoy.ready(port);
          const answers = () => Promise.all(ports.map(ask));
          await until("all plugins answer", async () => `${await answers()}` === "418,418,418");
          await mesh.write("plugins.yaml", plugins([421, "broken", 421]));
          await until("the others are new", async () => `${await answers()}` === "421,418,421");
          await mesh.write("plugins.yaml", plugins([418, 421, 421]));
          await until("all are new", async () => `${await answers()}` === "418,421,421");
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      }),
  });
}
