/**
 * Schema of AuthorizationPolicy.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { enumOf, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";
import type * as types from "./types.ts";

const strings = list(string());

const source = message<types.AuthorizationSource>({
  principals: strings,
  notPrincipals: strings,
  requestPrincipals: strings,
  notRequestPrincipals: strings,
  namespaces: strings,
  notNamespaces: strings,
  serviceAccounts: strings,
  notServiceAccounts: strings,
  ipBlocks: strings,
  notIpBlocks: strings,
  remoteIpBlocks: strings,
  notRemoteIpBlocks: strings,
});

const operation = message<types.AuthorizationOperation>({
  hosts: strings,
  notHosts: strings,
  ports: strings,
  notPorts: strings,
  methods: strings,
  notMethods: strings,
  paths: strings,
  notPaths: strings,
});

const condition = message<types.AuthorizationCondition>({
  key: required(string(), "an attribute such as request.headers[name]"),
  values: strings,
  notValues: strings,
});

/** Schema of {@link types.AuthorizationPolicySpec}. */
export const authorizationPolicy: Field<types.AuthorizationPolicySpec> = message<types.AuthorizationPolicySpec>({
  selector: workloadSelector,
  targetRef: targetReference,
  targetRefs: list(targetReference),
  rules: list(message<types.AuthorizationRule>({
    // Written but empty lists are mistakes here, so they are kept for validation to see.
    from: keepZero(list(shape({ source }))),
    to: keepZero(list(shape({ operation }))),
    when: list(condition),
  })),
  action: withDefault(enumOf("ALLOW", "DENY", "AUDIT", "CUSTOM"), "ALLOW"),
  provider: shape({ name: string() }),
});
