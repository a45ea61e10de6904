/**
 * The rules of a pod in ambient mode, for tests.
 *
 * @module
 */
import type { AmbientConfig } from "../../../lib/iptables/model/ambient_config.ts";
import { families } from "../../../lib/iptables/model/names.ts";

/** A node with both families and captured DNS, and a pod without annotations. */
export const ambientConfig: AmbientConfig = {
  kind: "ambient",
  families,
  probeSource: { 4: "169.254.7.127", 6: "fd16:9254:7127:1337:ffff:ffff:ffff:ffff" },
  capturesInbound: true,
  capturesDns: true,
  virtualInterfaces: [],
};
