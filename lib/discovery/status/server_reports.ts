/**
 * Reports of servers for the server that writes status. Each server renews a config map of its own.
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
import { readReport, REPORT_LABEL, reportData, type ServerReport } from "../../status/report.ts";

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

function reportPlace(namespace: string, server: string): ObjectPlace {
  return { resource: CONFIG_MAPS, namespace, name: `mesh-status-report-${server}` };
}

export class OwnReport {
  readonly #client: ApiClient;
  readonly #place: ObjectPlace;
  #written = "";
  #at = -Infinity;

  /** @param server Name of this server, different from the names of all other servers. */
  constructor(client: ApiClient, namespace: string, server: string) {
    this.#client = client;
    this.#place = reportPlace(namespace, server);
  }

  /**
   * Writes the report if it has changed or the last write is old.
   *
   * @param sooner Shortest time between two writes, milliseconds.
   * @throws {ApiError} as the API does
   */
  async write(report: ServerReport, sooner: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#client;
    const since = clock.monotonic() - this.#at;
    if (since < sooner) return;
    const binaryData = await reportData(report);
    const text = JSON.stringify(binaryData);
    if (text === this.#written && since < RENEW_MS) return;
    const metadata = {
      labels: { [REPORT_LABEL]: "" },
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

/** The reports of the other servers, for the server that writes status. */
export class OtherReports {
  readonly #client: ApiClient;
  readonly #own: string;
  readonly #informer: Informer<unknown>;
  readonly #reports = new Map<string, { readonly report: ServerReport; readonly at: number }>();
  #taken: Promise<void> = Promise.resolve();
  /** Increases whenever a report has changed. */
  revision = 0;

  constructor(client: ApiClient, namespace: string, server: string) {
    this.#client = client;
    this.#own = reportPlace(namespace, server).name;
    this.#informer = new Informer<unknown>(client, {
      ...{
        resource: CONFIG_MAPS,
        namespace,
        labelSelector: REPORT_LABEL,
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
  all(): ServerReport[] {
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
    const report = await readReport(isApiJson(value) ? value : {});
    // Another version may have arrived during unpacking.
    if (this.#informer.get(namespace, name)?.version !== version) return;
    if (report === undefined) return this.#forget(name);
    this.#reports.set(name, { report, at: this.#client.clock.monotonic() });
    this.revision++;
  }
}
