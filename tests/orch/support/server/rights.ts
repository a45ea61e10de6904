/**
 * Accounts of an API server with the rights of `manifests/`, or with fewer rights.
 *
 * Permissions: the permissions of `./api_server.ts`.
 * @module
 */
import { parseAllDocuments } from "yaml";
import { ApiClient } from "../../../../lib/orch/client/client.ts";
import { openExchange } from "../../../../lib/orch/client/exchange.ts";
import type { Clock } from "../../../../lib/kernel/time/clock.ts";
import type { ApiServer } from "./api_server.ts";
import type { ObjectDraft, ObjectId } from "./objects.ts";

/** The objects of a file of `manifests/`. */
export function manifests(name: string): (ObjectDraft & ObjectId)[] {
  const path = new URL(`../../../../manifests/${name}.yaml`, import.meta.url);
  return parseAllDocuments(Deno.readTextFileSync(path)).map((document) => document.toJS());
}

/** A client of an account, and the first refused request of the account. */
export interface AccountClient extends Disposable {
  readonly client: ApiClient;
  /** Resolves with the method and path of the first refusal; the method of a watch is `WATCH`. */
  readonly refused: Promise<string>;
}

/** A client with the rights of an account of a namespace. */
export async function accountClient(
  server: ApiServer,
  namespace: string,
  account: string,
  clock?: Clock,
): Promise<AccountClient> {
  const access = server.users.byToken(await server.users.token(namespace, account));
  const open = await openExchange(access);
  const first = Promise.withResolvers<string>();
  const exchange = async (url: string, init: RequestInit) => {
    const response = await open.exchange(url, init);
    const { pathname, searchParams } = new URL(url);
    const method = searchParams.has("watch") ? "WATCH" : init.method;
    if (response.status === 403) first.resolve(`${method} ${decodeURIComponent(pathname)}`);
    return response;
  };
  const client = new ApiClient({
    ...{ access: { current: () => access, refused: () => {} }, exchange },
    ...clock === undefined ? {} : { clock },
  });
  return { client, refused: first.promise, [Symbol.dispose]: () => open.close() };
}
