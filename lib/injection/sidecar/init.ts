/**
 * The init container: it redirects the pod's traffic, or checks that the node's plugin has done so.
 *
 * @module
 */
import type { PodContainer } from "../pod.ts";
import { redirectionFlags } from "../traffic.ts";
import { imageOf } from "./image.ts";
import type { SidecarInput } from "./input.ts";

/** Name of the container that redirects. */
export const INIT = "mesh-init";
/** Name of the container that checks. */
export const VALIDATION = "mesh-validation";

/** The init container; undefined: nothing is redirected. */
export function initContainer(input: SidecarInput): PodContainer | undefined {
  const { settings: { values }, traffic, proxy, uid, gid } = input;
  if (traffic.mode === "NONE" || input.role === "router") return undefined;
  const { global } = values;
  const checks = values.pilot.cni.enabled;
  const env = Object.entries(proxy.proxyMetadata).map(([name, value]) => ({ name, value }));
  const resources = global.proxy_init.resources ?? global.proxy.resources;
  return {
    name: checks ? VALIDATION : INIT,
    image: imageOf(input.settings, global.proxy_init.image),
    ...(global.imagePullPolicy !== "" && { imagePullPolicy: global.imagePullPolicy }),
    args: [
      "mesh-iptables",
      ...redirectionFlags(traffic, uid),
      ...["--log_output_level", global.logging.level],
      ...(global.logAsJson ? ["--log_as_json"] : []),
      ...(checks ? ["--run-validation", "--skip-rule-apply"] : []),
    ],
    ...(env.length > 0 && { env }),
    ...(resources !== undefined && { resources }),
    securityContext: checks ? checking(uid, gid) : redirecting(global.proxy.privileged),
  };
}

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

function checking(uid: number, gid: number): PodContainer["securityContext"] {
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
