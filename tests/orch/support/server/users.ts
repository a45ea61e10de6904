/**
 * Users of an API server for tests, and their rights.
 *
 * Permissions: net (the API server), read and write (temp folder), run (openssl).
 * @module
 */
import type { ApiAccess } from "../../../../lib/orch/client/access.ts";
import { ApiClient } from "../../../../lib/orch/client/client.ts";
import { until } from "../../../patience.ts";
import type { ServerKeys } from "./keys.ts";
import type { ApiObjects } from "./objects.ts";

/** An action that a user asks for. */
export interface GrantedAction {
  readonly verb: string;
  readonly resource: string;
  readonly group?: string;
  readonly subresource?: string;
}

/** A rule of a role. */
export interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** The user or account of a role. */
export type RoleSubject =
  | { readonly kind: "User" | "Group"; readonly name: string }
  | { readonly kind: "ServiceAccount"; readonly name: string; readonly namespace: string };

export class ServerUsers {
  readonly #objects: ApiObjects;
  readonly #client: ApiClient;
  readonly #server: Pick<ApiAccess, "server" | "ca">;
  readonly #keys: ServerKeys;

  constructor(objects: ApiObjects, client: ApiClient, { server, ca }: ApiAccess, keys: ServerKeys) {
    this.#objects = objects;
    this.#client = client;
    this.#server = { server, ca };
    this.#keys = keys;
  }

  /** Access by a client certificate. */
  async byCertificate(name: string, groups: readonly string[] = []): Promise<ApiAccess> {
    const { certificate: cert, key } = await this.#keys.user(name, groups);
    return { ...this.#server, identity: { cert, key } };
  }

  /** Access by a token. */
  byToken(token: string): ApiAccess {
    return { ...this.#server, authorization: `Bearer ${token}` };
  }

  /** Makes a service account. @returns access by a token of the account */
  async account(namespace: string, name: string): Promise<ApiAccess> {
    await this.#objects.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name } });
    return this.byToken(await this.token(namespace, name));
  }

  /**
   * A token of a service account.
   *
   * @param audiences Default: the API server.
   * @param pod The token names the pod. Default: none.
   */
  async token(
    namespace: string,
    name: string,
    audiences?: readonly string[],
    pod?: { readonly name: string; readonly uid: string },
  ): Promise<string> {
    const spec = {
      ...audiences === undefined ? {} : { audiences },
      ...pod === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Pod", ...pod } },
      expirationSeconds: 3600,
    };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const { status } = await this.#client.json({ method: "POST", path, body });
    return (status as { readonly token: string }).token;
  }

  /**
   * Allows the actions of the rules.
   *
   * @param name Of the role and its binding; granting again replaces both.
   * @param namespace Where. Default: everywhere.
   */
  async grant(subject: RoleSubject, name: string, rules: readonly RoleRule[], namespace?: string): Promise<void> {
    const kind = namespace === undefined ? "ClusterRole" : "Role";
    const object = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      metadata: { name, ...namespace === undefined ? {} : { namespace } },
    };
    await this.#objects.apply({ ...object, kind, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name };
    const group = subject.kind === "ServiceAccount" ? {} : { apiGroup: "rbac.authorization.k8s.io" };
    await this.#objects.apply({ ...object, kind: `${kind}Binding`, roleRef, subjects: [{ ...group, ...subject }] });
  }

  /** Resolves when the server grants an action to an account; see {@linkcode ServerUsers.allowed}. */
  async granted(namespace: string, account: string, what: GrantedAction): Promise<void> {
    await this.allowed(this.byToken(await this.token(namespace, account)), namespace, what);
  }

  /**
   * Resolves when the server grants an action to an access. The server reads grants by watches, so a grant takes a
   * moment.
   */
  async allowed(access: ApiAccess, namespace: string, what: GrantedAction): Promise<void> {
    const client = clientOf(access);
    const spec = { resourceAttributes: { namespace, ...what } };
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    await until(`the right to ${what.verb} ${what.resource}`, async () => {
      const { status } = await client.json({ method: "POST", path, body });
      return (status as { readonly allowed: boolean }).allowed;
    }, 50);
  }
}

/** A client whose access stays the same. */
export function clientOf(access: ApiAccess): ApiClient {
  return new ApiClient({ access: { current: () => access, refused: () => {} } });
}
