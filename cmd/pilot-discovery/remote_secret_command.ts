/**
 * The command `create-remote-secret`: the secret by which servers read another cluster, as an object for `kubectl`.
 *
 * Permissions: read of the named paths.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { remoteSecret } from "../../lib/install/objects/remote_secret.ts";
import { yamlDocuments } from "../../lib/install/template/text.ts";
import { BASE_ADDRESS, isBaseAddress, shownAddress } from "../../lib/kernel/fetch/web_address.ts";
import { type DumpJson, json, text } from "../../lib/offline/tables/dump.ts";
import { nameOf, objectsOfTexts } from "./objects_of_texts.ts";
import { readTexts } from "./offline.ts";
import type { remoteSecretFlags } from "./tag_flags.ts";

/** A name of a cluster that may end the name of an object. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Prints the secret; resolves with 0. */
export async function runRemoteSecret({ flags, args, output }: Invocation<typeof remoteSecretFlags>): Promise<number> {
  const { name: cluster, server: address, namespace } = flags;
  const problems = [
    ...NAME.test(cluster)
      ? []
      : [`flag --name: got ${JSON.stringify(cluster)}, expected lower-case letters, digits and dashes, at most 63`],
    ...address.startsWith("https://") && isBaseAddress(address)
      ? []
      : [`flag --server: got ${JSON.stringify(shownAddress(address))}, expected ${BASE_ADDRESS}`],
    ...NAME.test(namespace)
      ? []
      : [`flag --namespace: got ${JSON.stringify(namespace)}, expected the name of a namespace`],
  ];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const objects = objectsOfTexts((await readTexts(args, output)).reads);
  const access = accountToken(objects);
  output.out(yamlDocuments([remoteSecret({ cluster, address, ...access }, namespace)]));
  return 0;
}

const TYPE = "kubernetes.io/service-account-token";

/** The token and the roots in a secret of an account. @throws {UsageError} With what is missing. */
function accountToken(objects: readonly DumpJson[]): { readonly token: string; readonly authority: string } {
  const [secret, ...more] = objects.filter(({ kind, type }) => kind === "Secret" && type === TYPE);
  if (secret === undefined || more.length > 0) {
    throw new UsageError(
      `got ${objects.length} objects with ${more.length + (secret ? 1 : 0)} secrets of the type ${TYPE}, expected one`,
    );
  }
  const data = json(secret.data);
  const [token, authority] = [Buffer.from(text(data.token), "base64").toString().trim(), text(data["ca.crt"])];
  const missing = [...token === "" ? ["data.token"] : [], ...authority === "" ? ["data[ca.crt]"] : []];
  if (missing.length === 0) return { token, authority };
  throw new UsageError(
    `Secret ${nameOf(secret)}: ${
      missing.join(" and ")
    }: got nothing, expected what the cluster fills in; is the account there?`,
  );
}
