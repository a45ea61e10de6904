/**
 * The ambient node agent with its surroundings: the system's tools, the socket process, the orchestrator.
 *
 * Permissions: run (nsenter), read (the folder of network namespaces, /host/proc), read and write (the run folder).
 *
 * @module
 */
import { answerRoute } from "../../iptables/model/ambient_config.ts";
import { systemRun } from "../../iptables/run.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { dialPodIn } from "../doctor/probe.ts";
import { FACTS_FILE } from "../node/run_folder.ts";
import { spawnNsenter } from "../plugin/enter.ts";
import { listedAddresses } from "../plugin/ownership.ts";
import type { Answers } from "../plugin/questions.ts";
import type { RuleKeeper } from "../plugin/redirector.ts";
import { knownFacts, type RedirectorOptions, systemRedirector } from "../plugin/system_redirector.ts";
import type { PodSource } from "../pods/source.ts";
import { startZds, ZdsClient } from "../zds/client.ts";
import { AmbientAgent, type PodRuleKeeper } from "./agent.ts";
import type { EnrolmentRules } from "../enrolment/decide.ts";
import { HostProbes } from "./host_probes.ts";
import { looksInside } from "./look_inside.ts";
import { type NamespaceFacts, Namespaces } from "./namespaces.ts";
import type { NodeRules } from "./pod_rules.ts";

/** Options of the agent. */
export interface AmbientNodeOptions {
  /** Name of this node (NODE_NAME). */
  readonly node: string;
  /** Socket to which node tunnels connect (ZTUNNEL_UDS_ADDRESS). */
  readonly socket: string;
  readonly rules: EnrolmentRules & NodeRules;
  /** The command line that starts this program. */
  readonly commandLine: readonly string[];
  /** Folder of the pods' network namespaces, mounted from the node. */
  readonly namespaces: string;
  /** Network namespace of the node's probes: the program's own. */
  readonly nodeNamespace: string;
}

/** An agent, and what outlives it. */
export interface Ambient {
  readonly agent: AmbientAgent;
  /** Takes away what is outside of pods, when no other agent comes. */
  leaveForGood(): Promise<void>;
}

/** Makes the agent. It does nothing before its start. */
export function ambientAgent(
  options: AmbientNodeOptions,
  place: { readonly runDir: string; readonly scopedLock: boolean },
  api: PodSource,
  kernel: Kernel,
): Ambient {
  const log = kernel.log.scope("cni-agent");
  const { clock, metrics } = kernel;
  const { rules, socket, commandLine } = options;
  const connected = metrics.gauge("ztunnel_connected");
  connected.set(0);
  const tunnels = new ZdsClient(
    () => startZds(commandLine, socket, spawnNsenter, log),
    {
      answered: (uid, handed) => agent.answered(uid, handed),
      connected: (count) => {
        connected.set(count);
        log.info("node tunnels", { connected: count });
      },
    },
    clock,
    log,
  );
  const probes = new HostProbes(
    systemRun({ networkNamespace: options.nodeNamespace }),
    rules.probeSource,
    rules.ipv6,
  );
  const factsFile = `${place.runDir}/${FACTS_FILE}`;
  const keeper = systemKeeper({ scopedLock: place.scopedLock, factsFile });
  const look = looksInside(knownFacts(factsFile));
  const agent: AmbientAgent = new AmbientAgent({
    ...{ api, node: api.node(options.node), keeper, tunnels, probes, rules, clock, log, metrics },
    dial: (addresses) => dialPodIn(options.nodeNamespace, commandLine, addresses),
    namespaces: new Namespaces(options.namespaces, look, () => clock.monotonic()),
  });
  return { agent, leaveForGood: () => probes.remove() };
}

/** Rules by the system's tools, with a shell for each question. */
export function systemKeeper(options: Pick<RedirectorOptions, "scopedLock" | "factsFile">): PodRuleKeeper {
  const asked = async <T>(ask: (keeper: RuleKeeper) => Promise<T>, answers?: Answers): Promise<T> => {
    const keeper = systemRedirector({ ...options, table: answerRoute.table, answers });
    try {
      return await ask(keeper);
    } finally {
      await keeper.end();
    }
  };
  const verified = async (keeper: RuleKeeper, netns: string, verify: (seen: NamespaceFacts) => void) => {
    const { addresses, isNode } = await keeper.look(netns);
    verify({ addresses: listedAddresses(addresses), isNode });
  };
  return {
    check: (netns, rules, answers) => asked((keeper) => keeper.check(netns, rules), answers),
    apply: (netns, rules, verify) =>
      asked(async (keeper) => {
        await verified(keeper, netns, verify);
        return await keeper.apply(netns, rules);
      }),
    remove: (netns, rules, verify) =>
      asked(async (keeper) => {
        await verified(keeper, netns, verify);
        return await keeper.remove(netns, rules);
      }),
  };
}
