/**
 * Inputs of redirection for tests: the defaults of the command, changed where given.
 *
 * @module
 */
import { applyRedirection, type Outcome, type Task } from "../../../lib/iptables/apply.ts";
import type { RedirectionConfig } from "../../../lib/iptables/model/config.ts";
import { readInputs, type RedirectionInputs, type Surroundings } from "../../../lib/iptables/input.ts";
import type { Family } from "../../../lib/iptables/model/names.ts";
import { NOT_FOUND, type Run, systemRun } from "../../../lib/iptables/run.ts";

/** Inputs as plain texts. */
export type Changes = {
  readonly [K in keyof RedirectionInputs]?: RedirectionInputs[K] extends boolean ? boolean : string;
};

const defaults: Required<Changes> = {
  proxyPort: "15001",
  inboundPort: "15006",
  tunnelPort: "15008",
  proxyUid: "",
  proxyGid: "",
  inboundMode: "",
  tproxyMark: "1337",
  tproxyTable: "133",
  inboundPorts: "",
  inboundPortsExcluded: "",
  outboundPorts: "",
  outboundPortsExcluded: "",
  outboundRanges: "",
  outboundRangesExcluded: "",
  interfacesExcluded: "",
  virtualInterfaces: "",
  groups: "*",
  groupsExcluded: "",
  loopback: "127.0.0.1/32",
  proxyUser: "mesh-proxy",
  dnsAddress: "",
  captureDns: false,
  captureAllDns: false,
  dropInvalid: false,
};

/** Inputs, each under the name of its field. */
export function inputs(changes: Changes = {}): RedirectionInputs {
  const plain = new Set(["proxyUser", "captureDns", "captureAllDns", "dropInvalid"]);
  const all = Object.entries({ ...defaults, ...changes });
  return Object.fromEntries(
    all.map(([name, value]) => [name, plain.has(name) ? value : { name, value }]),
  ) as unknown as RedirectionInputs;
}

/** Surroundings with a few accounts and name servers. */
export const around: Surroundings = {
  passwd: "root:x:0:0:root:/root:/bin/sh\nmesh-proxy:x:1337:1337::/:/bin/false\n",
  group: "root:x:0:\njava:x:202:app\n",
  nameServers: ["10.77.0.1", "fd77::1"],
};

/** The checked configuration. */
export function configOf(changes: Changes = {}): RedirectionConfig {
  return readInputs(inputs(changes), around).config;
}

/** A way to run commands with only one back end installed. */
export function onlyBackend(kind: "nft" | "legacy", run: Run): Run {
  const hidden = kind === "nft" ? /tables-legacy/ : /tables-nft/;
  return (command, args, input) =>
    hidden.test(command)
      ? Promise.resolve({ code: NOT_FOUND, stdout: "", stderr: `${command}: not installed` })
      : run(command, args, input);
}

/** Applies a configuration in a namespace. */
export async function applyIn(
  namespace: string,
  kind: "nft" | "legacy",
  changes: Changes,
  task: Partial<Task> = {},
  lines: string[] = [],
): Promise<Record<Family, Outcome>> {
  const all: Task = {
    config: configOf(changes),
    dualStack: false,
    reconcile: false,
    force: false,
    cleanup: false,
    ...task,
  };
  const report = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
  return await applyRedirection(all, onlyBackend(kind, systemRun({ networkNamespace: namespace })), report);
}
