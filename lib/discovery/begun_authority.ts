/**
 * The authority of a server, which starts beside the reading of sources: the key of a new root takes another core as long
 * as thousands of objects take this one.
 *
 * Permissions: those of `./authority.ts`.
 *
 * @module
 */
import type { FactStore } from "../config/facts/store.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { ApiClient } from "../orch/client/client.ts";
import { ServerAuthentication } from "./authentication.ts";
import { type ServerAuthority, type ServerAuthorityOptions, startServerAuthority } from "./authority.ts";
import { type ClusterNames, tokenReviewer } from "./clusters/askers.ts";
import type { MeshSource } from "./mesh_source.ts";
import type { ServerServices } from "./services.ts";
import type { DiscoverySettings } from "./settings.ts";

/** See the module. */
export interface BegunAuthority {
  readonly authentication: ServerAuthentication;
  /**
   * Errors as of {@linkcode startServerAuthority}; a caller that ends the start for another reason need not look at
   * them.
   */
  readonly started: Promise<ServerAuthority>;
  /** From now on callers are looked for among these facts of the server's cluster, too. */
  hasRead(facts: FactStore): void;
}

/** Begins. */
export function beginAuthority(
  options: ServerAuthorityOptions & ClusterNames,
  settings: DiscoverySettings,
  { mesh, services: { remote }, orch }: {
    readonly mesh: MeshSource;
    readonly services: Pick<ServerServices, "remote">;
    readonly orch: ApiClient | undefined;
  },
  kernel: Kernel,
): BegunAuthority {
  const reviewer = orch && tokenReviewer(orch, options, remote?.clusters);
  const authentication = new ServerAuthentication(settings, mesh, kernel, reviewer);
  let own: FactStore | undefined;
  const facts = function* () {
    if (own !== undefined) yield own;
    yield* remote?.clusters.facts() ?? [];
  };
  const started = startServerAuthority(options, settings, { mesh, facts, authentication, orch }, kernel);
  started.catch(() => {});
  return { authentication, started, hasRead: (read) => void (own = read) };
}
