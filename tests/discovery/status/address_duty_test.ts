/** The leader writes the addresses of service entries, each once, and heals changes by others. */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../../../lib/config/types.ts";
import { addressDuty } from "../../../lib/discovery/status/address_duty.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";
import type { ObjectPlace } from "../../../lib/orch/resources/objects.ts";
import { ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import { OPTIONS } from "../../registry/objects.ts";
import { ObjectsApi } from "./objects_api.ts";
import { until } from "../../patience.ts";

const resource = {
  group: "networking.mesh.io",
  version: "v1",
  plural: "serviceentries",
  kind: "ServiceEntry",
  namespaced: true,
};
const pathOf = (name: string) => `/apis/networking.mesh.io/v1/namespaces/shop/serviceentries/${name}`;

/** Service entries of an API, and the duty over them. */
class Entries {
  readonly api = new ObjectsApi();
  readonly store = new ConfigStore();
  readonly registry = new ServiceEntryRegistry(OPTIONS);
  readonly #source = this.store.addSource("Orch", 0);

  constructor() {
    this.store.subscribe(({ added, updated, removed }) =>
      this.registry.apply(
        [...added, ...updated.map((one) => one.new)] as AnyConfigObject[],
        removed.map(({ key }) => key),
      )
    );
  }

  /** A user writes an entry. The status stays. */
  write(name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): void {
    const status = this.api.get(pathOf(name))?.status;
    this.put(name, spec, metadata, status);
  }

  put(name: string, spec: Record<string, unknown>, metadata: Record<string, unknown>, status: unknown): void {
    this.api.put(pathOf(name), {
      ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry" },
      metadata: { creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
      spec: {
        ...{ hosts: [`${name}.example.com`], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
        ...{ resolution: "STATIC", endpoints: [{ address: "10.0.0.1" }] },
        ...spec,
      },
      ...(status === undefined ? {} : { status }),
    });
    this.hear(name);
  }

  /** The watch tells the present objects of the API. */
  hear(...names: readonly string[]): void {
    const upserted = names.flatMap((name): ConfigObject[] => {
      const tree = this.api.get(pathOf(name))!;
      const origin = { from: "api", source: "Orch", uid: tree.metadata.uid } as const;
      const { object, findings } = parseObject(tree, origin, { defaultNamespace: "shop" });
      assert.ok(object !== undefined, findings.map(({ message }) => message).join());
      return [object];
    });
    this.#source.apply({ upserted, removed: [] });
  }

  statusOf(name: string): unknown {
    return this.api.get(pathOf(name))?.status?.["addresses"];
  }

  served(name: string) {
    return this.registry.assignment(`ServiceEntry/shop/${name}`)!.map(({ host, value }) => ({ value, host }));
  }

  /** Runs the duty for as long as `run` takes. */
  async led(run: (leave: () => void) => Promise<void>): Promise<void> {
    const leadership = new AbortController();
    const placeOf = ({ meta: { namespace, name } }: ConfigObject): ObjectPlace => ({ resource, namespace, name });
    const duty = addressDuty({
      ...{ client: this.api.client, store: this.store, entries: this.registry, placeOf },
      writing: {
        id: "ip-autoallocate",
        workers: 10,
        limit: new TokenBucket(0, 1, systemClock),
        clock: systemClock,
        log: silentLog().scope("ip-autoallocate"),
      },
    });
    const running = duty.run(leadership.signal);
    try {
      await run(() => leadership.abort());
    } finally {
      leadership.abort();
      await running;
    }
  }
}

Deno.test("each entry that may have addresses gets the served addresses, in one write", async () => {
  const entries = new Entries();
  entries.write("a");
  entries.write("two", { hosts: ["x.example.com", "*.example.com", "y.example.com"] });
  entries.write("own", { addresses: ["10.1.1.1"] });
  entries.write("none", { resolution: "NONE", endpoints: undefined });
  entries.write("out", {}, { labels: { "networking.istio.io/enable-autoallocate-ip": "false" } });
  entries.write("wild", { hosts: ["*.wild.com"] });
  const before = entries.served("two");
  await entries.led(async () => {
    await until("both statuses", () => entries.statusOf("a") !== undefined && entries.statusOf("two") !== undefined);
    entries.hear("a", "two");
    entries.write("late");
    await until("the late one", () => entries.statusOf("late") !== undefined);
  });
  assert.deepEqual(entries.statusOf("two"), before);
  assert.deepEqual(entries.served("two"), before, "what is served does not change by the write");
  assert.deepEqual(before.map(({ host }) => host), [
    "x.example.com",
    "x.example.com",
    "y.example.com",
    "y.example.com",
  ]);
  assert.equal(entries.api.writes.length, 3, entries.api.writes.join("\n"));
});

Deno.test("two entries with the same address are separated, and a user's address stays the user's", async () => {
  const entries = new Entries();
  const rows = (name: string) => ({ addresses: [{ value: "240.240.0.7", host: `${name}.example.com` }] });
  entries.put("young", {}, { creationTimestamp: "2026-02-01T00:00:00Z" }, rows("young"));
  entries.put("old", {}, {}, { ...rows("old"), conditions: [{ type: "Theirs", status: "True" }] });
  await entries.led(async () => {
    await until(
      "the younger one's",
      () => JSON.stringify(entries.statusOf("young")) !== JSON.stringify(rows("young").addresses),
    );
    entries.hear("young");
    assert.deepEqual(entries.statusOf("old"), rows("old").addresses);
    entries.write("user", { addresses: ["240.240.0.7"] });
    await until(
      "the older one's",
      () => JSON.stringify(entries.statusOf("old")) !== JSON.stringify(rows("old").addresses),
    );
    entries.hear("old");
  });
  const all = ["young", "old"].flatMap((name) => entries.served(name).map(({ value }) => value));
  assert.equal(new Set([...all, "240.240.0.7"]).size, 5);
  assert.deepEqual(entries.statusOf("old"), entries.served("old"));
  assert.deepEqual(entries.api.get(pathOf("old"))!.status!["conditions"], [{ type: "Theirs", status: "True" }]);
});

Deno.test("addresses that somebody takes away are written again, as they were", async () => {
  const entries = new Entries();
  entries.write("a");
  await entries.led(async () => {
    await until("the status", () => entries.statusOf("a") !== undefined);
    entries.hear("a");
    const before = entries.statusOf("a");
    entries.put("a", {}, {}, {});
    await until("it again", () => entries.statusOf("a") !== undefined);
    assert.deepEqual(entries.statusOf("a"), before);
  });
});

Deno.test("a conflict is read again, a refusal tried again, and nothing is written to another object of the name", async () => {
  const entries = new Entries();
  entries.write("a");
  const answers = [409, 500];
  entries.api.onWrite = () => answers.shift();
  await entries.led(async () => {
    await until("the status", () => entries.statusOf("a") !== undefined);
    entries.write("b");
    const other = entries.api.get(pathOf("b"))!;
    entries.api.put(pathOf("b"), { ...other, metadata: { ...other.metadata, uid: "another" } });
    entries.write("c");
    await until("the one after", () => entries.statusOf("c") !== undefined);
  });
  assert.equal(entries.statusOf("b"), undefined);
});

Deno.test("when leadership is lost nothing is written any more, though a thousand wait", async () => {
  const entries = new Entries();
  for (let n = 0; n < 1000; n++) entries.write(`e${n}`);
  let writes = 0;
  await entries.led(async (leave) => {
    const first = Promise.withResolvers<void>();
    entries.api.onWrite = () => {
      if (++writes === 20) first.resolve();
      return undefined;
    };
    await first.promise;
    leave();
    writes = 0;
    entries.api.writes.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual([writes, entries.api.writes.length], [0, 0]);
  });
});
