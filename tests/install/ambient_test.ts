/**
 * One value switches ambient mode on for the servers, the node agent and the node tunnel, and the three fit together:
 * each name that one part writes is the name that another part reads.
 */
import assert from "node:assert/strict";
import { tokenAudiences } from "../../lib/authenticators/audiences.ts";
import { enrolment } from "../../lib/cni/enrolment/decide.ts";
import { readSelectors } from "../../lib/cni/enrolment/selector_text.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { readNodeAccounts } from "../../lib/discovery/identity/node_accounts.ts";
import { installObjects, type PartName, partsOf } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { readInstallValues } from "../../lib/install/values/values.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { manifests } from "../orch/support/server/rights.ts";

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: number } };
}

interface Volume {
  readonly name: string;
  readonly hostPath?: { readonly path: string };
  readonly configMap?: { readonly name: string };
  readonly projected?: {
    readonly sources: readonly { readonly serviceAccountToken: { readonly audience: string; readonly path: string } }[];
  };
}

interface InstalledObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly tolerations: unknown;
        readonly containers: readonly Container[];
        readonly volumes: readonly Volume[];
      };
    };
  };
}

/** An installation, with places of its objects. */
function installed(tree: Readonly<Record<string, unknown>>) {
  const read = readInstallValues(tree);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  const objects = installObjects(read.values).map(withoutComments) as unknown as readonly InstalledObject[];
  const find = (kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name);
  return { parts: partsOf(read.values), find, pod: (kind: string, name: string) => find(kind, name)!.spec.template };
}

const variablesOf = ({ spec }: InstalledObject["spec"]["template"]) =>
  Object.fromEntries(spec.containers[0]!.env.map(({ name, value }) => [name, value]));

/** The host folder behind a folder of a container. */
function hostFolder({ spec: { containers: [first], volumes } }: InstalledObject["spec"]["template"], path: string) {
  const mount = first!.volumeMounts.find(({ mountPath }) => mountPath === path);
  return volumes.find(({ name }) => name === mount?.name)?.hostPath?.path;
}

const AMBIENT = { ambient: { enabled: true } };

Deno.test("without the value nothing of ambient mode is installed; with it servers, agent and tunnel are, also without the value of the plugin", () => {
  const off = installed({});
  assert.deepEqual([off.find("DaemonSet", "ztunnel"), off.find("DaemonSet", "mesh-cni-node")], [undefined, undefined]);
  assert.equal(variablesOf(off.pod("Deployment", "meshd"))["PILOT_ENABLE_AMBIENT"], undefined);
  const plugin = installed({ plugin: { enabled: true } });
  assert.equal(plugin.find("DaemonSet", "ztunnel"), undefined);
  assert.equal(variablesOf(plugin.pod("DaemonSet", "mesh-cni-node"))["AMBIENT_ENABLED"], undefined);
  const on = installed(AMBIENT);
  assert.deepEqual(on.parts.filter((part: PartName) => ["plugin", "tunnel"].includes(part)), ["plugin", "tunnel"]);
  assert.equal(variablesOf(on.pod("Deployment", "meshd"))["PILOT_ENABLE_AMBIENT"], "true");
  assert.equal(variablesOf(on.pod("DaemonSet", "mesh-cni-node"))["AMBIENT_ENABLED"], "true");
  assert.equal(on.pod("DaemonSet", "ztunnel").spec.containers[0]!.image, "docker.io/istio/ztunnel:1.27.0");
});

Deno.test("the servers trust the account of the tunnel's pods, its token and its cluster, and write the roots that it reads", () => {
  const { pod, find } = installed({ namespace: "control", ...AMBIENT });
  const tunnel = pod("DaemonSet", "ztunnel");
  const server = variablesOf(pod("Deployment", "meshd"));
  const account = tunnel.spec.serviceAccountName;
  assert.equal(find("ServiceAccount", account)?.metadata.namespace, "control");
  assert.deepEqual([...readNodeAccounts(server["CA_TRUSTED_NODE_ACCOUNTS"]!)], [`control/${account}`]);
  const more = installed({ ambient: { enabled: true, trustedNodeAccounts: "istio-system/ztunnel,edge/tunnel" } });
  assert.deepEqual(
    [...readNodeAccounts(variablesOf(more.pod("Deployment", "meshd"))["CA_TRUSTED_NODE_ACCOUNTS"]!)],
    ["mesh-system/ztunnel", "istio-system/ztunnel", "edge/tunnel"],
  );
  const settings = readSettings("pilot-discovery", {});
  const { sources: [token] } = tunnel.spec.volumes.find(({ name }) => name === "token")!.projected!;
  assert.ok(tokenAudiences(settings.TOKEN_AUDIENCES).includes(token!.serviceAccountToken.audience));
  assert.equal(token!.serviceAccountToken.path, "istio-token");
  assert.equal(variablesOf(tunnel)["CLUSTER_ID"], settings.CLUSTER_ID);
  const roots = tunnel.spec.volumes.find(({ name }) => name === "roots")!.configMap!.name;
  const rights = manifests("pilot-discovery").flatMap(({ rules = [] }) => rules as { resourceNames?: string[] }[]);
  assert.ok(
    rights.some(({ resourceNames = [] }) => resourceNames.includes(roots)),
    `${roots} is what the server writes`,
  );
  for (const name of ["XDS_ADDRESS", "CA_ADDRESS"]) {
    assert.equal(variablesOf(tunnel)[name], "https://meshd.control.svc:15012");
  }
});

Deno.test("the agent listens in the folder where the tunnel connects, takes the tunnel's pods for tunnels, and understands the values", () => {
  const enablementSelector = "- podSelector: { matchLabels: { team: checkout } }\n";
  const values = { ambient: { enabled: true, enablementSelector, dnsCapture: false, ipv6: false } };
  const { pod } = installed(values);
  const [agent, tunnel] = [pod("DaemonSet", "mesh-cni-node"), pod("DaemonSet", "ztunnel")];
  const variables = variablesOf(agent);
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const settings = readSettings("install-cni", given as Record<string, string>);
  assert.deepEqual([settings.AMBIENT_DNS_CAPTURE, settings.AMBIENT_IPV6], [false, false]);
  assert.deepEqual(readSelectors(settings.AMBIENT_ENABLEMENT_SELECTOR), [{
    podSelector: { matchLabels: { team: "checkout" } },
  }]);
  const folder = settings.ZTUNNEL_UDS_ADDRESS.replace(/\/[^/]*$/, "");
  assert.equal(hostFolder(agent, folder), hostFolder(tunnel, folder));
  assert.equal(hostFolder(tunnel, folder), folder);
  const facts = { namespace: "mesh-system", annotations: {}, hostNetwork: false, hasEnded: false };
  const rules = { selectors: [{}], excludeNamespaces: [] };
  const { isIn, why } = enrolment({ ...facts, labels: tunnel.metadata.labels }, {}, rules);
  assert.deepEqual([isIn, why], [false, "it is a node tunnel"]);
  for (const { spec: { tolerations } } of [agent, tunnel]) assert.deepEqual(tolerations, [{ operator: "Exists" }]);
  const defaults = variablesOf(installed(AMBIENT).pod("DaemonSet", "mesh-cni-node"));
  assert.equal("AMBIENT_ENABLEMENT_SELECTOR" in defaults, false, "the agent's own default holds");
});

Deno.test("sidecars of an ambient mesh take tunnels unless the operator says otherwise", () => {
  const metadata = (values: Readonly<Record<string, unknown>>) => {
    const { data } = installed(values).find("ConfigMap", "mesh")!;
    const { value, findings } = parseMeshConfig(data!["mesh"]!, { systemNamespace: "mesh-system" });
    assert.deepEqual(findings, []);
    return value!.defaultConfig.proxyMetadata["MESH_META_ENABLE_HBONE"];
  };
  assert.equal(metadata({}), undefined);
  assert.equal(metadata(AMBIENT), "true");
  const against = { defaultConfig: { proxyMetadata: { MESH_META_ENABLE_HBONE: "false" } } };
  assert.equal(metadata({ ...AMBIENT, meshConfig: against }), "false");
});

Deno.test("the tunnel has three capabilities and no privilege, and the values of its image, network, time and variables", () => {
  const { pod } = installed({
    ...AMBIENT,
    tunnel: {
      image: "registry.example:5000/ztunnel",
      tag: "own",
      network: "net-1",
      terminationGracePeriodSeconds: 90,
      env: [{ name: "RUST_LOG", value: "debug" }],
    },
  });
  const { spec } = pod("DaemonSet", "ztunnel");
  const [container] = spec.containers;
  assert.deepEqual(container!.securityContext["capabilities"], {
    drop: ["ALL"],
    add: ["NET_ADMIN", "SYS_ADMIN", "NET_RAW"],
  });
  assert.equal(container!.securityContext["privileged"], false);
  assert.deepEqual([container!.image, container!.args], ["registry.example:5000/ztunnel:own", ["proxy", "ztunnel"]]);
  assert.deepEqual(container!.readinessProbe, { httpGet: { path: "/healthz/ready", port: 15021 } });
  const variables = variablesOf(pod("DaemonSet", "ztunnel"));
  const { NETWORK, RUST_LOG, TERMINATION_GRACE_PERIOD_SECONDS } = variables;
  assert.deepEqual([NETWORK, RUST_LOG, TERMINATION_GRACE_PERIOD_SECONDS], ["net-1", "debug", "90"]);
  assert.equal(spec.terminationGracePeriodSeconds, 90);
});
