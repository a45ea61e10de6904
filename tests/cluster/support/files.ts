/**
 * Command lines and files of a cluster's programs, as plain texts.
 *
 * @module
 */
import { KEY_FILES } from "../../orch/support/server/keys.ts";
import { managerFlags, SERVER_KEYS_AND_RIGHTS, STORE_FLAG } from "../../orch/support/server/flags.ts";
import type { ClusterNetwork } from "./network.ts";

/** The image of the container that holds the namespaces of a pod. */
export const PAUSE_IMAGE = "docker.io/local/pause:1";

/** Port of the API server. */
export const API_PORT = 6443;

/** The command line of the API server. */
export function apiServerFlags(network: ClusterNetwork, further: readonly string[]): string[] {
  return [
    STORE_FLAG,
    "--bind-address=0.0.0.0",
    `--advertise-address=${network.control}`,
    `--secure-port=${API_PORT}`,
    `--service-cluster-ip-range=${network.services}`,
    ...SERVER_KEYS_AND_RIGHTS,
    "--kubelet-client-certificate=admin.crt",
    "--kubelet-client-key=admin.key",
    // Else `kubectl exec` and `kubectl logs` look up the name of the node.
    "--kubelet-preferred-address-types=InternalIP",
    // No kube-proxy runs beside the API server: webhooks are called at the addresses of their pods.
    "--enable-aggregator-routing=true",
    ...further,
  ];
}

/** The command line of the controller manager. */
export function clusterManagerFlags(kubeconfig: string): string[] {
  return [
    ...managerFlags(kubeconfig),
    // Otherwise an autoscaler waits minutes before each step.
    "--horizontal-pod-autoscaler-sync-period=5s",
    "--horizontal-pod-autoscaler-downscale-stabilization=10s",
    "--horizontal-pod-autoscaler-initial-readiness-delay=5s",
    "--horizontal-pod-autoscaler-cpu-initialization-period=10s",
  ];
}

/** The command line of the scheduler. */
export function schedulerFlags(kubeconfig: string): string[] {
  return [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
}

/** The configuration of CoreDNS. */
export function corefile(network: ClusterNetwork, kubeconfig: string): string {
  return `.:53 {
  bind ${network.control}
  errors
  ready ${network.control}:8181
  cache 5
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    ttl 5
  }
}
`;
}

/** The objects through which pods reach CoreDNS. CoreDNS runs outside of pods. */
export function dnsObjects(network: ClusterNetwork) {
  const metadata = { name: "kube-dns", namespace: "kube-system", labels: { "kubernetes.io/service-name": "kube-dns" } };
  const ports = [["dns", "UDP"], ["dns-tcp", "TCP"]].map(([name, protocol]) => ({ name, protocol, port: 53 }));
  return [
    { apiVersion: "v1", kind: "Service", metadata, spec: { clusterIP: network.dnsService, ports } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata,
      addressType: "IPv4",
      endpoints: [{ addresses: [network.control] }],
      ports,
    },
  ];
}

/** The configuration of containerd. */
export function containerdConfig(): string {
  // Without restrict_oom_score_adj every sandbox dies on a kernel that does not allow lower scores.
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
`;
}

/** The network plugins of a node. */
export function podNetwork(pods: string, plugin: "bridge" | "ptp") {
  const ipam = { type: "host-local", ranges: [[{ subnet: pods }]], routes: [{ dst: "0.0.0.0/0" }] };
  const first = plugin === "ptp"
    ? { type: "ptp", ipMasq: false, ipam }
    : { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  const plugins = [first, { type: "portmap", capabilities: { portMappings: true } }];
  return { cniVersion: "0.4.0", name: "pods", plugins };
}

/** The configuration of the kubelet. */
export function kubeletConfig(network: ClusterNetwork, folder: string) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: `${folder}/${KEY_FILES.ca}` },
    },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupsPerQOS: false,
    // Without cgroupsPerQOS, the kubelet of this version crashes when it resizes a pod in place.
    featureGates: { InPlacePodVerticalScaling: false },
    enforceNodeAllocatable: [],
    failSwapOn: false,
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    clusterDomain: "cluster.local",
    clusterDNS: [network.dnsService],
    resolvConf: "",
    evictionHard: {
      "memory.available": "1Mi",
      "nodefs.available": "0%",
      "imagefs.available": "0%",
      "nodefs.inodesFree": "0%",
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // Changes of config maps and secrets reach pods at once.
    configMapAndSecretChangeDetectionStrategy: "Watch",
    syncFrequency: "10s",
  };
}

/** The command line of the kubelet. */
export function kubeletFlags(config: string, kubeconfig: string, name: string, address: string): string[] {
  return [`--config=${config}`, `--kubeconfig=${kubeconfig}`, `--hostname-override=${name}`, `--node-ip=${address}`];
}

/** The command line of kube-proxy. */
export function kubeProxyFlags(kubeconfig: string, name: string, network: ClusterNetwork): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${name}`,
    "--proxy-mode=iptables",
    `--cluster-cidr=${network.pods}`,
    "--conntrack-max-per-core=0",
    "--metrics-bind-address=127.0.0.1:10249",
    "--healthz-bind-address=127.0.0.1:10256",
  ];
}
