/**
 * The init container. It redirects the pod's traffic, or checks the redirection of the node's plugin.
 *
 * @module
 */
import type { PodContainer } from "../pod.ts";
import { redirectionFlags } from "../traffic.ts";
import { imageOf } from "./image.ts";
import type { SidecarInput } from "./input.ts";
import { nameOf } from "../names.ts";
import { seccompOf } from "./seccomp.ts";

/** Name of the redirecting container. */
export const INIT = nameOf("init");
/** Name of the checking container. */
export const VALIDATION = nameOf("validation");

/** The init container; undefined: nothing is redirected. */
export function initContainer(input: SidecarInput): PodContainer | undefined {
  const { settings: { values }, traffic, exempt } = input;
  if (traffic.mode === "NONE" || input.role !== "sidecar") return undefined;
  const { global } = values;
  const checks = values.pilot.cni.enabled;
  const env = variables(input);
  const resources = global.proxy_init.resources ?? global.proxy.resources;
  return {
    name: checks ? VALIDATION : INIT,
    image: imageOf(input.settings, global.proxy_init.image),
    ...(global.imagePullPolicy !== "" && { imagePullPolicy: global.imagePullPolicy }),
    args: [
      "mesh-iptables",
      ...redirectionFlags(traffic, exempt),
      ...["--log_output_level", global.logging.level],
      ...(global.logAsJson ? ["--log_as_json"] : []),
      ...(checks ? ["--run-validation", "--skip-rule-apply"] : []),
    ],
    ...(env.length > 0 && { env }),
    ...(resources !== undefined && { resources }),
    securityContext: {
      ...(checks ? checking(exempt) : redirecting(global.proxy.privileged)),
      ...seccompOf(input),
    },
  };
}

/** Variables that change the rules, from the proxy's configuration and from the user's own container of the proxy. */
function variables({ proxy, own }: SidecarInput): { readonly name: string; readonly value: string }[] {
  const values = new Map(Object.entries(proxy.proxyMetadata));
  for (const { name, value } of own?.env ?? []) if (RULES.test(name) && value !== undefined) values.set(name, value);
  return [...values].map(([name, value]) => ({ name, value }));
}

/** Names of the variables that change the rules. */
const RULES =
  /^(?:(?:MESH|ISTIO)_(?:META_DNS_CAPTURE|DUAL_STACK|OUTBOUND_OWNER_GROUPS(?:_EXCLUDE)?|OUTBOUND_IPV4_LOOPBACK_CIDR)|DNS_PROXY_ADDR|INVALID_DROP)$/;

/** Rules are made by the superuser with two capabilities; the lock of iptables lies on the root file system. */
function redirecting(privileged: boolean): PodContainer["securityContext"] {
  return {
    allowPrivilegeEscalation: privileged,
    capabilities: { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] },
    privileged,
    readOnlyRootFilesystem: false,
    runAsGroup: 0,
    runAsNonRoot: false,
    runAsUser: 0,
  };
}

function checking({ uid, gid }: SidecarInput["exempt"]): PodContainer["securityContext"] {
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    privileged: false,
    readOnlyRootFilesystem: true,
    runAsGroup: gid,
    runAsNonRoot: true,
    runAsUser: uid,
  };
}
