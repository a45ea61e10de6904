/**
 * Each right of `manifests/` by itself: work passes with all rights, and is refused with one verb less.
 *
 * Permissions: the permissions of `./api_server.ts`.
 * @module
 */
import assert from "node:assert/strict";
import type { Clock } from "../../../../lib/kernel/time/clock.ts";
import type { ApiServer } from "./api_server.ts";
import type { ObjectDraft } from "./objects.ts";
import { type AccountClient, accountClient, manifests } from "./rights.ts";
import type { RoleRule } from "./users.ts";
import { until } from "../../../patience.ts";

/** Namespace of the programs and their accounts. */
export const SYSTEM = "mesh-system";

/** A verb for a resource. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** Including the subresource: `pods/status`. */
  readonly resource: string;
  /** Name of the only object of the right. Default: all objects. */
  readonly name?: string;
  /** The granting role: a right in the system's namespace, or everywhere. */
  readonly role: "Role" | "ClusterRole";
}

/** An account without one right, or with all rights. */
export interface LackingAccount {
  readonly account: string;
  readonly without: Right | undefined;
}

/** The name of a file of `manifests/`, or objects of an installation with other values. */
export type RightsSource = string | readonly ObjectDraft[];

/** The rights that sources grant to one account. A right of several rules is there once. */
export function rightsOf(...sources: readonly RightsSource[]): readonly Right[] {
  const objects = sources.flatMap((one): readonly ObjectDraft[] => typeof one === "string" ? manifests(one) : one);
  const all = objects.flatMap((object): readonly Right[] => {
    if (object.kind !== "Role" && object.kind !== "ClusterRole") return [];
    const role = object.kind;
    return (object["rules"] as readonly RoleRule[]).flatMap((rule) =>
      rightsOfRule(rule).map((one) => ({ ...one, role }))
    );
  });
  return [...new Map(all.map((right) => [JSON.stringify(right), right])).values()];
}

function rightsOfRule({ apiGroups = [], resources = [], resourceNames, verbs }: RoleRule): Omit<Right, "role">[] {
  const names = resourceNames === undefined ? [{}] : resourceNames.map((name) => ({ name }));
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((named) => ({ verb, group, resource, ...named })))
    )
  );
}

/**
 * Accounts with the rights of sources: first an account with all rights, then for each chosen right an account
 * without it. An account appears when the API knows the account's rights.
 */
export async function* accountsWithOneRightLess(
  { users, objects }: ApiServer,
  sources: readonly RightsSource[],
  chosen: (right: Right) => boolean,
): AsyncGenerator<LackingAccount> {
  const rights = rightsOf(...sources);
  const lacking = rights.filter(chosen);
  assert.ok(lacking.length > 0, `no right of ${JSON.stringify(rights)} is chosen`);
  await objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
  for (const without of [undefined, ...lacking]) {
    const account = `less-${crypto.randomUUID()}`;
    await users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    for (const role of ["ClusterRole", "Role"] as const) {
      const kept = rights.filter((right) => right.role === role && right !== without).map(ruleOf);
      const sign = { verb: "get", group: "test", resource: role.toLowerCase() };
      const where = role === "Role" ? [SYSTEM] : [];
      await users.grant(subject, account, [...kept, ruleOf({ ...sign, role })], ...where);
      await users.granted(SYSTEM, account, sign);
    }
    yield { account, without };
  }
}

function ruleOf({ verb, group, resource, name }: Right): RoleRule {
  const names = name === undefined ? {} : { resourceNames: [name] };
  return { apiGroups: [group], resources: [resource], ...names, verbs: [verb] };
}

/** The argument of `work`. */
export interface RightsTrial extends AccountClient, LackingAccount {
  /** Resolves when something holds, or when the account was refused a request. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
}

/**
 * Does work as accounts with one right less. Fails unless all rights together are enough and each chosen right is
 * needed. A right is needed when its absence causes the first refused request.
 *
 * @param work Ends when the work is done, or soon after a refusal; then the work may fail.
 */
export async function everyRightIsNeeded(
  server: ApiServer,
  files: readonly string[],
  chosen: (right: Right) => boolean,
  work: (trial: RightsTrial) => Promise<unknown>,
  clock?: Clock,
): Promise<void> {
  for await (const { account, without } of accountsWithOneRightLess(server, files, chosen)) {
    using as = await accountClient(server, SYSTEM, account, clock);
    let refusal: string | undefined;
    void as.refused.then((what) => refusal = what);
    const trial: RightsTrial = {
      ...{ client: as.client, refused: as.refused, account, without, [Symbol.dispose]: () => {} },
      until: (what, holds) => until(what, async () => refusal !== undefined || await holds()),
    };
    try {
      await work(trial);
    } catch (error) {
      if (refusal === undefined) throw error;
    }
    if (without === undefined) assert.equal(refusal, undefined, "all rights of the manifest are enough");
    else assert.match(refusal ?? "nothing was refused", requestOf(without), JSON.stringify(without));
  }
}

/** The methods of requests under a verb. Applying an object is a patch. */
const METHODS: Readonly<Record<string, string>> = {
  ...{
    get: "GET",
    list: "GET",
    watch: "WATCH",
    create: "(POST|PATCH)",
    update: "PUT",
    patch: "PATCH",
    delete: "DELETE",
  },
  // The API asks for verbs of signers together with the verbs of the signed or published object.
  ...{ attest: "(POST|PATCH)", approve: "PATCH" },
};

/** The requests under a right, as {@linkcode AccountClient} names requests. */
function requestOf({ verb, resource, name }: Right): RegExp {
  const [plural, subresource] = resource.split("/");
  const object = name ?? "[^/]+";
  const path = ["list", "watch"].includes(verb) ? "" : verb === "create" ? `(/${object})?` : `/${object}`;
  const place = resource === "signers"
    ? ".*"
    : `.*/${plural}${path}${subresource === undefined ? "" : `/${subresource}`}`;
  return new RegExp(`^${METHODS[verb]} ${place}$`);
}
