/**
 * Reports of servers for the server that leads. Each server renews a config map of its own.
 *
 * A server that dies without a word stops renewing. Its report counts for {@linkcode EXPIRES_MS} on the reader's clock,
 * and is then removed.
 *
 * Permissions: the permissions of the client. Rights of the account: `create`, `patch` and `delete` of config maps in
 * the namespace of the server, and `list` and `watch` of config maps.
 *
 * @module
 */
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { applyObject, deleteObject, type ObjectPlace } from "../../orch/resources/objects.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import { GATEWAY_REPORT_LABEL, readReport, REPORT_LABEL, reportData, type ServerReport } from "../../status/report.ts";

/** Age at which an unchanged report is renewed, milliseconds. */
export const RENEW_MS = 30_000;

/** Age at which a report belongs to a dead server, milliseconds. */
const EXPIRES_MS = 100_000;

const CONFIG_MAPS: ApiResource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** What reports are about: the label of the config maps, the begin of their names, and the form of a report. */
export interface ReportSubject<R> {
  readonly label: string;
  /** Value of the label. Default: the label has no value, and reports with every value are read. */
  readonly value?: string;
  readonly begin: string;
  /** `binaryData` of the config map. */
  readonly data: (report: R) => Promise<ApiJson>;
  /** Undefined: the data are not a report. */
  readonly read: (binaryData: unknown) => Promise<R | undefined>;
}

const STATUS = { begin: "mesh-status-report-", data: reportData, read: readReport };

/** Reports about the kinds of the mesh. */
const MESH_KINDS: ReportSubject<ServerReport> = { ...STATUS, label: REPORT_LABEL };

/** Reports about the kinds of the Gateway API. */
export const GATEWAY_KINDS: ReportSubject<ServerReport> = {
  ...STATUS,
  ...{ label: GATEWAY_REPORT_LABEL, begin: `${STATUS.begin}gateways-` },
};

/**
 * A name for a server that reports, different from the names of all other servers: a part of an object name in the API.
 * The pod's name tells people which server wrote the report. Permissions: sys (hostname).
 *
 * @param pod Empty: the name of the host stands for the pod.
 */
export function newReporterName(pod: string): string {
  const plain = (pod || Deno.hostname()).toLowerCase().replace(/[^a-z0-9-]+/g, "-").slice(0, 63);
  return `${plain}-${crypto.randomUUID().slice(0, 8)}`;
}

function reportPlace(namespace: string, server: string, { begin }: { readonly begin: string }): ObjectPlace {
  return { resource: CONFIG_MAPS, namespace, name: `${begin}${server}` };
}

/** The report of this server. */
export class ServerOwnReport<R> {
  readonly #client: ApiClient;
  readonly #place: ObjectPlace;
  readonly #subject: ReportSubject<R>;
  #written = "";
  #at = -Infinity;

  /** @param server Name of this server, different from the names of all other servers. */
  constructor(client: ApiClient, namespace: string, server: string, about: ReportSubject<R>) {
    this.#client = client;
    this.#place = reportPlace(namespace, server, about);
    this.#subject = about;
  }

  /**
   * Writes the report if it has changed or the last write is old.
   *
   * @param sooner Shortest time between two writes, milliseconds.
   * @throws {ApiError} as the API does
   */
  async write(report: R, sooner: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#client;
    const since = clock.monotonic() - this.#at;
    if (since < sooner) return;
    const { label, value = "", data } = this.#subject;
    const binaryData = await data(report);
    const text = JSON.stringify(binaryData);
    if (text === this.#written && since < RENEW_MS) return;
    const metadata = {
      labels: { [label]: value },
      annotations: { "internal.mesh.io/renewed": new Date(clock.now()).toISOString() },
    };
    await applyObject(this.#client, this.#place, { metadata, binaryData }, {
      ...{ manager: "pilot-discovery-status", force: true, signal },
    });
    this.#written = text;
    this.#at = clock.monotonic();
  }

  /** Removes the report, if this server has written a report. */
  async remove(signal: AbortSignal): Promise<void> {
    if (this.#at === -Infinity) return;
    this.#at = -Infinity;
    this.#written = "";
    await deleteObject(this.#client, this.#place, {}, { signal });
  }
}

/** The report of this server for status. */
export class OwnReport extends ServerOwnReport<ServerReport> {
  constructor(client: ApiClient, namespace: string, server: string, about = MESH_KINDS) {
    super(client, namespace, server, about);
  }
}

/** The reports of the other servers. */
export class OtherServerReports<R> {
  readonly #client: ApiClient;
  readonly #own: string;
  readonly #informer: Informer<unknown>;
  readonly #read: ReportSubject<R>["read"];
  readonly #reports = new Map<string, { readonly report: R; readonly at: number }>();
  #taken: Promise<void> = Promise.resolve();
  /** Increases whenever a report has changed. */
  revision = 0;

  constructor(client: ApiClient, namespace: string, server: string, about: ReportSubject<R>) {
    const { label, value } = about;
    this.#client = client;
    this.#read = about.read;
    this.#own = reportPlace(namespace, server, about).name;
    this.#informer = new Informer<unknown>(client, {
      ...{
        resource: CONFIG_MAPS,
        namespace,
        labelSelector: value === undefined ? label : `${label}=${value}`,
        project: ({ binaryData }: ApiJson) => binaryData,
      },
    });
    this.#informer.subscribe(({ upserted, removed }) => {
      for (const { name } of removed) this.#forget(name);
      for (const { name, version, value } of upserted) {
        if (name !== this.#own) {
          this.#taken = Promise.all([this.#taken, this.#take(namespace, name, version, value)]).then(() => {});
        }
      }
    });
  }

  /** Begins; resolves when all reports were read once. */
  async start(): Promise<void> {
    this.#informer.start();
    await this.#informer.whenSynced;
    await this.#taken;
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
  }

  /** The reports of live servers. */
  all(): R[] {
    return [...this.#reports.values()].map(({ report }) => report);
  }

  /** Removes reports that nobody renews. */
  async expire(namespace: string, signal: AbortSignal): Promise<void> {
    const now = this.#client.clock.monotonic();
    for (const [name, { at }] of this.#reports) {
      if (now - at < EXPIRES_MS) continue;
      this.#forget(name);
      await deleteObject(this.#client, { resource: CONFIG_MAPS, namespace, name }, {}, { signal });
    }
  }

  #forget(name: string): void {
    if (this.#reports.delete(name)) this.revision++;
  }

  async #take(namespace: string, name: string, version: string, value: unknown): Promise<void> {
    const report = await this.#read(isApiJson(value) ? value : {});
    // Another version may have arrived during unpacking.
    if (this.#informer.get(namespace, name)?.version !== version) return;
    if (report === undefined) return this.#forget(name);
    this.#reports.set(name, { report, at: this.#client.clock.monotonic() });
    this.revision++;
  }
}

/** The reports of the other servers for status. */
export class OtherReports extends OtherServerReports<ServerReport> {
  constructor(client: ApiClient, namespace: string, server: string, about = MESH_KINDS) {
    super(client, namespace, server, about);
  }
}
