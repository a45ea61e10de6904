/**
 * The port of an agent for questions to the control plane.
 *
 * Permissions: net (the port, the discovery server).
 *
 * @module
 */
import type { Log } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { listen } from "../../sockets/listen/tcp.ts";
import { familiesOf } from "../bootstrap/families.ts";
import type { OpenUpstream } from "../relay/upstream.ts";
import type { TapServer } from "../tap/tap_server.ts";
import type { AgentInput } from "./agent_input.ts";

/** Time for an answer of the server, ms. */
const ANSWER_TIME = 5000;

/**
 * Listens on the loopback address of the workload's first family. A port in use is a warning: nothing depends on the
 * port, and agents of one machine share it.
 * @returns Undefined: the port is not open.
 */
export async function openTapPort(
  { settings, workload }: AgentInput,
  open: OpenUpstream,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<{ close(): Promise<void> } | undefined> {
  if (!settings.PROXY_XDS_DEBUG_VIA_AGENT) return undefined;
  const scope = log.scope("xdsproxy");
  let server: Promise<TapServer> | undefined;
  // Few agents are ever asked, so the rest of the code is loaded with the first connection.
  const start = async () => {
    const [{ serverAsker }, { tapServer }] = await Promise.all([
      import("../tap/ask_server.ts"),
      import("../tap/tap_server.ts"),
    ]);
    const ask = serverAsker({ open, node: workload.node.id, timeout: ANSWER_TIME, clock });
    return tapServer(ask, { clock, log: scope });
  };
  const { localhost: host } = familiesOf(workload.addresses, settings.MESH_DUAL_STACK);
  const port = settings.PROXY_XDS_DEBUG_VIA_AGENT_PORT;
  try {
    const listener = await listen({ host, port }, (socket) => {
      socket.on("error", () => {/* a reset ends the connection by itself */});
      server ??= start();
      void server.then((one) => one.accept(socket));
    });
    return {
      async close() {
        // The listener closes after its connections, which the server ends.
        await Promise.all([listener.close(), server?.then((one) => one.close())]);
      },
    };
  } catch (error) {
    scope.warn(`PROXY_XDS_DEBUG_VIA_AGENT_PORT: no pages of the control plane: ${(error as Error).message}`);
    return undefined;
  }
}
