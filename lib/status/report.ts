/**
 * The report of one server to the one that writes: how far each object has come on its proxies, as a config map.
 *
 * A mesh of 10,000 objects is some 400 kB as JSON and a tenth of that compressed; a config map takes 1 MiB.
 *
 * @module
 */
import * as z from "zod";
import type { ApiJson } from "../orch/client/answer.ts";
import type { ObjectProgress } from "./progress.ts";

/** Objects by uid. */
export type ServerReport = ReadonlyMap<string, ObjectProgress>;

/** Label of the config maps; its value says nothing. */
export const REPORT_LABEL = "internal.mesh.io/status-report";

/** Entry of the config map. */
const ENTRY = "report";

/** Bytes that a report may have; of one that would have more, objects that are live everywhere are left out. */
const MOST_BYTES = 900_000;

/** Bytes that a report may have when it is unpacked. */
const MOST_UNPACKED = 64 * 1024 * 1024;

const count = z.number().int().nonnegative();
const rowSchema = z.tuple([count, count, count, count, z.string().max(2048)]);
const reportSchema = z.object({ objects: z.record(z.string(), rowSchema) });

/** Content of the config map of a report. */
export async function reportData(report: ServerReport): Promise<ApiJson> {
  const whole = await packed(report);
  if (whole.length <= MOST_BYTES) return { [ENTRY]: whole.toBase64() };
  const unfinished = [...report].filter(([, { live, total }]) => live < total);
  const part = await packed(new Map(unfinished));
  return { [ENTRY]: part.length <= MOST_BYTES ? part.toBase64() : "" };
}

/** A report as it was read; undefined: it is none, or of a version that writes otherwise. */
export async function readReport(binaryData: unknown): Promise<ServerReport | undefined> {
  const data = z.object({ [ENTRY]: z.base64().max(2 * MOST_BYTES) }).safeParse(binaryData);
  if (!data.success) return undefined;
  try {
    const text = await unpacked(Uint8Array.fromBase64(data.data[ENTRY]!));
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

async function packed(report: ServerReport): Promise<Uint8Array> {
  const rows = [...report].map(([uid, { generation, total, live, rejected, reason }]) =>
    [uid, [generation, total, live, rejected, reason]] as const
  );
  const text = JSON.stringify({ objects: Object.fromEntries(rows) });
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const part of stream) {
    size += part.length;
    if (size > MOST_UNPACKED) throw new Error("the report is too long");
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}
