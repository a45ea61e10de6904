/**
 * The version of the orchestrator's API: pods may have the fields that it understands.
 *
 * Permissions: net (the API). Every account may ask it.
 *
 * @module
 */
import * as z from "zod";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";

/** Time until it is asked again, ms: a cluster is upgraded while its servers run. */
const AGAIN_MS = 5 * 60_000;

/** Minor versions may have a sign behind the number. */
const versionSchema = z.object({ minor: z.string().regex(/^\d+/).transform((text) => parseInt(text, 10)) });

/** Asks for the minor version until the kernel stops; the function gives the last one, undefined: not known. */
export function followApiVersion(
  client: ApiClient,
  { stopper, clock }: Pick<Kernel, "clock" | "stopper">,
): () => number | undefined {
  let minor: number | undefined;
  const stop = new AbortController();
  const follow = async () => {
    while (!stop.signal.aborted) {
      try {
        const read = versionSchema.safeParse(await client.json({ path: "/version", signal: stop.signal }));
        if (read.success) minor = read.data.minor;
      } catch {
        // Away for now: the informers say so, and the last version stays.
      }
      await clock.sleep(AGAIN_MS, stop.signal).catch(() => {});
    }
  };
  const done = follow();
  stopper.add("version of the API", async () => {
    stop.abort(new Error("the server stops"));
    await done;
  });
  return () => minor;
}
