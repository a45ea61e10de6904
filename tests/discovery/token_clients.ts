/**
 * A server that believes tokens in plain text, and its clients.
 *
 * Permissions: the permissions of a running server, net (loopback).
 * @module
 */
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { QuestionClient } from "./question_client.ts";
import { withServer } from "./running.ts";

/** The node id of a workload. */
export const idOf = (name: string, namespace: string) =>
  `sidecar~10.0.0.1~${name}.${namespace}~${namespace}.svc.cluster.local`;

/**
 * A client of the given name. The account is the client's own, another account, or none: no token. The generator is a
 * field of the node's metadata.
 */
type Connect = (name: string, namespace: string, account?: string, generator?: string) => Promise<QuestionClient>;

/** Runs with a server over the given files, and closes the clients afterwards. */
export async function withTokenClients(
  files: Readonly<Record<string, string>>,
  run: (connect: Connect, server: DiscoveryServer) => Promise<void>,
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
): Promise<void> {
  await using issuer = await TestIssuer.start();
  const rule = JSON.stringify({ issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
  await withServer({ ...files }, async (server) => {
    const clients: Disposable[] = [];
    try {
      await run(async (name, namespace, account = name, generator = "") => {
        const sub = `system:serviceaccount:${namespace}:${account}`;
        const token = account === "" ? undefined : await issuer.token({ sub });
        const metadata = generator === "" ? undefined : { GENERATOR: generator };
        const client = await QuestionClient.connect(server.ports.grpc, idOf(name, namespace), token, metadata);
        clients.push(client);
        return client;
      }, server);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  }, { settings: { JWT_RULE: rule, XDS_AUTH_PLAINTEXT: true, ...settings } });
}
