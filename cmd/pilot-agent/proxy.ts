/**
 * The command `proxy`: an agent at work until the proxy or a signal ends the agent.
 *
 * Permissions: the permission set `pilot-agent` of deno.json.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import type { RunningAgent } from "../../lib/agent/start/agent.ts";
import { startAgent } from "../../lib/agent/start/agent.ts";
import type { AgentInput } from "../../lib/agent/start/agent_input.ts";
import { AgentStartError } from "../../lib/agent/start/secret_plan.ts";
import { metricPrefix } from "../../lib/agent/start/status_port.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";
import { type Kernel, startKernel } from "../../lib/kernel/kernel.ts";
import { flagsNotBuilt, settingsWithoutEffect } from "../../lib/kernel/not_built/catalogue.ts";
import { giveMemoryBack } from "../../lib/kernel/program/memory.ts";
import { settingsUsedBy } from "../../lib/kernel/settings/catalogue.ts";
import { readAgent } from "./read_agent.ts";
import type { ProxyStart } from "./read_proxy.ts";

/**
 * Time until the agent has a certificate and the proxy has its configuration, ms. Then the memory of the start is given
 * back.
 */
const SETTLED = 10_000;

/** Runs an agent. Resolves with the exit code. */
export async function runProxy(start: ProxyStart, given: ReadonlySet<string>): Promise<number> {
  const { input, warnings } = await readAgent(start);
  const kernel = startKernel("pilot-agent", start.log, { metricPrefix: metricPrefix(input.settings) });
  const log = kernel.log.scope("default");
  for (const text of warnings) log.warn(text);
  warnOfIdle(input, given, log);
  const signals = new EndSignals(log);
  try {
    const agent = await startOrSayWhy(input, kernel);
    signals.end(agent);
    const { workload, proxy } = input;
    log.info("started", { node: workload.node.id, discovery: proxy.discoveryAddress, envoy: agent.envoy?.pid });
    const cancel = kernel.clock.after(SETTLED, () => giveMemoryBack(Deno.memoryUsage().heapTotal, 0));
    const code = await agent.ended;
    cancel();
    log.info("ended", { code });
    return code;
  } finally {
    signals.release();
    kernel.log.close();
  }
}

function warnOfIdle({ settings, variables }: AgentInput, given: ReadonlySet<string>, log: Logger): void {
  const flags = flagsNotBuilt("pilot-agent", given);
  if (flags.length > 0) log.warn("flags without effect in this version", { flags });
  const known = new Set<string>(settingsUsedBy("pilot-agent").map(([name]) => name));
  const idle = settingsWithoutEffect(Object.keys(variables).filter((name) => known.has(name)));
  if (idle.length > 0) log.warn("variables without effect in this version", { variables: idle });
  if (settings.JWT_POLICY !== "third-party-jwt") {
    log.warn(`JWT_POLICY: got ${JSON.stringify(settings.JWT_POLICY)}; tokens are read as with third-party-jwt`);
  }
}

async function startOrSayWhy(input: AgentInput, { clock, log, metrics }: Kernel): Promise<RunningAgent> {
  try {
    return await startAgent(input, { clock, log, metrics });
  } catch (error) {
    if (error instanceof AgentStartError) throw new UsageError(error.faults.join("\n"));
    if (error instanceof Error) throw new UsageError(`pilot-agent proxy: ${error.message}`);
    throw error;
  }
}

/**
 * SIGTERM and SIGINT drain, and a second signal ends the agent at once. A signal before the end of the start is kept:
 * without the agent nobody would end a proxy that has just started.
 */
class EndSignals {
  static readonly #names = ["SIGTERM", "SIGINT"] as const;
  readonly #log: Logger;
  readonly #take = () => this.#taken();
  #agent: Pick<RunningAgent, "drain" | "stop"> | undefined;
  #count = 0;

  /** Takes signals from now on. */
  constructor(log: Logger) {
    this.#log = log;
    for (const name of EndSignals.#names) Deno.addSignalListener(name, this.#take);
  }

  /** Signals end the agent, including the signals so far. */
  end(agent: Pick<RunningAgent, "drain" | "stop">): void {
    this.#agent = agent;
    if (this.#count > 0) agent.drain();
    if (this.#count > 1) agent.stop();
  }

  /** Takes no more signals. */
  release(): void {
    for (const name of EndSignals.#names) Deno.removeSignalListener(name, this.#take);
  }

  #taken(): void {
    const isFirst = ++this.#count === 1;
    this.#log.info(isFirst ? "a signal: draining" : "a second signal: ending now");
    if (isFirst) this.#agent?.drain();
    else this.#agent?.stop();
  }
}
