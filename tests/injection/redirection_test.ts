/** A pod's texts about redirection, by their readers: the flags of the init container, and the node's plugin. */
import assert from "node:assert/strict";
import { pilotAgent } from "../../cmd/pilot-agent/commands.ts";
import type { IptablesFlagValues } from "../../cmd/pilot-agent/iptables_flags.ts";
import { redirectionInputs } from "../../cmd/pilot-agent/mesh_iptables.ts";
import { readLine } from "../../lib/cli/parse.ts";
import { decide, NO_AMBIENT } from "../../lib/cni/plugin/decide.ts";
import { podRedirection } from "../../lib/cni/plugin/redirection.ts";
import { readPod } from "../../lib/cni/pods/pod.ts";
import type { InjectedPod, PodContainer } from "../../lib/injection/pod.ts";
import { isProxy } from "../../lib/injection/sidecar/input.ts";
import { readInputs } from "../../lib/iptables/input.ts";
import type { RedirectionConfig } from "../../lib/iptables/model/config.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { inputNames } from "../golden.ts";
import { inject, type InjectionCase, readCase } from "./support.ts";

const folder = new URL("../testdata/injection/in/", import.meta.url);

const pod = (annotations: Record<string, string>, proxy?: Record<string, unknown>): InjectionCase["pod"] => {
  const own = proxy === undefined ? [] : [{ name: "mesh-proxy", image: "auto", ...proxy }];
  return { metadata: { name: "a", annotations }, spec: { containers: [{ name: "app" }, ...own] } };
};
const TRANSPARENT = { "sidecar.mesh.io/interceptionMode": "TPROXY" };
const RANGES = {
  "openshift.io/sa.scc.uid-range": "1000650000/10000",
  "openshift.io/sa.scc.supplemental-groups": "2000650000/10000",
};

const CASES: readonly (readonly [string, InjectionCase])[] = [
  ...inputNames(folder).map((name) =>
    [name, readCase(Deno.readTextFileSync(new URL(`${name}.yaml`, folder)))] as const
  ),
  ["another status port", { pod: pod({ "status.sidecar.mesh.io/port": "15030" }) }],
  ["no status port", { pod: pod({ "status.sidecar.mesh.io/port": "0" }) }],
  ["no status port by the configuration", { pod: pod({ "proxy.mesh.io/config": "statusPort: 0" }) }],
  ["another status port by the configuration", { pod: pod({ "proxy.mesh.io/config": "statusPort: 15030" }) }],
  ["a group of one's own with TPROXY", { pod: pod(TRANSPARENT, { securityContext: { runAsGroup: 2001 } }) }],
  ["a user of one's own with TPROXY", { pod: pod(TRANSPARENT, { securityContext: { runAsUser: 2000 } }) }],
  ["the superuser", { pod: pod({}, { securityContext: { runAsUser: 0 } }) }],
  ["OpenShift with TPROXY", {
    ...{ settings: { platform: "openshift" }, namespaceAnnotations: RANGES, pod: pod(TRANSPARENT) },
  }],
  ["names by the configuration", {
    pod: pod({ "proxy.mesh.io/config": "proxyMetadata: { MESH_META_DNS_CAPTURE: 'true' }" }),
  }],
  ["names by the proxy's container", {
    pod: pod({}, { env: [{ name: "MESH_META_DNS_CAPTURE", value: "true" }] }),
  }],
  ...[
    ["MESH_OUTBOUND_OWNER_GROUPS", "2005"],
    ["ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE", "2005"],
    ["MESH_OUTBOUND_IPV4_LOOPBACK_CIDR", "127.0.0.0/8"],
  ].map(([name, value]) => [`${name} by the proxy's container`, { pod: pod({}, { env: [{ name, value }] }) }] as const),
  ["both families", { pod: pod({ "proxy.mesh.io/config": "proxyMetadata: { MESH_DUAL_STACK: 'true' }" }) }],
];

/** The injected pod; undefined: no injection. */
function injected(given: InjectionCase): InjectedPod | undefined {
  const result = inject(given);
  return result.kind === "injected" ? result.pod : undefined;
}

function containersOf({ spec }: InjectedPod): readonly PodContainer[] {
  return [...spec.initContainers ?? [], ...spec.containers];
}

/** The redirection by the init container; undefined: no init container. */
function byFlags(given: InjectionCase): RedirectionConfig | undefined {
  const made = injected(given);
  const init = made && containersOf(made).find(({ name }) => name === "mesh-init" || name === "mesh-validation");
  if (init === undefined) return undefined;
  const env = Object.fromEntries((init.env ?? []).map(({ name, value }) => [name, value ?? ""]));
  const { values, given: flags, problems } = readLine(pilotAgent, init.args ?? [], env);
  assert.deepEqual(problems, []);
  const inputs = redirectionInputs(values as IptablesFlagValues, flags, readSettings("pilot-agent", env));
  return readInputs(inputs, { passwd: "", group: "", nameServers: ["10.0.0.10"] }).config;
}

/** The redirection of the same pod by the node's plugin; undefined: none. */
function byPlugin(given: InjectionCase): RedirectionConfig | undefined {
  const made = injected({ ...given, values: { ...given.values as object, pilot: { cni: { enabled: true } } } });
  if (made === undefined) return undefined;
  const read = readPod(made);
  const decision = decide(read, NO_AMBIENT, {});
  return decision.do === "redirect" ? podRedirection(read, decision.proxy).config : undefined;
}

/** In a fixed order, without the name servers, which only the pod knows. */
function comparable(config: RedirectionConfig | undefined): unknown {
  if (config === undefined) return undefined;
  const { inboundPorts, dns, ...rest } = config;
  const ports = "except" in inboundPorts ? inboundPorts.except.map(({ first, last }) => `${first}-${last}`).sort() : [];
  return { ...rest, dns: dns?.port, inboundPorts: { ...inboundPorts, except: ports } };
}

for (const [name, given] of CASES) {
  if (injected(given) === undefined) continue;
  Deno.test(`${name}: the flags that are injected and the node's plugin redirect alike, and never the proxy's own traffic`, () => {
    const flags = byFlags(given);
    if (flags === undefined) return;
    const plugin = byPlugin(given);
    assert.deepEqual(comparable(plugin), comparable(flags));
    const { runAsUser = -1, runAsGroup = -1 } = containersOf(injected(given)!).find(isProxy)?.securityContext ?? {};
    for (const { proxyUids, proxyGids } of [flags, plugin!]) {
      assert.ok(
        proxyUids.includes(runAsUser) || proxyGids.includes(runAsGroup),
        `${runAsUser}:${runAsGroup} is redirected`,
      );
      assert.ok(!proxyUids.includes(0) && !proxyGids.includes(0), "an application of the superuser would pass by");
    }
  });
}
