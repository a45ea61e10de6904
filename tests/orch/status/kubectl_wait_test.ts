/** The status of an object agrees with `live`, so that `kubectl wait` waits until the object is really in force. */
import assert from "node:assert/strict";
import { withServer } from "../../discovery/running.ts";
import { TestProxy } from "../../debug/proxy.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const GROUP = "networking.mesh.io";

const PLURAL: Readonly<Record<string, string>> = {
  ServiceEntry: "serviceentries",
  DestinationRule: "destinationrules",
  VirtualService: "virtualservices",
};

type Draft = ObjectDraft & ObjectId;

const draft = (namespace: string, kind: string, name: string, spec: Record<string, unknown>): Draft => ({
  ...{ apiVersion: `${GROUP}/v1`, kind, metadata: { namespace, name } },
  spec,
});
const entry = (namespace: string) =>
  draft(namespace, "ServiceEntry", "a", {
    ...{ hosts: ["a.example.com"], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
    ...{ resolution: "STATIC", endpoints: [{ address: "10.0.0.1", labels: { version: "1" } }] },
  });
const rule = (namespace: string, subset: string) =>
  draft(namespace, "DestinationRule", "a", {
    ...{ host: "a.example.com", subsets: [{ name: subset, labels: { version: "1" } }] },
  });
const route = (namespace: string) =>
  draft(namespace, "VirtualService", "v", {
    ...{ hosts: ["a.example.com"], http: [{ route: [{ destination: { host: "a.example.com", subset: "v1" } }] }] },
  });

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration: number;
}

/** The condition of an object; undefined: no condition about the present text. */
async function reconciled(server: ApiServer, id: Draft): Promise<string | undefined> {
  const object = await server.objects.get(id);
  const { conditions = [] } = (object?.["status"] ?? {}) as { readonly conditions?: readonly Condition[] };
  const found = conditions.find(({ type }) => type === "Reconciled");
  return found?.observedGeneration === object?.metadata["generation"] ? found?.status : undefined;
}

/** Runs `kubectl wait` for an object. Without kubectl, waits likewise for the condition to be True. */
async function waited(server: ApiServer, id: Draft): Promise<boolean> {
  const { metadata: { namespace, name }, kind } = id as { metadata: { namespace: string; name: string }; kind: string };
  const args = ["-n", namespace, "wait", `${PLURAL[kind]}.${GROUP}/${name}`, "--for=condition=Reconciled"];
  try {
    const command = new Deno.Command("kubectl", {
      args: ["--kubeconfig", server.kubeconfig, ...args, "--timeout=90s"],
      ...{ stdout: "null", stderr: "null" },
    });
    return (await command.output()).success;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    await until("the condition", async () => await reconciled(server, id) === "True");
    return true;
  }
}

test("kubectl wait does not pass for an unknown subset, and passes when the rule has the subset: status agrees with live", async ({ server, namespace }) => {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
  const objects = [entry(namespace), rule(namespace, "other"), route(namespace)];
  for (const object of objects) await server.objects.create(object);
  const folder = await Deno.makeTempDir({ prefix: "status-" });
  const file = `${folder}/kubeconfig`;
  const token = await server.users.token("mesh-system", "meshd");
  await Deno.writeTextFile(file, kubeconfigOf(server.users.byToken(token)));
  const place = { from: "files", files: [file], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  const settings = { PILOT_ENABLE_ANALYSIS: true, PILOT_ANALYSIS_INTERVAL: 200, PILOT_STATUS_UPDATE_INTERVAL: 50 };
  try {
    await withServer({}, async ({ ports }) => {
      const live = async ({ kind, metadata }: Draft) => {
        const { name } = metadata as { readonly name: string };
        const query = `${kind}/${namespace}/${name}&wait=90s`;
        const answer = await fetch(`http://127.0.0.1:${ports.http}/debug/live?object=${query}`);
        return await answer.json() as { readonly everywhere: boolean; readonly why: readonly string[] };
      };
      /** Until the status of each object agrees with `live`. */
      const agree = async (expected: Readonly<Record<string, boolean>>) => {
        for (const object of objects) {
          const { kind } = object;
          await until(`${kind}: status ${expected[kind]}`, async () => {
            return await reconciled(server, object) === (expected[kind] ? "True" : "False");
          });
          const { everywhere, why } = await live(object);
          assert.equal(everywhere, expected[kind], `${kind}: ${why.join()}`);
        }
      };
      using _proxy = await TestProxy.attach(ports.grpc);
      await agree({ ServiceEntry: true, DestinationRule: true, VirtualService: false });
      let passed = false;
      const waiting = waited(server, route(namespace)).then((success) => passed = success);
      assert.equal(await waited(server, entry(namespace)), true, "what is in force needs no wait");
      assert.deepEqual([await reconciled(server, route(namespace)), passed], ["False", false]);
      await server.objects.apply(rule(namespace, "v1"));
      assert.equal(await waiting, true);
      await agree({ ServiceEntry: true, DestinationRule: true, VirtualService: true });
    }, { options: { configDir: undefined, orch }, settings });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
