/**
 * A file that editors and tools replace in their ways: no proxy ever gets a route configuration without the file's route.
 */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { REMOVAL_MS, SETTLE_MS } from "../../lib/folder/held_back.ts";
import { type Clock, systemClock } from "../../lib/kernel/time/clock.ts";
import { RouteWatcher } from "./route_watcher.ts";
import { withServer } from "./running.ts";

const WORLD = `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: shop, namespace: shop }
spec:
  hosts: [shop.example.com]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: shop }
spec: { selector: { app: door }, servers: [{ port: { number: 8088, name: http, protocol: HTTP }, hosts: ["*"] }] }
`;

/** The VirtualService, whose only rule has the version in its name. */
const route = (version: number) => `
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: shop, namespace: shop }
spec:
  hosts: [shop.example.com]
  gateways: [door, mesh]
  http: [{ name: rule-${version}-, route: [{ destination: { host: shop.example.com } }] }]
`;

const FILE = "routes.yaml";

const marker = (name: string) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.example.com]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.9 }]
`;

/** A way to replace a file. `seen` resolves when proxies have everything written before. */
interface Edit {
  readonly folder: string;
  readonly text: string;
  readonly seen: () => Promise<void>;
}

const EDITS: Readonly<Record<string, (edit: Edit) => Promise<void>>> = {
  "a temporary name, then a rename": async ({ folder, text, seen }) => {
    await Deno.writeTextFile(`${folder}/.${FILE}.swp`, text);
    await seen();
    await Deno.rename(`${folder}/.${FILE}.swp`, `${folder}/${FILE}`);
  },
  "the old file moved away, then a new file": async ({ folder, text, seen }) => {
    await Deno.rename(`${folder}/${FILE}`, `${folder}/${FILE}~`);
    await seen();
    await Deno.writeTextFile(`${folder}/${FILE}`, text);
    await Deno.remove(`${folder}/${FILE}~`);
  },
  "the old file removed, then a new file": async ({ folder, text, seen }) => {
    await Deno.remove(`${folder}/${FILE}`);
    await seen();
    await Deno.writeTextFile(`${folder}/${FILE}`, text);
  },
  "the file emptied, then written": async ({ folder, text }) => {
    await Deno.writeTextFile(`${folder}/${FILE}`, "");
    await Deno.writeTextFile(`${folder}/${FILE}`, text);
  },
  "the old file under another name with the new text": async ({ folder, text, seen }) => {
    await Deno.rename(`${folder}/${FILE}`, `${folder}/other.yaml`);
    await seen();
    await Deno.writeTextFile(`${folder}/other.yaml`, text);
    await seen();
    await Deno.rename(`${folder}/other.yaml`, `${folder}/${FILE}`);
  },
};

/** A clock whose holds of missing and half-written files end on command: on a busy machine they would end by themselves. */
function heldClock(): { readonly clock: Clock; pass(): void } {
  const holds = new Set<() => void>();
  let isPassing = false;
  const after: Clock["after"] = (ms, run) => {
    if (isPassing || (ms !== REMOVAL_MS && ms !== SETTLE_MS)) return systemClock.after(ms, run);
    holds.add(run);
    return () => holds.delete(run);
  };
  const pass = () => {
    isPassing = true;
    for (const run of holds) run();
  };
  return { clock: { ...systemClock, after }, pass };
}

const time = heldClock();

Deno.test("however an editor replaces the file of a route, no proxy gets a route configuration without the route", () =>
  withServer({ "world.yaml": WORLD, [FILE]: route(0) }, async (server: DiscoveryServer, folder) => {
    const metadata = { fields: { LABELS: { structValue: { fields: { app: { stringValue: "door" } } } } } };
    const { grpc } = server.ports;
    using door = new RouteWatcher(grpc, { id: "router~10.0.0.2~door.shop~shop.svc.cluster.local", metadata }, [
      "http.8088",
    ]);
    using side = new RouteWatcher(grpc, { id: "sidecar~10.0.0.3~web.shop~shop.svc.cluster.local" }, ["80"]);
    const both = (condition: (last: string) => boolean) => Promise.all([door.until(condition), side.until(condition)]);
    await both((last) => last.includes("rule-0-"));
    let markers = 0;
    const seen = async () => {
      const name = `marker-${++markers}`;
      await Deno.writeTextFile(`${folder}/marker.yaml`, marker(name));
      // A route that is gone by now would be gone in the same push.
      await side.until((last) => last.includes(`${name}.example.com`));
    };
    let version = 0;
    for (const [way, edit] of Object.entries(EDITS)) {
      const text = route(++version);
      await edit({ folder, text, seen });
      await both((last) => last.includes(`rule-${version}-`));
      for (const [who, { got }] of Object.entries({ door, side })) {
        const without = got.filter((one) => !one.includes("rule-"));
        assert.deepEqual(without, [], `${way}: ${who}`);
      }
    }
    // The watchers would see a missing route: a file that stays away takes the route with it.
    await Deno.remove(`${folder}/${FILE}`);
    time.pass();
    await both((last) => !last.includes("rule-"));
  }, { clock: time.clock }));
