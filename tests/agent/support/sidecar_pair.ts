/**
 * A client and a server behind sidecars, with agents, real Envoys and identities: the frame of tests with a change
 * while requests run between the two.
 *
 * Permissions: the permissions of `IdentityMesh`.
 * @module
 */
import type { AgentProcess } from "../../../scripts/demo/agent.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { IdentityMesh, type IdentityMeshOptions } from "../../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../../scripts/demo/load.ts";
import { pairFiles } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { until } from "../../patience.ts";

/** The client's identity for the server's application. */
export const CLIENT = "spiffe://cluster.local/ns/demo/sa/client";

/** How the pair is made. */
export interface SidecarPairOptions extends Pick<IdentityMeshOptions, "env"> {
  readonly mode: "STRICT" | "PERMISSIVE";
  /** Further files of the configuration, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Variables of both agents. */
  readonly agents?: Readonly<Record<string, string>>;
}

/** The pair, when a request has passed both sidecars. */
export interface SidecarPair {
  readonly mesh: IdentityMesh;
  /** Port of the service `app.test` at the client's sidecar, and port of the server's sidecar. */
  readonly here: number;
  readonly there: number;
  readonly server: AgentProcess;
  readonly client: AgentProcess;
  /** Ports of the admin pages of both Envoys, the server's first. */
  readonly admins: readonly [server: number, client: number];
}

/** Runs with a pair. A failure includes the output of all programs. */
export function withSidecarPair(
  { mode, env, files, agents }: SidecarPairOptions,
  run: (pair: SidecarPair) => Promise<void>,
): Promise<void> {
  return withPorts(11, async ([port = 0, here = 0, there = 0, ...ports]) => {
    await using app = callerEcho();
    await using mesh = await IdentityMesh.start({
      port,
      ...(env === undefined ? {} : { env }),
      files: { ...pairFiles({ client: here, server: there, application: app.port, mode }), ...files },
    });
    try {
      const more = agents === undefined ? {} : { env: agents };
      const server = await mesh.agent({ name: "server", ports: ports.slice(0, 4), ...more });
      const client = await mesh.agent({ name: "client", ports: ports.slice(4, 8), ...more });
      await until("a request passes both sidecars", async () => await oneRequest(here, "app.test") === CLIENT);
      await run({ mesh, here, there, server, client, admins: [ports[0]!, ports[4]!] });
    } catch (error) {
      throw mesh.failure(error);
    }
  });
}
