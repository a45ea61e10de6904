/**
 * Configuration with mistakes, served to real Envoys. Whatever users write wrong, a proxy accepts everything it is
 * sent. If a patch is wrong, the proxy accepts everything without the patch. The examples of findings, the inputs of
 * analyzers and the forms of kinds are tested one after the other, as edits of one folder.
 */
import assert from "node:assert/strict";
import { SECRET } from "../../lib/xds/protocol/types.ts";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, type SyncRow, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";
import { folders, gatewayPorts, objectsIn, runnable, yamlFiles } from "./support/real_files.ts";

const path = envoyPath();

/** Each file by path. Examples without the mistake are excluded. */
function worlds(...dirs: readonly string[]): ReadonlyMap<string, ReturnType<typeof objectsIn>> {
  const files = dirs.flatMap(folders).flatMap((dir) =>
    Object.entries(yamlFiles(dir)).flatMap(([name, text]) =>
      name === "clean.yaml" ? [] : [[`${dir}/${name}`, text] as const]
    )
  );
  return new Map(files.flatMap(([name, text]) => {
    // A file that is not YAML never reaches an Envoy.
    try {
      return [[name, objectsIn(text)] as const];
    } catch {
      return [];
    }
  }));
}

/** The last edit of each world: a proxy that has the marker has the other edits. */
const marker = (port: number) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "marker", namespace: "shop" },
    spec: {
      hosts: ["marker.test"],
      addresses: ["198.18.0.1"],
      ports: [{ number: port, name: "tcp", protocol: "TCP" }],
      resolution: "STATIC",
      endpoints: [{ address: "127.0.0.1" }],
    },
  });

const PROXIES = [
  { type: "sidecar", labels: { app: "cart" } },
  { type: "router", labels: { app: "door", zone: "b", istio: "ingressgateway" } },
] as const;

/** Waits until proxies acknowledged everything that was sent, or until another condition holds. */
async function acknowledged(mesh: TestMesh, name: string, orElse?: () => Promise<boolean>): Promise<void> {
  let quiet = 0;
  let waiting: readonly unknown[] = [];
  const look = async () => {
    if (await orElse?.()) return true;
    const rows = await mesh.page<SyncRow[]>("syncz");
    waiting = rows.flatMap(({ resources, ...proxy }) =>
      Object.entries(resources)
        .filter(([type, { sent }]) => type !== SECRET || sent !== "")
        .filter(([, { sent, acked, lastError }]) => sent === "" || sent !== acked || lastError)
        .map((resource) => ({ ...proxy, resource }))
    );
    quiet = waiting.length === 0 ? quiet + 1 : 0;
    return quiet >= 3;
  };
  await until(`${name} is acknowledged`, look).catch((error) => {
    throw new Error(`${error.message}; still without an acknowledgement: ${JSON.stringify(waiting)}`, { cause: error });
  });
}

const SETS = {
  "every example of a finding": ["tests/testdata/findings"],
  "every input of an analyzer": ["tests/testdata/analyze"],
  "every form of every kind": ["tests/testdata/config"],
  "every Service of manifests": ["tests/testdata/orch/in"],
};

for (const [what, dirs] of Object.entries(SETS)) {
  Deno.test({
    name: `${what} is accepted by sidecars and gateways, delta and state of the world`,
    ignore: path === undefined,
    fn: () => {
      const all = worlds(...dirs);
      assert.ok(all.size > 0);
      const numbers = [...new Set([...all.values()].flatMap(gatewayPorts))];
      return withPorts(2 + numbers.length, async ([proxyListenPort, proxyInboundListenPort, ...free]) => {
        const ports = new Map(numbers.map((number, i) => [number, free[i]!]));
        await using mesh = await TestMesh.start({
          files: { "marker.json": marker(1) },
          meshConfig: { proxyListenPort, proxyInboundListenPort },
          manifestServices: true,
        });
        const envoys = await Promise.all(PROXIES.flatMap(({ type, labels }) =>
          [true, false].map((delta) => {
            const name = `${type}-${delta ? "delta" : "sotw"}`;
            const identity = { type, name, namespace: "shop", address: "127.0.0.1", labels };
            return mesh.attach(path!, identity, delta, { interceptionMode: "REDIRECT" });
          })
        ));
        const rejected = async () => (await Promise.all(envoys.map((envoy) => envoy.rejected()))).flat();
        await mesh.settled();
        let before = await rejected();
        let port = 1;
        for (const [name, objects] of all) {
          await mesh.write("world.yaml", objects.map((tree) => runnable(tree, ports)).join("\n---\n"));
          await mesh.write("marker.json", marker(++port));
          await mesh.page("live?object=ServiceEntry/shop/marker&wait=90s");
          const isPatched = objects.some(({ kind }) => kind === "ProxyFilter" || kind === "EnvoyFilter");
          if (isPatched) {
            // A finding reports a patch that Envoy refuses, and the proxy keeps the previous version.
            await acknowledged(mesh, name, async () => `${await rejected()}` !== `${before}`);
            await mesh.write("world.yaml", "");
          }
          await acknowledged(mesh, name);
          const after = await rejected();
          if (!isPatched) assert.deepEqual(after, before, `${name}: ${JSON.stringify(await mesh.page("push_status"))}`);
          before = after;
        }
      });
    },
  });
}
