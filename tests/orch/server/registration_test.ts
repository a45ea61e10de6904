/** Machines register themselves in a real API, move between two servers, and are gone after the grace period. */
import assert from "node:assert/strict";
import { connectedTo, disconnected } from "../../../lib/discovery/registration/connection.ts";
import { ApiShelf } from "../../../lib/discovery/registration/api_shelf.ts";
import { desiredRegistration, groupEntry } from "../../../lib/discovery/registration/group_entry.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { QuestionClient } from "../../discovery/question_client.ts";
import { machine, workloadGroup } from "../../discovery/registration/replicas.ts";
import { withServer } from "../../discovery/running.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const API_VERSION = "networking.mesh.io/v1";

async function prepare(server: ApiServer): Promise<void> {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
}

test("a machine's entry is made, follows it to another server, and goes when it has left both", async ({ server, namespace }) => {
  await prepare(server);
  const { objects } = server;
  const group = await objects.create({
    apiVersion: API_VERSION,
    kind: "WorkloadGroup",
    metadata: { namespace, name: "machines" },
    spec: { metadata: { labels: { app: "store" } }, template: { ports: { http: 8080 } } },
  });
  const id = { apiVersion: API_VERSION, kind: "WorkloadEntry", metadata: { namespace, name: "machines-10.0.0.1" } };
  const annotation = async (name: string) => (await objects.get(id))?.metadata.annotations?.[`mesh.io/${name}`];
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: true, services: true };
  const changes = (POD_NAME: string) => ({
    options: { configDir: undefined, orch },
    settings: { POD_NAME, MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: false, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: 1000 },
  });
  await withServer({}, async (one) => {
    await withServer({}, async (other) => {
      const connect = async (port: number) => {
        const node = `sidecar~10.0.0.1~vm.${namespace}~${namespace}.svc.cluster.local`;
        const client = await QuestionClient.connect(port, node, undefined, { AUTO_REGISTER_GROUP: "machines" });
        await client.subscribe();
        return client;
      };
      const first = await connect(one.ports.grpc!);
      await until("the entry", async () => await objects.get(id) !== undefined);
      const { metadata, spec } = (await objects.get(id))!;
      assert.deepEqual(spec, { address: "10.0.0.1", labels: { app: "store" }, ports: { http: 8080 } });
      assert.deepEqual(metadata.labels, { app: "store" });
      const [owner] = metadata["ownerReferences"] as { uid: string; controller: boolean }[];
      assert.deepEqual([owner?.uid, owner?.controller], [group.metadata.uid, true]);
      assert.equal(await annotation("workloadController"), "server-one");
      const second = await connect(other.ports.grpc!);
      await until("the other server", async () => await annotation("workloadController") === "server-two");
      first[Symbol.dispose]();
      await until(
        "both know the entry",
        () => other.store.get("WorkloadEntry", namespace, id.metadata.name) !== undefined,
      );
      assert.equal(await annotation("disconnectedAt"), undefined);
      second[Symbol.dispose]();
      await until("the end", async () => await objects.get(id) === undefined);
    }, changes("server-two"));
  }, changes("server-one"));
});

interface Condition {
  readonly type: string;
  readonly message?: string;
}

test("the health that an agent reports to one server is known to all, moves with it, and goes when it has left", async ({ server, namespace }) => {
  await prepare(server);
  const { objects } = server;
  await objects.create({
    apiVersion: API_VERSION,
    kind: "WorkloadGroup",
    metadata: { namespace, name: "machines" },
    spec: { template: { ports: { http: 8080 } } },
  });
  const id = { apiVersion: API_VERSION, kind: "WorkloadEntry", metadata: { namespace, name: "machines-10.0.0.2" } };
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: true, services: true };
  const changes = (POD_NAME: string) => ({
    options: { configDir: undefined, orch },
    settings: { POD_NAME, MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: false, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: 2000 },
  });
  const probed = { AUTO_REGISTER_GROUP: "machines", PROXY_CONFIG: { readinessProbe: { httpGet: { port: 8080 } } } };
  const conditionsOf = async () => {
    const { status } = (await objects.get(id))! as { status?: { conditions?: Condition[] } };
    return status?.conditions ?? [];
  };
  await withServer({}, async (one) => {
    await withServer({}, async (other) => {
      const connect = async (port: number, metadata: object = probed) => {
        const node = `sidecar~10.0.0.2~vm.${namespace}~${namespace}.svc.cluster.local`;
        const client = await QuestionClient.connect(port, node, undefined, metadata);
        await client.subscribe();
        return client;
      };
      const known = (at: typeof one) => at.store.get("WorkloadEntry", namespace, id.metadata.name)?.healthy;
      const both = (healthy: boolean) =>
        until(`both servers: ${healthy}`, () => known(one) === healthy && known(other) === healthy);
      const first = await connect(one.ports.grpc!);
      first.reportHealth(true);
      await both(true);
      // Conditions of others stay.
      const conditions = [...await conditionsOf(), { type: "Mine", status: "True" }];
      await objects.patch(id, { status: { conditions } }, "status");
      const second = await connect(other.ports.grpc!);
      second.reportHealth(false);
      await both(false);
      first[Symbol.dispose]();
      second.reportHealth(true);
      await both(true);
      second.reportHealth(false, "x".repeat(5000));
      await both(false);
      const written = (await conditionsOf()).map(({ type, message }) => [type, message?.length]);
      assert.deepEqual(written, [["Mine", undefined], ["Healthy", 1024]]);
      second[Symbol.dispose]();
      // A user's entry stays when the agent leaves, and nobody calls the entry healthy.
      const own = { ...id, metadata: { namespace, name: "own" } };
      await objects.create({ ...own, spec: { address: "10.0.0.3" } });
      const third = await connect(one.ports.grpc!, { WORKLOAD_ENTRY: "own" });
      const knownOwn = () => other.store.get("WorkloadEntry", namespace, "own")?.healthy;
      third.reportHealth(true);
      await until("the report", () => knownOwn() === true);
      third[Symbol.dispose]();
      await until("no report", () => knownOwn() === undefined);
    }, changes("server-two"));
  }, changes("server-one"));
});

/** Makes, reads, changes and deletes an entry. */
async function keepEntry(client: ApiClient): Promise<void> {
  const shelf = new ApiShelf(client, API_VERSION);
  const group = workloadGroup({ template: {} }) as ConfigObject<"WorkloadGroup">;
  const address = `10.1.${crypto.getRandomValues(new Uint8Array(2)).join(".")}`;
  const made = groupEntry(group, desiredRegistration(machine(address))!);
  assert.ok("entry" in made);
  const { signal } = new AbortController();
  const { entry } = made;
  await shelf.create(entry, signal);
  for (const change of [connectedTo("a", 1), disconnected(2)]) {
    const was = await shelf.read(entry.meta, signal);
    assert.ok(was);
    await shelf.annotate(entry.meta, was, change, signal);
    await assert.rejects(shelf.annotate(entry.meta, was, change, signal), { name: "EntryConflict" });
    await assert.rejects(shelf.remove(entry.meta, was, signal), { name: "EntryConflict" });
  }
  const last = await shelf.read(entry.meta, signal);
  assert.equal(last?.annotations["mesh.io/connectedAt"], undefined);
  assert.ok(last?.annotations["mesh.io/disconnectedAt"]);
  assert.equal(await shelf.remove(entry.meta, last, signal), true);
}

test("the rights of the manifests are enough to write entries, and with one verb less the request is refused", async ({ server }) => {
  await prepare(server);
  await server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const needs = ({ resource, group, verb }: Right) =>
    resource === "workloadentries" && API_VERSION.startsWith(group) && verb !== "list" && verb !== "watch";
  await everyRightIsNeeded(server, ["pilot-discovery"], needs, ({ client }) => keepEntry(client));
});
