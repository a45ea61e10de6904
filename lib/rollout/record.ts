/**
 * What is kept about rollouts for a restart, as text.
 *
 * @module
 */
import * as z from "zod";
import { objectFromSpec } from "../config/object.ts";
import type { AnyConfigObject, Kind } from "../config/types.ts";
import type { Origin } from "../finding/origin.ts";
import { isStagedKind } from "./stageable.ts";
import type { StagedRecord } from "./staged.ts";

/** Longest text that is read, characters. */
export const MAX_RECORDS = 256 * 1024 * 1024;

const TEXTS = z.record(z.string(), z.string());

const OBJECT = z.object({
  meta: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: TEXTS,
    annotations: TEXTS,
    creationTimestamp: z.number(),
    generation: z.number().optional(),
  }),
  spec: z.record(z.string(), z.unknown()),
});

const ROLLOUT = z.object({
  candidate: z.string(),
  plan: z.object({
    stages: z.array(z.object({ percent: z.number().min(1).max(100), soakMs: z.number().min(0) })).min(1),
    paused: z.boolean(),
  }),
  stage: z.number().int().min(0),
  phase: z.enum(["spreading", "soaking", "taken-back"]),
  since: z.number(),
  reason: z.string(),
}).refine(({ plan, stage }) => stage < plan.stages.length, { error: "a stage of the plan" });

const RECORD = z.object({
  key: z.string().refine((key) => isStagedKind(key.slice(0, key.indexOf("/")))),
  settled: OBJECT.optional(),
  rollout: ROLLOUT.optional(),
  choice: z.object({ total: z.number(), limit: z.number() }).optional(),
  before: z.object({ requests: z.number(), errors: z.number() }).optional(),
});

const RECORDS = z.object({ version: z.literal(1), records: z.array(RECORD) });

/** Records as text. */
export function writtenRecords(records: Iterable<StagedRecord>): string {
  const written = [...records].map(({ key, settled, rollout, choice, before }) => ({
    ...{ key, choice, before },
    settled: settled && { meta: settled.meta, spec: settled.spec },
    rollout: rollout && { ...rollout, key: undefined },
  }));
  return JSON.stringify({ version: 1, records: written });
}

/**
 * Records from their text.
 *
 * @param origin The origin of the settled objects: the place of the text.
 * @throws {Error} when the text has another form
 */
export function readRecords(text: string, origin: Origin): StagedRecord[] {
  if (text.length > MAX_RECORDS) throw new Error(`more than ${MAX_RECORDS} characters`);
  return RECORDS.parse(JSON.parse(text)).records.map(({ key, settled, rollout, choice, before }) => ({
    ...{ key, choice, before },
    settled: settled && objectOf(key, settled, origin),
    rollout: rollout && { ...rollout, key },
  }));
}

function objectOf(key: string, { meta, spec }: z.infer<typeof OBJECT>, origin: Origin): AnyConfigObject {
  const kind = key.slice(0, key.indexOf("/")) as Kind;
  const { generation, ...others } = meta;
  const whole = generation === undefined ? others : { ...others, generation };
  // The rules of the kind check the spec again.
  const { object, findings } = objectFromSpec(kind, whole, spec as AnyConfigObject["spec"], origin);
  if (object === undefined) throw new Error(`${key}: ${findings[0]?.message ?? "refused"}`);
  return object as AnyConfigObject;
}
