/**
 * `/debug/cachez`: the encoded resources that the caches of translation keep.
 *
 * @module
 */
import * as z from "zod";
import { paced } from "../kernel/time/paced.ts";
import { type CachedType, cachedTypes } from "../translate/machine/cache/content.ts";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { refuseChange } from "./change.ts";
import { queried, SWITCH } from "./query.ts";
import type { DebugView } from "./view.ts";
import { within } from "./within.ts";

/** How long a request waits for the push of its change, ms. */
const PUSH_PATIENCE = 30_000;

/**
 * The page: names by type. With `sizes`: bytes by type, and `total`.
 *
 * POST with `clear` builds everything again, in steps and from empty caches. Results that no connected proxy uses are
 * then gone, and proxies get the differences. There are no differences unless the caches held something wrong. Until
 * the work is done, the old results stay in force.
 */
export const cachez = queried(
  z.object({ sizes: SWITCH, clear: SWITCH }),
  async (request, view, { sizes, clear }): Promise<HttpResponse> => {
    if (request.method !== "GET") {
      return clear ? await cleared(request, view) : textResponse(400, "query clear is missing, expected clear=true\n");
    }
    if (clear) return refuseChange(request);
    const types = await paced(cachedTypes(view.translator.caches), { signal: request.signal });
    const sorted = [...types].sort(([a], [b]) => a < b ? -1 : 1);
    return sizes ? jsonResponse(sizesOf(sorted), request) : longJsonResponse(namesOf(sorted), request);
  },
);

function namesOf(types: readonly (readonly [string, CachedType])[]): LazyObject {
  return new LazyObject(types.map(([type, { names }]) => [type, LazyList.of([...names].sort(), (name) => name)]));
}

function sizesOf(types: readonly (readonly [string, CachedType])[]): Record<string, string> {
  const total = types.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  return Object.fromEntries([...types.map(([type, { bytes }]) => [type, byteText(bytes)]), ["total", byteText(total)]]);
}

async function cleared({ signal }: HttpRequest, view: DebugView): Promise<HttpResponse> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = view.onPush(({ reasons }) => "debug" in reasons && resolve());
  try {
    view.pushAll();
    const isDone = await within(promise, PUSH_PATIENCE, signal);
    return isDone ? textResponse(200, "Cache cleared\n") : textResponse(202, "the cache is still being cleared\n");
  } finally {
    stop();
  }
}

const UNITS = ["kB", "MB", "GB"];

/** A number of bytes as Istio's page writes it: `812B`, `1.2kB`. */
function byteText(bytes: number): string {
  if (bytes < 1000) return `${bytes}B`;
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)}${UNITS[power - 1]}`;
}
