/** The installer as a service in a temporary place, with a stand-in for the orchestrator's API. */
import assert from "node:assert/strict";
import type { AmbientNodeOptions } from "../../../lib/cni/ambient/start.ts";
import type { DesiredStateOptions } from "../../../lib/cni/install/desired_state.ts";
import { type NodeAgent, startNodeAgent } from "../../../lib/cni/node_agent.ts";
import type { RepairOptions } from "../../../lib/cni/repair/broken.ts";
import type { RepairPlace } from "../../../lib/cni/repair/in_place.ts";
import { type Kernel, startKernel } from "../../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { FakeOrch } from "./orch.ts";
import { Place, PRIMARY } from "./place.ts";

/** Name of the primary network's configuration. */
export const config = "10-flannel.conflist";

/** A service at work. */
export interface Service {
  place: Place;
  orch: FakeOrch;
  agent: NodeAgent;
  kernel: Kernel;
  lines: string[];
  page(path: string): Promise<[number, string]>;
  metric(name: string): Promise<string[]>;
}

/** A clock without regular looks: everything under this clock is caused by events. */
export const eventsAlone: Clock = { ...systemClock, monotonic: () => 0 };

/** Runs a service, and stops the service also when the work fails. */
export async function withService(
  work: (s: Service) => Promise<void>,
  more: Partial<DesiredStateOptions> = {},
  before?: (p: Place) => void,
  repair?: RepairOptions,
  clock: Clock = systemClock,
  repairPlace: Partial<RepairPlace> = {},
  ambient?: (place: Place, orch: FakeOrch) => AmbientNodeOptions,
) {
  using place = new Place();
  const orch = new FakeOrch();
  orch.token = "token-1";
  const lines: string[] = [];
  const decoder = new TextDecoder();
  const open = () => ({ write: (bytes: Uint8Array) => void lines.push(decoder.decode(bytes)), close() {} });
  const log = createLog([], { ...defaultLogOptions, targets: ["test"] }, { open });
  const kernel = startKernel("install-cni", defaultLogOptions, { log, clock });
  if (before === undefined) place.config(config, PRIMARY);
  else before(place);
  const options = {
    folders: place.folders,
    desired: place.desiredStateOptions(new URL(orch.address), more),
    healthPort: 0,
    monitoringPort: 0,
    metricsLocalOnly: false,
    names: [],
    cluster: "c1",
    ...{ repair, repairPlace },
    ...ambient === undefined ? {} : { ambient: ambient(place, orch) },
  };
  try {
    const agent = await startNodeAgent(options, kernel);
    const ask = async (port: number, path: string): Promise<[number, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return [answer.status, await answer.text()];
    };
    const metric = async (name: string) =>
      (await ask(agent.ports.monitoring, "/metrics"))[1].split("\n").filter((line) => line.startsWith(name));
    await work({ place, orch, agent, kernel, lines, page: (path) => ask(agent.ports.health, path), metric });
  } finally {
    for (const { name, result, error } of await kernel.stopper.stop()) {
      assert.equal(result, "done", `${name}: ${error}`);
    }
    await orch.stop();
  }
}

/** Starts another installer on the node of a service, without a log. */
export async function startOther({ place, orch }: Service, more: Partial<DesiredStateOptions>): Promise<Kernel> {
  const log = createLog([], { ...defaultLogOptions, targets: [] });
  const kernel = startKernel("install-cni", defaultLogOptions, { log });
  await startNodeAgent({
    folders: place.folders,
    desired: place.desiredStateOptions(new URL(orch.address), more),
    healthPort: 0,
    monitoringPort: 0,
    metricsLocalOnly: false,
    names: [],
    cluster: "c1",
    repair: undefined,
  }, kernel);
  return kernel;
}

export function text(place: Place, name = config): string {
  return Deno.readTextFileSync(`${place.folders.net}/${name}`);
}
