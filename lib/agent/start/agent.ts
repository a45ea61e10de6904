/**
 * An agent at work. Its parts, and the order of their start, are in `agent_parts.ts`.
 *
 * Permissions: the permission set `pilot-agent` of deno.json.
 *
 * @module
 */
import { createReadiness } from "../../kernel/lifecycle/readiness.ts";
import { createStopper } from "../../kernel/lifecycle/stop.ts";
import type { EnvoyProcess } from "../envoy/envoy_process.ts";
import type { Relay } from "../relay/relay.ts";
import type { WorkloadCertificate } from "../secrets/workload_certificate.ts";
import type { AgentInput } from "./agent_input.ts";
import type { AgentLife } from "./agent_life.ts";
import { AGENT_PARTS, type AgentKernel } from "./agent_parts.ts";

/** Time for the end of all parts beside the proxy, ms. */
const STOP_TIME = 10_000;

/** An agent that has started. */
export interface RunningAgent extends Pick<AgentLife, "ended"> {
  readonly relay: Relay;
  /** Absent where certificates come from files or from another program. */
  readonly certificate: WorkloadCertificate | undefined;
  /** Absent where the agent has no proxy. */
  readonly envoy: EnvoyProcess | undefined;
  /** Drains the proxy and ends. Resolves when all parts have ended. */
  drain(): Promise<void>;
  /** Ends now. Resolves when all parts have ended. */
  stop(): Promise<void>;
}

/**
 * Starts an agent.
 *
 * @throws {AgentStartError} With all faults of variables and flags.
 * @throws {Error} When the proxy cannot be started, or a socket or a port cannot be opened.
 */
export async function startAgent(input: AgentInput, kernel: AgentKernel): Promise<RunningAgent> {
  const log = kernel.log.scope("default");
  const stopper = createStopper(STOP_TIME, kernel.clock);
  const closeAll = async () => {
    for (const { name, result, error } of await stopper.stop()) {
      if (result !== "done") log.warn("a part of the agent did not end in order", { part: name, result, error });
    }
  };
  try {
    const parts = await AGENT_PARTS.start({ input, kernel }, { readiness: createReadiness(), stopper });
    const { life, relay, certificate, proxy: envoy } = parts;
    life.begin({ envoy, closeAll });
    return { relay, certificate, envoy, ended: life.ended, drain: () => life.drain(), stop: () => life.stop() };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
