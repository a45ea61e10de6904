/**
 * A node with the ambient node agent: real network namespaces, the real socket process, and a stand-in for the API.
 *
 * Permissions: those of the node agent, and run (ip, nft).
 * @module
 */
import { installCni } from "../../../cmd/install-cni/commands.ts";
import { ownCommandLine } from "../../../cmd/install-cni/own_command_line.ts";
import { runProgram } from "../../../lib/cli/run/run.ts";
import { podRules } from "../../../lib/cni/ambient/pod_rules.ts";
import { systemKeeper } from "../../../lib/cni/ambient/start.ts";
import { DEFAULT_SELECTORS } from "../../../lib/cni/enrolment/decide.ts";
import type { DesiredStateOptions } from "../../../lib/cni/install/desired_state.ts";
import { EVENT_SOCKET, post } from "../../../lib/cni/plugin/report.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { until } from "../../patience.ts";
import { must, run } from "./commands.ts";
import type { ApiObject } from "./orch.ts";
import { type Service, withService } from "./service.ts";
import { Tunnels } from "./tunnels.ts";

/** The wanted rules of pods. */
export const rules = {
  selectors: DEFAULT_SELECTORS,
  excludeNamespaces: ["orch-system"],
  probeSource: { 4: "169.254.7.127", 6: "fd16:9254:7127:1337:ffff:ffff:ffff:ffff" },
  capturesDns: true,
  ipv6: true,
};
/** Labels of a namespace in ambient mode. */
export const ambient = { "mesh.io/dataplane-mode": "ambient" };
export const keeper = systemKeeper({ scopedLock: true, factsFile: undefined });

/** A node: namespaces of pods, the node's own namespace, an agent in the service, tunnels. */
export class AmbientNode<S extends Pick<Service, "place" | "orch"> = Service> {
  readonly #id = crypto.randomUUID().slice(0, 8);
  readonly #names = new Set<string>();
  readonly host = `amb-${this.#id}-host`;
  #last = 1;

  constructor(readonly service: S, readonly tunnels: Tunnels, readonly socket: string) {}

  async make(name: string): Promise<string> {
    await must("ip", ["netns", "add", name]);
    this.#names.add(name);
    await must("ip", ["-n", name, "link", "set", "lo", "up"]);
    return `/run/netns/${name}`;
  }

  /** A namespace with addresses of both families. */
  async namespace(address = this.address()): Promise<{ netns: string; address: string }> {
    const name = `amb-${this.#id}-${crypto.randomUUID().slice(0, 6)}`;
    const netns = await this.make(name);
    await must("ip", ["-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"]);
    await must("ip", ["-n", name, "addr", "add", `${address}/24`, "dev", "eth0"]);
    await must("ip", ["-n", name, "addr", "add", `fd88::${address.split(".").at(-1)}/64`, "dev", "eth0", "nodad"]);
    await must("ip", ["-n", name, "link", "set", "eth0", "up"]);
    return { netns, address };
  }

  address(): string {
    return `10.${100 + parseInt(this.#id.slice(0, 2), 16) % 100}.${parseInt(this.#id.slice(2, 4), 16)}.${++this.#last}`;
  }

  /** A running pod of this node. */
  async pod(name: string, more: ApiObject = {}): Promise<{ netns: string; address: string }> {
    const made = await this.namespace();
    this.put(name, made.address, more);
    return made;
  }

  put(
    name: string,
    address: string | undefined,
    { labels = {}, annotations = {}, spec = {}, phase = "Running" }: ApiObject = {},
  ) {
    const podIPs = address === undefined ? [] : [{ ip: address }, { ip: `fd88::${address.split(".").at(-1)}` }];
    return this.service.orch.put({
      metadata: { namespace: "shop", name, uid: `uid-${name}`, labels, annotations },
      spec: { nodeName: "node-1", serviceAccountName: "cart", containers: [{ name: "app" }], ...spec },
      status: { phase, ...address === undefined ? {} : { podIP: address, podIPs } },
    });
  }

  annotation(name: string): string | undefined {
    return this.service.orch.pods.get(`shop/${name}`)?.metadata.annotations["ambient.mesh.io/redirection"];
  }

  async untilAnnotated(name: string, state: string | undefined): Promise<void> {
    await until(`${name} is ${state}`, () => this.annotation(name) === state);
  }

  /** What differs from the wanted rules. */
  drift(netns: string): Promise<string[]> {
    return keeper.check(netns, podRules({ annotations: {} }, rules));
  }

  async probed(): Promise<string> {
    return (await run("ip", ["netns", "exec", this.host, "nft", "list", "table", "ip", "mesh-probes"])).out;
  }

  /** `install-cni doctor` about a pod: its exit code, last line and whole text. */
  async doctor(name: string): Promise<[code: number, verdict: string, text: string]> {
    let text = "";
    const output = { out: (part: string) => void (text += part), err() {} };
    const run = this.service.place.folders.run;
    const code = await runProgram(installCni, ["doctor", `shop/${name}`, `--cni-agent-run-dir=${run}`], { output });
    return [code, text.trimEnd().split("\n").at(-1) ?? "", text];
  }

  /** The plugin's call for a starting pod. */
  async started(name: string, netns: string, address: string, uid = `uid-${name}`): Promise<void> {
    const pod = { PodName: name, PodNamespace: "shop", PodUID: uid };
    const event = { Netns: netns, ...pod, IPs: [{ address: `${address}/24` }] };
    await post(`${this.service.place.folders.run}/${EVENT_SOCKET}`, "/cmdadd", event, 60_000);
  }

  async end(): Promise<void> {
    for (const name of this.#names) await run("ip", ["netns", "del", name]);
  }
}

/**
 * Runs an agent on a node, and stops everything.
 * @param present The node's own network namespace of an earlier agent. Default: a new namespace.
 */
export async function withNode(
  work: (node: AmbientNode) => Promise<void>,
  before: (orch: Service["orch"]) => void = (orch) => orch.label("shop", ambient),
  more: Partial<DesiredStateOptions> = {},
  present?: string,
): Promise<void> {
  await using tunnels = new Tunnels();
  const host = present ?? `amb-${crypto.randomUUID().slice(0, 8)}-host`;
  if (present === undefined) await must("ip", ["netns", "add", host]);
  let socket = "";
  try {
    await withService(
      async (service) => {
        const node = new AmbientNode(service, tunnels, socket);
        Object.assign(node, { host });
        try {
          await work(node);
        } finally {
          await node.end();
        }
      },
      { ambientEnabled: true, ...more },
      undefined,
      undefined,
      systemClock,
      {},
      (place, orch) => {
        before(orch);
        socket = `${place.folders.run}/zt.sock`;
        const where = { namespaces: "/run/netns", nodeNamespace: `/run/netns/${host}` };
        return { node: "node-1", socket, rules, commandLine: ownCommandLine(), ...where };
      },
    );
  } finally {
    if (present === undefined) await run("ip", ["netns", "del", host]);
  }
}
