/**
 * Command lines of the orchestrator's programs. The programs run in the folder of their files.
 * @module
 */
import { KEY_FILES } from "./keys.ts";

/** Sockets in the folder, so that the store needs no ports. */
const STORE = "unix://store:0", STORE_PEERS = "unix://store-peers:0";

/** The files of the sockets. A killed store leaves the files, and could not listen there again. */
export const STORE_SOCKETS: readonly string[] = ["store:0", "store-peers:0"];

/** The store. Its data need not survive the machine. */
export function storeFlags(): string[] {
  return [
    "--name=store",
    "--data-dir=store.data",
    "--unsafe-no-fsync",
    "--logger=zap",
    "--log-level=warn",
    `--listen-client-urls=${STORE}`,
    `--advertise-client-urls=${STORE}`,
    `--listen-peer-urls=${STORE_PEERS}`,
    `--initial-advertise-peer-urls=${STORE_PEERS}`,
    `--initial-cluster=store=${STORE_PEERS}`,
  ];
}

/** The flag of an API server in the folder of its store. */
export const STORE_FLAG = `--etcd-servers=${STORE}`;

/** The flags of every API server: its keys, and who may do what. */
export const SERVER_KEYS_AND_RIGHTS: readonly string[] = [
  `--tls-cert-file=${KEY_FILES.serving}`,
  `--tls-private-key-file=${KEY_FILES.servingKey}`,
  `--client-ca-file=${KEY_FILES.ca}`,
  "--authorization-mode=Node,RBAC",
  "--allow-privileged=true",
  "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
  `--service-account-key-file=${KEY_FILES.accounts}`,
  `--service-account-signing-key-file=${KEY_FILES.accounts}`,
  "--profiling=false",
];

/** The API server. Without a controller manager nobody makes service accounts for pods. */
export function serverFlags(port: number, controllerManager: boolean): string[] {
  return [
    STORE_FLAG,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.96.0.0/16",
    ...SERVER_KEYS_AND_RIGHTS,
    ...controllerManager ? [] : ["--disable-admission-plugins=ServiceAccount"],
  ];
}

/** The controller manager makes slices, issues certificates, and collects objects of removed owners. */
export function managerFlags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    `--service-account-private-key-file=${KEY_FILES.accounts}`,
    `--root-ca-file=${KEY_FILES.ca}`,
    `--cluster-signing-cert-file=${KEY_FILES.ca}`,
    `--cluster-signing-key-file=${KEY_FILES.caKey}`,
  ];
}
