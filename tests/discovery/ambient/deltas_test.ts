/**
 * Random changes, acknowledgements and reconnects: what a tunnel holds in the end equals what a new tunnel gets, and at
 * no moment does the tunnel decide about a workload without a policy that the workload lists.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { AUTHORIZATION_TYPE_URL } from "../../../lib/ambient/policy_set.ts";
import { authorizeConnection } from "../../../lib/simulate/tunnel/authorize.ts";
import { VARIANTS } from "../../ambient/support/variants.ts";
import { HeldResources, TUNNEL_TYPES } from "../../tunnel/discovery/held.ts";
import { StreamClient } from "../../xds/support/stream_client.ts";
import { TunnelServer } from "./tunnel_server.ts";
import type { TunnelView } from "../../../lib/discovery/ambient/tunnel_views.ts";
import { runs } from "../../properties.ts";

const SORTS = ["addresses", "policies"] as const;
const TYPES = SORTS.map((sort) => TUNNEL_TYPES[sort]);
const PLAIN = { source: "10.9.9.9", destination: { ip: "10.1.0.1", port: 8080 } };

/** A tunnel that takes responses in as they come, and acknowledges each type in its own time. */
class Tunnel {
  /** An earlier tunnel's state goes on. */
  readonly held: HeldResources;
  /** Nonces of responses without an answer, by type. */
  readonly #owed = new Map<string, string[]>(TYPES.map((type) => [type, []]));
  readonly #client: StreamClient<TunnelView>;

  constructor(source: ConstructorParameters<typeof StreamClient<TunnelView>>[0], earlier?: Tunnel) {
    this.#client = new StreamClient<TunnelView>(source, true);
    this.held = earlier?.held ?? new HeldResources();
    for (const sort of SORTS) this.#client.ask(TUNNEL_TYPES[sort], { versions: this.held.versions(sort) });
  }

  /** Looks for changes. */
  push(): void {
    this.#client.stream.reconcile();
  }

  /** Takes in the oldest response, if any. */
  take(): void {
    if (this.#client.inbox.length === 0) return;
    const { typeUrl, nonce, resources, removed } = this.#client.take();
    const content = [...resources].map(([name, { version, bytes }]) => ({ name, version, bytes }));
    const sort = SORTS.find((one) => TUNNEL_TYPES[one] === typeUrl)!;
    assert.equal(this.held.take(sort, { resources: content, removed }), undefined, "a tunnel rejects nothing");
    this.#owed.get(typeUrl)!.push(nonce);
  }

  /** Acknowledges the oldest response of a type, if any. */
  acknowledge(type: string): void {
    const nonce = this.#owed.get(type)!.shift();
    if (nonce !== undefined) this.#client.ask(type, { nonce });
  }

  takeAll(): void {
    this.push();
    while (this.#client.inbox.length > 0 || TYPES.some((type) => this.#owed.get(type)!.length > 0)) {
      this.take();
      for (const type of TYPES) this.acknowledge(type);
    }
  }

  /** Messages by sort and name. */
  get state(): Record<string, unknown> {
    return Object.fromEntries(SORTS.map((sort) => [sort, Object.fromEntries(this.held[sort])]));
  }

  /** Decisions about a plain connection to each workload. */
  decisions(): { readonly listed: readonly string[]; readonly unknown: readonly string[] }[] {
    const { policies } = this.held.state;
    return [...this.held.addresses.values()].flatMap(({ message: { workload } }) => {
      if (workload === undefined) return [];
      const { unknown } = authorizeConnection(PLAIN, workload, policies);
      return [{ listed: workload.authorization_policies ?? [], unknown }];
    });
  }

  close(): void {
    this.#client.close();
  }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      variant: fc.integer({ min: 0, max: VARIANTS.length - 1 }),
      isRemoved: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  { weight: 4, arbitrary: fc.constantFrom("push", "take", ...TYPES) },
  { weight: 1, arbitrary: fc.constant("reconnect" as const) },
);

Deno.test("a tunnel ends with what a new tunnel gets, and never decides without a policy that a workload lists", () => {
  let [changes, lists] = [0, 0];
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80, size: "max" }), (steps) => {
      const server = new TunnelServer();
      let tunnel = new Tunnel(server.source);
      let known: ReadonlySet<string> = new Set();
      const removed = new Set<string>();
      for (const one of steps) {
        if (typeof one === "object") server.change(VARIANTS[one.variant]!, one.isRemoved);
        else if (one === "push") tunnel.push();
        else if (one === "reconnect") {
          tunnel.close();
          tunnel = new Tunnel(server.source, tunnel);
        } else if (one === "take") tunnel.take();
        else tunnel.acknowledge(one);
        server.resources.revision;
        const inForce = new Set([...server.resources.sets(AUTHORIZATION_TYPE_URL)![0]!].map(({ name }) => name));
        for (const policy of known) if (!inForce.has(policy)) removed.add(policy);
        known = inForce;
        for (const { listed, unknown } of tunnel.decisions()) {
          lists += listed.length;
          // While a removal is on its way, a tunnel may lack a policy that somebody wrote again.
          assert.deepEqual(unknown.filter((policy) => !removed.has(policy)), []);
        }
      }
      tunnel.takeAll();
      const fresh = new Tunnel(server.source);
      fresh.takeAll();
      assert.deepEqual(tunnel.state, fresh.state);
      changes += fresh.held.addresses.size + fresh.held.policies.size;
      tunnel.close();
      fresh.close();
    }),
    { numRuns: runs(300) },
  );
  assert.ok(changes > 500 && lists > 100, `${changes} resources, ${lists} listed policies were looked at`);
});
