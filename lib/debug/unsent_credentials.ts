/**
 * Credentials named by an object and not sent to proxies. The part of the object with the credential takes no
 * connections.
 *
 * @module
 */
import { askedCredentials, inNamespace, namedCredentials, neverHolds } from "../config/credentials/named.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import type { PushProgress } from "../xds/progress.ts";
import { SECRET } from "../xds/protocol/types.ts";
import type { DebugView } from "./view.ts";

/**
 * A sentence for each credential and reason, with the number of proxies.
 *
 * @param concerned The proxies that the object concerns; undefined: not known.
 */
export function unsentCredentials(
  object: ConfigObject | undefined,
  concerned: ReadonlySet<PushProgress> | undefined,
  view: DebugView,
): string[] {
  if (object === undefined || concerned === undefined) return [];
  const named = namedCredentials(object as AnyConfigObject);
  const wanted = named.flatMap((one) =>
    askedCredentials({ ...one, name: inNamespace(one.name, object.meta.namespace) })
  );
  if (wanted.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { stream, progress } of view.xds.streams()) {
    if (!stream || !progress || !concerned.has(progress)) continue;
    const said = new Set<string>();
    for (const asked of wanted) {
      const why = neverHolds(asked) ?? stream.view.whyNotSent?.(SECRET, asked.resource);
      if (why !== undefined) said.add(`${asked.resource} is not sent: ${why}`);
    }
    for (const text of said) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `at ${count} of ${concerned.size} proxies ${text}`);
}
