import assert from "node:assert/strict";
import fc from "fast-check";
import type { ClientResources } from "../../lib/xds/ads/client_resources.ts";
import { findInStack } from "../../lib/xds/ads/set_stack.ts";
import { runs } from "../properties.ts";
import { protocolEvent, ProtocolModel } from "./support/protocol_model.ts";

const RUNS = runs(300);

const events = fc.array(protocolEvent, { maxLength: 60 });

/** The invariants of a type on a stream, as named in `client_resources.ts`. */
function assertInvariants(resources: ClientResources, isAsked: (name: string) => boolean): void {
  const { state, sent, want, acknowledged, inFlight, portion, differ, blamed } = resources;
  assert.equal(acknowledged, inFlight === undefined ? sent : inFlight.before, "acknowledged");
  assert.equal(state === "in flight", inFlight !== undefined, "one response at a time");
  if (state === "settled") {
    for (const { set } of want) {
      for (const { name, version } of set) assert.equal(findInStack(sent, name)?.version, version);
    }
  }
  if (inFlight === undefined) assert.equal(differ, state === "due", "only a due type is sent");
  if (state === "held") assert.ok(resources.rejecting && resources.lastError !== "", "held by a rejection");
  assert.ok(portion > 0, "a portion holds something");
  if (resources.lastError !== "late") {
    for (const { name, version } of blamed) {
      // A client that asks for what it rejected gets it once more. A client that may have an earlier version of what it
      // rejected gets all with each change: nothing can be left out without taking the earlier version away.
      if (!isAsked(name) && !resources.hasUnknown) {
        assert.notEqual(findInStack(sent, name)?.version, version, "rejected");
      }
    }
  }
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: under any order of events a client ends with exactly what it subscribes to, and nothing is sent twice`, () => {
    fc.assert(
      fc.property(events, (events) => {
        const model = new ProtocolModel(delta);
        for (const e of events) if (e.do !== "reject") model.step(e);
        model.drain();
        model.check();
        assert.deepEqual(model.unanswered(), []);
        const before = model.client.received.length;
        model.client.stream.reconcile();
        assert.equal(model.client.received.length, before, "nothing more to say");
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${variant}: rejections delay nothing endlessly: once everything has a new version, the client has it all`, () => {
    fc.assert(
      fc.property(events, (events) => {
        const model = new ProtocolModel(delta);
        for (const e of events) model.step(e);
        model.renewAll();
        model.drainOffers();
        model.check();
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${variant}: what a client rejected comes with the next offer, and a client that takes the offer has it all`, () => {
    fc.assert(
      fc.property(events, (events) => {
        const model = new ProtocolModel(delta);
        for (const e of events) model.step(e);
        model.drain();
        model.passTime();
        model.check();
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${variant}: the invariants of every type hold after every event`, () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(events, (events) => {
        const model = new ProtocolModel(delta);
        for (const e of events) {
          model.step(e);
          for (const { typeUrl, resources } of model.client.stream.watches.values()) {
            assertInvariants(resources, (name) => model.asked.has(typeUrl + name));
            met.add(resources.state);
          }
        }
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
    for (const state of ["settled", "in flight", "held"]) {
      assert.ok(met.has(state), `no order of events led to: ${state}`);
    }
  });
}
