/** Several servers, each with a clock, that register workloads in one place. The place may fail. */
import assert from "node:assert/strict";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { cleanUpEntries } from "../../../lib/discovery/registration/clean_up.ts";
import { readConnection } from "../../../lib/discovery/registration/connection.ts";
import { MemoryShelf } from "../../../lib/discovery/registration/memory_shelf.ts";
import { Registrar, type StreamRegistration } from "../../../lib/discovery/registration/registrar.ts";
import type { EntryShelf } from "../../../lib/discovery/registration/shelf.ts";
import { NodeReader } from "../../../lib/discovery/pipeline/node_reader.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import type { Proxy } from "../../../lib/translate/proxy/node.ts";

export const GRACE = 10_000;
export const VM = "spiffe://cluster.local/ns/shop/sa/vm";
const ORIGIN = { from: "file", source: "f", file: "a.yaml", line: 1, within: "" } as const;

/** A WorkloadGroup of namespace `shop`. */
export function workloadGroup(spec: object, name = "machines"): ConfigObject {
  const tree = {
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadGroup",
    metadata: { name, namespace: "shop" },
    spec,
  };
  const { object, findings } = parseObject(tree, ORIGIN, { defaultNamespace: "shop" });
  assert.ok(object, JSON.stringify(findings));
  return object;
}

/** A proxy of namespace `shop`. */
export function machine(address: string, metadata: Readonly<Record<string, unknown>> = {}, region = ""): Proxy {
  const nodes = new NodeReader({ vhds: false, clusterId: "c1", clusterAliases: {} });
  const node = {
    id: `sidecar~${address}~vm.shop~shop.svc.cluster.local`,
    metadata: struct({ AUTO_REGISTER_GROUP: "machines", ...metadata }),
    ...(region === "" ? {} : { locality: { region } }),
  };
  return nodes.read(node, true, defaultMeshConfig({ systemNamespace: "mesh-system" }));
}

/** See the file. The clock of server `i` is `skews[i]` ahead. */
export function replicas(skews: readonly number[] = [0]) {
  const clock = createFakeClock();
  const store = new ConfigStore();
  const user = store.addSource("f", 0);
  const memory = new MemoryShelf(store.addSource("registration", 999));
  const faults = { next: 0 };
  const guarded = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => async (...args: A) => {
    await Promise.resolve();
    if (faults.next > 0) {
      faults.next--;
      throw new Error("the API is away");
    }
    return await call(...args);
  };
  const shelf: EntryShelf = {
    read: guarded((place) => memory.read(place)),
    create: guarded((entry) => memory.create(entry)),
    annotate: guarded((place, was, change) => memory.annotate(place, was, change)),
    remove: guarded((place, was) => memory.remove(place, was)),
  };
  const metrics = createMetrics("pilot-discovery");
  const log = silentLog().scope("wle");
  const servers = skews.map((skew, index) => {
    const own = { ...clock, now: () => clock.now() + skew };
    const registrar = new Registrar({
      ...{ controller: `server-${index}`, store, shelfOf: () => shelf, clock: own, log, metrics, random: () => 0 },
      validateIdentity: true,
    });
    return { registrar, clock: own };
  });
  let term = new AbortController();
  /** Makes a server the cleaner from now on, in place of the server before. */
  const lead = (index: number) => {
    term.abort();
    term = new AbortController();
    void cleanUpEntries({
      ...{ store, shelfOf: () => shelf, clock: servers[index]!.clock, log, metrics },
      times: { grace: GRACE, connection: Infinity },
    }, term.signal);
  };
  const entries = () => store.list("WorkloadEntry");
  return {
    ...{ clock, store, user, faults, servers, lead, entries, metrics },
    open: (server: number, proxy = machine("10.0.0.1"), identity: string | undefined = VM): StreamRegistration =>
      servers[server]!.registrar.open(proxy, identity)!,
    /** Name and server of each entry. */
    said: () =>
      entries().map(({ meta }) => {
        const { controller, connected } = readConnection(meta.annotations);
        return `${meta.name} ${connected ? controller : "left"}`;
      }),
    /** Somebody deletes an entry. */
    async takeAway(name: string): Promise<void> {
      const entry = await memory.read({ namespace: "shop", name });
      assert.ok(entry);
      await memory.remove({ namespace: "shop", name }, entry);
    },
    settle: () => clock.advance(0),
    async end() {
      term.abort();
      const stops = servers.map(({ registrar }) => registrar.stop());
      await clock.advance(5000);
      await Promise.all(stops);
    },
  };
}
