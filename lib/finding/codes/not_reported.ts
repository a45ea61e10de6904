/**
 * Codes of Istio's analysis that this analysis does not report, each with the reason.
 *
 * @module
 */
import type { FindingCode } from "./row.ts";

const GATEWAY_API =
  "Concerns the Gateway API: MSH1120 to MSH1132 say what is wrong with its definitions and objects, and MSH0101 what is wrong with targets of policies.";
const WEBHOOKS = "Concerns the webhooks of an installation, which files of configuration do not describe as they run.";
const UPGRADES = "Concerns Istio's own upgrades.";

/** The reason for each code that is never reported. */
export const NOT_REPORTED: Readonly<Record<FindingCode, string>> = {
  MSH0001: "An analyzer that throws is a defect: it is logged and counted, and costs only its object.",
  MSH0139: WEBHOOKS,
  MSH0141: "Concerns permissions of an installer at a running orchestrator.",
  MSH0142: "Concerns the version of a running orchestrator.",
  MSH0143: "Needs the sockets of running pods: no manifest says on which address a process listens.",
  MSH0148:
    "Concerns a value of the injector (`enableNamespacesByDefault`): the analysis reads no values of an injector.",
  MSH0150:
    "A Service of type ExternalName is another name of what it stands for: the ports of that decide, and no listener of the name takes other traffic.",
  MSH0156: GATEWAY_API,
  MSH0158: "Compares running proxies with the injector's image: the analysis reads no configuration of an injector.",
  MSH0163: WEBHOOKS,
  MSH0164: WEBHOOKS,
  MSH0165: GATEWAY_API,
  MSH0166: GATEWAY_API,
  MSH0168: UPGRADES,
  MSH0169: UPGRADES,
  MSH0170: "Compares services of several clusters; the facts of a folder are those of one.",
  MSH0171: "Conditions are written by controllers into live objects; the status in a file is passed over.",
  MSH0172: GATEWAY_API,
  MSH0175: "Concerns a setting of the control plane's own Deployment; here it is a setting of the server.",
  MSH0176: GATEWAY_API,
};
