/**
 * Schema of PeerAuthentication.
 *
 * @module
 */
import { map } from "../../schema/containers.ts";
import { type Field, keepZero, withDefault } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { enumOf } from "../../schema/scalars.ts";
import { workloadSelector } from "../common/schema.ts";
import type { MutualTls, PeerAuthenticationSpec } from "./types.ts";

const mutualTls = message<MutualTls>({
  mode: withDefault(enumOf("UNSET", "DISABLE", "PERMISSIVE", "STRICT"), "UNSET"),
});

/** Schema of {@link PeerAuthenticationSpec}. */
export const peerAuthentication: Field<PeerAuthenticationSpec> = message<PeerAuthenticationSpec>({
  selector: workloadSelector,
  mtls: mutualTls,
  // Written but empty is a mistake here, so it is kept for validation to see.
  portLevelMtls: keepZero(map(mutualTls)),
});
