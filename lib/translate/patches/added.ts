/**
 * Clusters, listeners and extension configurations added by patches. Of two messages with the same name, the first
 * stays.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { additionsOf } from "../../patches/added.ts";
import type { PatchContext } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";
import { NO_PATCHES } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";

/** The message type of each part that patches add as a whole. */
interface AddedMessages {
  readonly clusters: envoy.config.cluster.v3.Cluster;
  readonly listeners: envoy.config.listener.v3.Listener;
  readonly extensions: envoy.config.core.v3.TypedExtensionConfig;
}

const TARGETS = { clusters: "CLUSTER", listeners: "LISTENER", extensions: "EXTENSION_CONFIG" } as const;

/**
 * The messages that patches add.
 *
 * @param others The messages of builders, whose names have precedence.
 * @param context The side. Undefined for extensions, which have no side: proxies request extensions by name.
 */
export function added<P extends keyof AddedMessages>(
  read: Reader,
  part: P,
  report: ReportNote,
  others: readonly Built<{ readonly name?: string }>[] = [],
  context?: (read: Reader) => PatchContext,
): Built<AddedMessages[P]>[] {
  const patches = read.patches(part);
  if (patches === NO_PATCHES) return [];
  const taken = new Map<string, string>();
  return additionsOf(patches, TARGETS[part], context?.(read)).flatMap((patch) => {
    const message = patch.value as AddedMessages[P];
    const { name = "" } = message;
    if (others.some(({ message }) => message.name === name)) {
      report({ patch, error: `${name} is left out, because proxies have another resource of this name` });
      return [];
    }
    const owner = taken.get(name);
    if (owner !== undefined) {
      report({ patch, error: `${name} is left out, because ${owner} adds a resource of this name`, beside: [owner] });
      return [];
    }
    taken.set(name, patch.filter);
    report({ patch });
    return [{ message, causes: [patch.filter], needsApi: patch.needsApi }];
  });
}
