/**
 * The duty that writes the allocated addresses of service entries into their status. Only the leading server writes.
 * Written addresses stay the same in spite of later changes, and other programs can read them.
 *
 * All servers allocate in the same way, and serve their allocated addresses before they are written. So a write changes
 * nothing for proxies, and without a leader nothing waits.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of service entries and `patch` of their
 * status.
 *
 * @module
 */
import type { AssignedAddress } from "../../config/kinds/assigned_addresses.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { ServiceEntryRegistry } from "../../registry/service_entry/registry.ts";
import { assignedChange, ownAssigned, sameAssigned } from "../../status/addresses.ts";
import { changeStatus } from "../../status/write.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";

export interface AddressDutyParts {
  readonly client: ApiClient;
  readonly store: Pick<ConfigStore, "get" | "list">;
  readonly entries: Pick<ServiceEntryRegistry, "onAssigned" | "assignment">;
  readonly placeOf: (object: ConfigObject) => ObjectPlace | undefined;
  readonly writing: StatusWriterOptions;
}

/**
 * Quiet time before a look, milliseconds. While many entries arrive, older entries take addresses of younger entries.
 */
const QUIET_MS = 100;

export function addressDuty(parts: AddressDutyParts): Duty {
  return {
    lock: "mesh-ip-autoallocate",
    about: "addresses of service entries",
    run: (signal) => new AddressRound(parts, signal).run(),
  };
}

/** One term of leadership. */
class AddressRound {
  readonly #parts: AddressDutyParts;
  readonly #signal: AbortSignal;
  readonly #writer: StatusWriter;
  readonly #touched = new Set<string>();
  #wake = Promise.withResolvers<void>();

  constructor(parts: AddressDutyParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#writer = new StatusWriter(parts.writing, signal);
  }

  async run(): Promise<void> {
    const { entries, store, writing: { clock } } = this.#parts;
    const end = entries.onAssigned((keys) => this.#touch(keys));
    this.#touch(store.list("ServiceEntry").map(({ key }) => key));
    const aborted = () => this.#wake.resolve();
    this.#signal.addEventListener("abort", aborted, { once: true });
    try {
      while (!this.#signal.aborted) {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
        if (this.#signal.aborted) break;
        await clock.sleep(QUIET_MS, this.#signal).catch(() => {});
        this.#look();
      }
    } finally {
      end();
      this.#signal.removeEventListener("abort", aborted);
      await this.#writer.stop();
    }
  }

  #touch(keys: Iterable<string>): void {
    for (const key of keys) this.#touched.add(key);
    this.#wake.resolve();
  }

  /** Queues a write for every entry whose status has other addresses. */
  #look(): void {
    const keys = [...this.#touched];
    this.#touched.clear();
    for (const key of keys) {
      if (this.#signal.aborted) return;
      const [, namespace = "", name = ""] = key.split("/");
      const object = this.#parts.store.get("ServiceEntry", namespace, name);
      const desired = this.#parts.entries.assignment(key);
      if (object === undefined || desired === undefined || sameAssigned(desired, ownAssigned(object.assigned))) {
        this.#writer.drop(key);
      } else this.#write(object, desired);
    }
  }

  #write(object: ConfigObject, desired: readonly AssignedAddress[]): void {
    const place = this.#parts.placeOf(object);
    if (place === undefined || object.origin.from !== "api") return;
    const { uid } = object.origin;
    this.#writer.put(object.key, async (signal) => {
      await changeStatus(this.#parts.client, place, uid, ({ status }) => assignedChange(desired, status), signal);
    });
  }
}
