/** Folders of a node for an installer, in a temporary place. */
import type { NetworkJson } from "../../../lib/cni/config/network.ts";
import type { DesiredState, NodeFolders } from "../../../lib/cni/install/installer.ts";
import type { DesiredStateOptions } from "../../../lib/cni/install/desired_state.ts";

/** A primary network, in the style of people. */
export const PRIMARY = `{
  "name": "cbr0",   "cniVersion": "0.3.1",
  "plugins": [
    { "type": "flannel", "delegate": { "hairpinMode": true } },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
`;

/** The authority of an orchestrator without TLS. */
export const CA = `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUBSkj+UAqjPjC4rMbsaj8XgLnzOAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbm9kZS10ZXN0MCAXDTI2MTEyODE0MjczNloYDzIxMjYxMTA0
MTQyNzM2WjAUMRIwEAYDVQQDDAlub2RlLXRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASdm+qOu0m6/Aij3b3Qldn7PoC0I+G3CWagdVAOWWRAh6nuXgOkKlLp
BVVecPlwAjxHKPy8jf2EwfHDeji2fiZlo1MwUTAdBgNVHQ4EFgQU6fLMoHdsvieY
d+ENMG+ROPkmCXgwHwYDVR0jBBgwFoAU6fLMoHdsvieYd+ENMG+ROPkmCXgwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAqj6YZg5acZjPwaFAURMS
dbOpETHhpyxWusGGMAPOZRcCIQCzifdmsbeN8+MQsN1PS4wv5HBzFXqRBUNrCERG
T3R9CQ==
-----END CERTIFICATE-----
`;

/** Our entry, in tests without interest in its content. */
export const ENTRY: NetworkJson = { name: "mesh-cni", type: "mesh-cni", plugin_log_level: "info" };

/** Folders of a node, and of an installer's credentials. */
export class Place implements Disposable {
  readonly folders: NodeFolders;
  readonly credentials: string;

  constructor(readonly dir: string = Deno.makeTempDirSync({ prefix: "mcni-" })) {
    this.folders = { net: `${dir}/net.d`, bin: `${dir}/bin`, run: `${dir}/run` };
    this.credentials = `${dir}/sa`;
    for (const folder of [...Object.values(this.folders), this.credentials]) {
      Deno.mkdirSync(folder, { recursive: true });
    }
    Deno.writeTextFileSync(`${this.credentials}/ca.crt`, CA);
    Deno.writeTextFileSync(`${this.credentials}/token`, "token-1");
  }

  /** Writes a configuration. */
  config(name: string, text: string, mode = 0o644): void {
    Deno.writeTextFileSync(`${this.folders.net}/${name}`, text);
    Deno.chmodSync(`${this.folders.net}/${name}`, mode);
  }

  /** Every file in and below the node's folders but the lock: path, mode, text. */
  files(): Record<string, string> {
    const found: Record<string, string> = {};
    const folders = Object.values(this.folders);
    for (const folder of folders) {
      for (const { name, isFile, isDirectory } of Deno.readDirSync(folder)) {
        const path = `${folder}/${name}`;
        if (isDirectory) folders.push(path);
        if (name === "install.lock" || !isFile) continue;
        const mode = ((Deno.statSync(path).mode ?? 0) & 0o7777).toString(8);
        found[`${path.slice(this.dir.length + 1)} ${mode}`] = Deno.readTextFileSync(path);
      }
    }
    return found;
  }

  /** The desired state in most tests. */
  desired(more: Partial<DesiredState> = {}): DesiredState {
    return {
      placement: "chained",
      confName: undefined,
      ownedName: "02-mesh-cni.conflist",
      entry: ENTRY,
      executable: { script: "#!/bin/sh\n" },
      orchConfig: "{}\n",
      orchConfigMode: 0o600,
      version: "1",
      installer: "mesh-cni-node-aaaaa",
      ...more,
    };
  }

  /** The options of a service in most tests. */
  desiredStateOptions(server: URL, more: Partial<DesiredStateOptions> = {}): DesiredStateOptions {
    return {
      chained: true,
      owned: false,
      ownedName: "02-mesh-cni.conflist",
      confName: undefined,
      template: undefined,
      templateFile: undefined,
      logLevel: "info",
      runDir: this.folders.run,
      ambientEnabled: false,
      scopedLock: true,
      excludeNamespaces: ["kube-system"],
      skipExecutables: [],
      podName: "mesh-cni-node-aaaaa",
      podNamespace: "mesh-system",
      protocol: server.protocol.slice(0, -1),
      host: server.hostname,
      port: server.port,
      caFile: undefined,
      skipTlsVerify: false,
      credentials: this.credentials,
      orchConfigMode: 0o600,
      executable: { script: "#!/bin/sh\n" },
      version: "1",
      ...more,
    };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.dir, { recursive: true });
  }
}
