/**
 * What every shelf of rollouts does.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { RolloutShelf } from "../../../lib/discovery/rollout/shelf.ts";
import { parseObject } from "../../../lib/config/object.ts";
import type { AnyConfigObject } from "../../../lib/config/types.ts";
import { beginRollout } from "../../../lib/rollout/machine.ts";
import { writtenRecords } from "../../../lib/rollout/record.ts";
import type { StagedRecord } from "../../../lib/rollout/staged.ts";
import { inFile } from "../../config/origins.ts";
import { until } from "../../patience.ts";

/** A shelf, and the end of its use. */
export interface OpenedShelf extends AsyncDisposable {
  readonly shelf: RolloutShelf;
}

/** What is kept about a VirtualService in a rollout. @param note A text in the object. */
export function rolloutRecord(name: string, stage: number, note = ""): StagedRecord {
  const spec = { hosts: [`${name}.example`], http: [{ route: [{ destination: { host: `${name}.example` } }] }] };
  const tree = {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService" },
    ...{ metadata: { name, namespace: "x", annotations: { note } }, spec },
  };
  const settled = parseObject(tree, inFile("test"), { defaultNamespace: "x" }).object as AnyConfigObject;
  const plan = { stages: [{ percent: 10, soakMs: 1 }, { percent: 100, soakMs: 1 }], paused: false };
  const rollout = { ...beginRollout(settled.key, "candidate", plan, 1000), stage };
  return { key: settled.key, settled, rollout, choice: { total: 20, limit: 7 }, before: { requests: 9, errors: 1 } };
}

const texts = (records: Iterable<StagedRecord>) => [...records].map((one) => writtenRecords([one])).sort();

/** Requires that a shelf keeps what is written, over restarts. @param open Opens the same shelf again each time. */
export async function keepsRollouts(open: () => Promise<OpenedShelf>): Promise<void> {
  const kept = async () => {
    await using opened = await open();
    return texts(await opened.shelf.read());
  };
  /** An API may answer from before the last write. */
  const becomes = async (records: readonly StagedRecord[], what: string) =>
    await until(what, async () => JSON.stringify(await kept()) === JSON.stringify(texts(records)));
  assert.deepEqual(await kept(), [], "an empty shelf");
  const [a, b] = [rolloutRecord("a", 0), rolloutRecord("b", 0)];
  {
    await using opened = await open();
    await opened.shelf.read();
    await opened.shelf.write([a, b]);
    await opened.shelf.write([a, b]);
  }
  await becomes([a, b], "two objects");
  const later = rolloutRecord("a", 1);
  {
    await using opened = await open();
    await opened.shelf.read();
    await opened.shelf.write([later]);
  }
  await becomes([later], "a newer state, and an object that is gone");
  {
    await using opened = await open();
    await opened.shelf.read();
    await opened.shelf.write([]);
  }
  await becomes([], "nothing is left");
}
