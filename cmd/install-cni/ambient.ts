/**
 * Options of the ambient node agent, from flags and variables.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { DEFAULT_SELECTORS } from "../../lib/cni/enrolment/decide.ts";
import type { EnablementSelector } from "../../lib/cni/enrolment/label_selector.ts";
import { readSelectors, SelectorError } from "../../lib/cni/enrolment/selector_text.ts";
import type { AmbientNodeOptions } from "../../lib/cni/ambient/start.ts";
import { NAMESPACES } from "../../lib/cni/node_agent.ts";
import { parseRanges } from "../../lib/iptables/address.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { commaList } from "../../lib/kernel/text/comma_list.ts";
import type { InstallOptions } from "./options.ts";
import { ownCommandLine } from "./own_command_line.ts";

type CniSettings = SettingsOf<"install-cni">;

/**
 * The options. Undefined: no agent is asked for.
 * @throws {UsageError} With a line for each mistake.
 */
export function ambientOptions(options: InstallOptions, settings: CniSettings): AmbientNodeOptions | undefined {
  if (!options.ambientEnabled) return undefined;
  const problems: string[] = [];
  const address = (name: string, value: string, family: 4 | 6) => {
    const [range] = parseRanges([value], () => {})[family];
    if (range === undefined || value.includes("/")) {
      problems.push(`variable ${name}: got ${JSON.stringify(value)}, expected an IPv${family} address`);
    }
    return (range ?? "").replace(/\/\d+$/, "");
  };
  if (settings.NODE_NAME === "") {
    problems.push(`variable NODE_NAME: got "", expected the node's name: the ambient node agent watches its pods`);
  }
  const rules = {
    selectors: selectorsOf(settings, []),
    excludeNamespaces: commaList(settings.EXCLUDE_NAMESPACES),
    probeSource: {
      4: address("HOST_PROBE_SNAT_IP", settings.HOST_PROBE_SNAT_IP, 4),
      6: address("HOST_PROBE_SNAT_IPV6", settings.HOST_PROBE_SNAT_IPV6, 6),
    },
    capturesDns: settings.AMBIENT_DNS_CAPTURE,
    ipv6: settings.AMBIENT_IPV6,
  };
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return {
    node: settings.NODE_NAME,
    socket: options.ztunnelSocket,
    rules,
    commandLine: ownCommandLine(),
    namespaces: NAMESPACES,
    nodeNamespace: "/proc/self/ns/net",
  };
}

/** The enablement selectors. A mistake is added to the problems. */
export function selectorsOf(settings: CniSettings, problems: string[]): readonly EnablementSelector[] {
  try {
    return readSelectors(settings.AMBIENT_ENABLEMENT_SELECTOR);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    problems.push(`variable AMBIENT_ENABLEMENT_SELECTOR: ${error.message}`);
    return DEFAULT_SELECTORS;
  }
}
