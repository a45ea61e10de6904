/**
 * The report of a server to the server that writes status: the progress of each object on the server's proxies, in a
 * config map.
 *
 * A mesh of 10,000 objects is some 400 kB as JSON, and a tenth of that when compressed; a config map holds 1 MiB.
 *
 * @module
 */
import * as z from "zod";
import { type ApiJson, isApiJson } from "../orch/client/answer.ts";
import { packedEntry, unpackedEntry } from "./packed_entry.ts";
import type { ObjectProgress } from "./progress.ts";

/** Objects by uid. */
export type ServerReport = ReadonlyMap<string, ObjectProgress>;

/** Label of the config maps. The label's value has no meaning. */
export const REPORT_LABEL = "internal.mesh.io/status-report";

/** Label of the config maps with reports about the kinds of the Gateway API. */
export const GATEWAY_REPORT_LABEL = "internal.mesh.io/gateway-status-report";

/** Entry of the config map. */
const ENTRY = "report";

const count = z.number().int().nonnegative();
const rowSchema = z.tuple([count, count, count, count, z.string().max(2048)]);
const reportSchema = z.object({ objects: z.record(z.string(), rowSchema) });

/**
 * Content of the config map of a report. A report that does not fit into a config map leaves out objects that are live
 * everywhere.
 */
export async function reportData(report: ServerReport): Promise<ApiJson> {
  const whole = await packed(report);
  if (whole !== undefined) return { [ENTRY]: whole };
  const unfinished = [...report].filter(([, { live, total }]) => live < total);
  return { [ENTRY]: await packed(new Map(unfinished)) ?? "" };
}

/** Reads a report; undefined: the data are not a report, or have another version's format. */
export async function readReport(binaryData: unknown): Promise<ServerReport | undefined> {
  try {
    const text = await unpackedEntry(isApiJson(binaryData) ? binaryData[ENTRY] : undefined);
    const read = reportSchema.safeParse(JSON.parse(text));
    if (!read.success) return undefined;
    return new Map(
      Object.entries(read.data.objects).map(([uid, [generation, total, live, rejected, reason]]) =>
        [uid, { generation, total, live, rejected, reason }] as const
      ),
    );
  } catch {
    return undefined;
  }
}

async function packed(report: ServerReport): Promise<string | undefined> {
  const rows = [...report].map(([uid, { generation, total, live, rejected, reason }]) =>
    [uid, [generation, total, live, rejected, reason]] as const
  );
  return await packedEntry(JSON.stringify({ objects: Object.fromEntries(rows) }));
}
