/**
 * The listeners of Envoy with a socket of their own (`bind_to_port`). Envoy's page of listeners does not tell.
 *
 * @module
 */
import type { EnvoyAdmin } from "../envoy/admin.ts";

/** Names in one request: all listeners with their filters would be megabytes. */
const AT_ONCE = 50;

/** Of `envoy.admin.v3.ConfigDump`. */
interface DynamicListeners {
  readonly configs?: readonly {
    readonly name?: string;
    readonly active_state?: { readonly listener?: { readonly bind_to_port?: boolean } };
  }[];
}

/**
 * The names of the listeners with a socket, among some listeners.
 * @throws {Error} When Envoy does not answer.
 */
export async function boundListeners(
  admin: Pick<EnvoyAdmin, "page">,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const bound = new Set<string>();
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const regex = `^(?:${names.slice(at, at + AT_ONCE).map(literally).join("|")})$`;
    const page = `config_dump?resource=dynamic_listeners&name_regex=${encodeURIComponent(regex)}`;
    const { configs = [] } = JSON.parse(await admin.page(page)) as DynamicListeners;
    for (const { name = "", active_state } of configs) {
      if (active_state?.listener !== undefined && active_state.listener.bind_to_port !== false) bound.add(name);
    }
  }
  return bound;
}

function literally(name: string): string {
  return name.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
