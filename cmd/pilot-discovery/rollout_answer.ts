/**
 * The staged rollouts of a server, as its pages answer.
 *
 * Permissions: net (the address of the server).
 *
 * @module
 */
import * as z from "zod";
import { UsageError } from "../../lib/cli/command.ts";
import { askServer } from "./ask_server.ts";

const count = z.number().int().nonnegative();

const SHOWN = z.looseObject({
  object: z.string(),
  phase: z.enum(["spreading", "soaking", "taken-back"]),
  stage: z.number().int().positive(),
  stages: z.array(z.looseObject({ percent: z.number(), soak: z.string() })).min(1),
  since: z.string(),
  until: z.string().optional(),
  hash: z.string(),
  settled: z.string().nullable(),
  ...{ proxies: count, chosen: count, live: count, rejected: count },
  chosenHere: z.array(z.string()),
  rejections: z.array(z.string()),
  ...{ reason: z.string(), problem: z.string() },
  decides: z.boolean(),
  written: z.looseObject({ apiVersion: z.string(), kind: z.string(), from: z.string(), place: z.string() }),
  annotation: z.string(),
  settledObject: z.record(z.string(), z.unknown()).nullable(),
});

/** A rollout as the server's page shows it. */
export type ShownRollout = z.infer<typeof SHOWN>;

/**
 * The key of an object, which may be named by a short kind, and whether the server has the object.
 *
 * @throws {UsageError} when no such server answers
 */
export async function objectAt(
  server: URL,
  named: string,
): Promise<{ readonly key: string; readonly exists: boolean }> {
  const url = new URL("/debug/live", server);
  url.searchParams.set("object", named);
  // The page answers 404 while all proxies have no version.
  const answer = await askServer("GET", url, { alsoStatus: 404, field: "why" });
  const { object, hash } = z.looseObject({ object: z.string(), hash: z.string().optional() }).parse(answer);
  return { key: object, exists: hash !== undefined };
}

/** The rollouts of a server, the oldest first. @throws {UsageError} when no such server answers */
export async function shownRollouts(server: URL): Promise<readonly ShownRollout[]> {
  const url = new URL("/debug/rollouts", server);
  const read = z.array(SHOWN).safeParse(await askServer("GET", url));
  if (read.success) return read.data;
  throw new UsageError(`${url}: got another form, expected the rollouts of a server of the same version`);
}
