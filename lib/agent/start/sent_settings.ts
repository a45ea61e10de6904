/**
 * The settings of the discovery server for agents (PCDS).
 *
 * @module
 */
import { WireCursor } from "../../resource/protowire.ts";
import type { OwnResponse } from "../relay/messages.ts";
import type { OwnHandler } from "../relay/relay.ts";
import { checkRoots, usableRoots } from "../secrets/usable_roots.ts";
import type { WorkloadCertificate } from "../secrets/workload_certificate.ts";
import type { AgentInput } from "./agent_input.ts";

/** Type of these settings. */
const PROXY_CONFIG_TYPE = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";

/**
 * The settings of the discovery server. Only the roots are in force, in addition to the roots in the agent's own
 * settings.
 */
export function sentSettings(
  { settings, proxy }: AgentInput,
  certificate: WorkloadCertificate | undefined,
): [string, OwnHandler][] {
  if (!settings.PROXY_CONFIG_XDS_AGENT || certificate === undefined) return [];
  // Unreadable roots were reported when the agent started.
  const own = usableRoots(proxy.caCertificatesPem ?? [], "caCertificatesPem", { error: () => {} });
  const handler = ({ resources }: OwnResponse) => {
    const sent = resources.flatMap(({ body }) => rootsOfProxyConfig(body));
    // The proxy would reject all roots because of one unreadable root.
    for (const root of sent) checkRoots(root, "ca_certificates_pem");
    certificate.trust([...own, ...sent]);
  };
  return [[PROXY_CONFIG_TYPE, handler]];
}

/** `ProxyConfig`: ca_certificates_pem = 34, repeated. */
function rootsOfProxyConfig(bytes: Uint8Array): string[] {
  const roots: string[] = [];
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 34 && cursor.wireType === 2) roots.push(cursor.string());
    else cursor.skip();
  }
  return roots;
}
