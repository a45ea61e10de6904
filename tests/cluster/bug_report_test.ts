/** The command `bug-report` as its page shows it: by forwarded ports of a server, and the API of a cluster. */
import assert from "node:assert/strict";
import { builtProgram } from "../../scripts/orchestrator/binaries.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { unpacked } from "../offline/unpacked.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE } from "./support/mesh.ts";
import { deployEcho } from "./support/workloads.ts";

const test = clusterTests();

/** Ports of a server, as the page forwards them. */
const PORTS = [8080, 15014, 9876] as const;

interface ForwardedPorts extends AsyncDisposable {
  /** Ports of this machine, in the order of {@linkcode PORTS}. */
  readonly ports: readonly string[];
}

/** Forwards the ports of a server to free ports of this machine. */
async function forwarded(cluster: ClusterHandle): Promise<ForwardedPorts> {
  const child = new Deno.Command(builtProgram("kubectl")!, {
    args: [
      ...[`--kubeconfig=${cluster.kubeconfig}`, "--namespace", MESH_NAMESPACE, "port-forward", "deployment/meshd"],
      ...PORTS.map((port) => `:${port}`),
    ],
    ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
  }).spawn();
  let said = "";
  const found = () => PORTS.map((port) => new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${port}\\n`).exec(said)?.[1] ?? "");
  const output = child.stdout.pipeThrough(new TextDecoderStream());
  for await (const text of output.values({ preventCancel: true })) {
    said += text;
    if (!found().includes("")) break;
  }
  return {
    ports: found(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await output.cancel();
      await child.status;
    },
  };
}

test("a report of a cluster has the logs of servers and proxies, what each proxy has, events and objects, and says what is missing", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 1 });
  await using server = await forwarded(cluster);
  const [http, monitoring, process] = server.ports;
  const archive = await Deno.makeTempFile({ suffix: ".tar.gz" });
  await Deno.remove(archive);
  try {
    const { code, err } = await pilotDiscovery([
      ...["bug-report", `--server=127.0.0.1:${http}`, `--monitoring-port=${monitoring}`, `--ctrlz-port=${process}`],
      ...[`--include=${name},${MESH_NAMESPACE}`, `--archive=${archive}`, `--orchconfig=${cluster.kubeconfig}`],
    ]);
    assert.ok(code === 0 || code === 1, err);
    const files = await unpacked(archive);
    const pod = [...files.keys()].map((path) => new RegExp(`^logs/${name}/(web-[^/]+)/`).exec(path)?.[1])
      .find((one) => one !== undefined) ?? assert.fail([...files.keys()].join("\n"));
    const text = (path: string) => files.get(path) ?? assert.fail(`${path} of ${[...files.keys()].join(" ")}`);
    assert.match(text(`logs/${name}/${pod}/mesh-proxy.log`), /envoy|proxy/i);
    const serverLogs = [...files].filter(([path]) => path.startsWith(`logs/${MESH_NAMESPACE}/meshd-`));
    assert.ok(serverLogs.some(([, log]) => /\binfo\b/.test(log)), serverLogs.map(([path]) => path).join(" "));
    // The pod's proxy is connected to one of two servers, and the ports of one server are forwarded.
    const { missing } = JSON.parse(text("report.json"));
    if (missing.length === 0) assert.match(text(`proxies/${name}/${pod}.${name}.json`), /outbound\|80/);
    else {
      const why = `${pod}.${name}: not connected to the server that was asked; ask each server for its proxies`;
      assert.deepEqual(missing, [{ part: "proxies", why }]);
    }
    assert.match(text("cluster/events.json"), new RegExp(pod));
    assert.match(text("server/metrics.txt"), /^# HELP /m);
    assert.match(text("server/process/env.json"), /"name"/);
    assert.ok(!/-----BEGIN [A-Z ]*PRIVATE KEY/.test([...files.values()].join("\n")));
  } finally {
    await Deno.remove(archive).catch(() => {});
  }
});
