/**
 * The roots of the mesh beside the roots that come with certificates: roots of `caCertificates`, and roots of an
 * external certificate provider. Agents are sent all roots (type `istio.mesh.v1alpha1.ProxyConfig`). Clients of the
 * secure port are verified by the roots for the mesh's own trust domain.
 *
 * @module
 */
import { anchorsOf, bundlesBy, TrustAnchors, type TrustAnchorsOptions } from "../../authority/trust_anchors.ts";
import { MessageWriter } from "../../grpc/message_writer.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { readCertificates } from "../../pki/certificate.ts";
import { type Current, CurrentValue } from "../../pki/current.ts";
import { certificatePem } from "../../pki/pem.ts";
import { encodeResource } from "../../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";
import { compliantExchange } from "../../sockets/fetch/policy_exchange.ts";
import { PROXY_CONFIG } from "../../xds/protocol/types.ts";
import { ownSigner } from "./signers.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** Name of the only resource. The protocol of agents neither asks for a name nor reads the name. */
const RESOURCE = "default";
/** `ProxyConfig.ca_certificates_pem`: istio.io/api/mesh/v1alpha1/proxy.proto. */
const CA_CERTIFICATES_PEM = 34;

/** Inputs of the roots. */
export interface MeshRootsOptions {
  readonly table: ResourceTable;
  /** Whether agents are sent roots, even if there are none. */
  readonly served: boolean;
  /** Called after the roots for agents have changed. */
  readonly changed: () => void;
}

export class MeshRoots {
  /** Roots of `caCertificates` that verify certificates of the mesh's own trust domain, as one PEM text. */
  readonly ofOwnDomain = new CurrentValue("");
  readonly #options: MeshRootsOptions;
  readonly #parts: Current<string>[] = [];
  #served: boolean;
  #anchors: readonly string[] = [];
  #sets: readonly ResourceSet[] = [];

  constructor(options: MeshRootsOptions) {
    this.#options = options;
    this.#served = options.served;
    this.#build();
  }

  /**
   * The resource for agents. The set stays the same object while its content stays. Undefined: agents are sent nothing.
   */
  get sets(): readonly ResourceSet[] | undefined {
    return this.#served ? this.#sets : undefined;
  }

  /** Adds roots for agents: one PEM text, or an empty text. */
  add(roots: Current<string>): void {
    this.#parts.push(roots);
    roots.onChange(() => this.#build());
    this.#build();
  }

  /** Sends agents roots even when the settings do not require it. */
  serve(): void {
    this.#served = true;
  }

  /** Replaces the roots of `caCertificates`. */
  useAnchors(all: readonly string[], ofOwnDomain: readonly string[]): void {
    this.#anchors = all;
    const own = [...new Set(ofOwnDomain)].join("");
    if (own !== this.ofOwnDomain.current()) this.ofOwnDomain.set(own);
    this.#build();
  }

  #build(): void {
    const { table, changed } = this.#options;
    const ofParts = this.#parts.flatMap((part) => certificatesOf(part.current()));
    const message = new MessageWriter();
    for (const root of [...new Set([...this.#anchors, ...ofParts])].sort()) message.string(CA_CERTIFICATES_PEM, root);
    const [before] = this.#sets;
    const next = (before ?? table.empty).with([encodeResource(PROXY_CONFIG, RESOURCE, message.finish())]);
    if (next === before) return;
    this.#sets = [next];
    if (before !== undefined && this.#served) changed();
  }
}

function certificatesOf(text: string): string[] {
  return text === "" ? [] : readCertificates(text).map(({ der }) => certificatePem(der));
}

/** Inputs of the roots at a start. */
export interface MeshRootsParts extends Pick<MeshRootsOptions, "table" | "changed"> {
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  /** Default: over the network. */
  readonly fetchBundle?: TrustAnchorsOptions["fetchBundle"];
}

/**
 * Roots of the mesh configuration, now and after each change, until the kernel stops. Requires `MESH_MULTIROOT_MESH`:
 * without the setting, a mesh has only the roots of its authority, and a warning says so.
 */
export function startMeshRoots(
  { mesh, fetchBundle, ...options }: MeshRootsParts,
  settings: Pick<
    DiscoverySettings,
    "COMPLIANCE_POLICY" | "EXTERNAL_CA" | "MESH_MULTIROOT_MESH" | "PILOT_CERT_PROVIDER"
  >,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): MeshRoots {
  const { MESH_MULTIROOT_MESH: several, COMPLIANCE_POLICY } = settings;
  const signersUsed = settings.EXTERNAL_CA !== "" || ownSigner(settings) !== undefined;
  const log = kernel.log.scope("trustBundle");
  const roots = new MeshRoots({ ...options, served: several });
  const anchors = new TrustAnchors({
    ...{ clock: kernel.clock, log },
    fetchBundle: fetchBundle ?? bundlesBy(compliantExchange(COMPLIANCE_POLICY)),
  });
  kernel.stopper.add("roots of the mesh configuration", () => anchors.stop());
  const publish = () => {
    const { trustDomain, trustDomainAliases } = mesh.state.mesh;
    const all = anchors.all.current();
    roots.useAnchors(all.map(({ pem }) => pem), anchorsOf(all, [trustDomain, ...trustDomainAliases]));
  };
  const take = () => {
    const sources = mesh.state.mesh.caCertificates ?? [];
    // Entries with `certSigners` are roots of signers. See `./signer_roots.ts`.
    const others = signersUsed ? sources.filter(({ certSigners = [] }) => certSigners.length === 0) : sources;
    if (!several && others.length > 0) {
      log.warn("the roots of caCertificates are not trusted without MESH_MULTIROOT_MESH", { entries: others.length });
    }
    anchors.use(several ? sources : []);
    publish();
  };
  anchors.all.onChange(publish);
  mesh.onChange(take);
  take();
  return roots;
}
