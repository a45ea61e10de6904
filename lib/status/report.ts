/**
 * The report of a server to the server that writes status: the progress of each object on the server's proxies, in a
 * config map.
 *
 * A mesh of 10,000 objects is some 400 kB as JSON, and a tenth of that when compressed; a config map holds 1 MiB.
 *
 * @module
 */
import * as z from "zod";
import type { ApiJson } from "../orch/client/answer.ts";
import type { ObjectProgress } from "./progress.ts";

/** Objects by uid. */
export type ServerReport = ReadonlyMap<string, ObjectProgress>;

/** Label of the config maps. The label's value has no meaning. */
export const REPORT_LABEL = "internal.mesh.io/status-report";

/** Label of the config maps with reports about the kinds of the Gateway API. */
export const GATEWAY_REPORT_LABEL = "internal.mesh.io/gateway-status-report";

/** Entry of the config map. */
const ENTRY = "report";

/** Most bytes of a report. A larger report leaves out objects that are live everywhere. */
const MOST_BYTES = 900_000;

/** Most bytes of an unpacked report. */
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

/** Reads a report; undefined: the data are not a report, or have another version's format. */
export async function readReport(binaryData: unknown): Promise<ServerReport | undefined> {
  const data = z.object({ [ENTRY]: z.base64().max(2 * MOST_BYTES) }).safeParse(binaryData);
  if (!data.success) return undefined;
  try {
    const text = await unpackedText(Uint8Array.fromBase64(data.data[ENTRY]!));
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
  return await packedText(JSON.stringify({ objects: Object.fromEntries(rows) }));
}

/** A text in gzip. */
export async function packedText(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The text in gzip. @throws {Error} when the bytes are not a text in gzip, or the text is longer than 64 MiB */
export async function unpackedText(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
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
