/**
 * Several files that belong together, such as a certificate and its key: read and watched, reported together. Tools and
 * mounted secrets replace them one after the other, so that a report may show the old one of one and the new one of
 * another; the next report follows.
 *
 * Permissions: read of the files and their folders.
 *
 * @module
 */
import type { Cancel, Clock } from "../time/clock.ts";
import { type FileText, type WatchedFile, watchFile } from "./watch_file.ts";

/** Silence after which changes are reported, ms: files that are replaced one by one are mostly reported once. */
const SETTLE_MS = 100;

/** The files' texts, by path. */
export type FileTexts<Path extends string> = Readonly<Record<Path, FileText>>;

/** The files that are watched, and the listener for their changes. */
export interface WatchFilesOptions<Path extends string> {
  readonly paths: readonly Path[];
  /** Called once before {@linkcode watchFiles} resolves, and after each change. Must not throw. */
  readonly onTexts: (texts: FileTexts<Path>) => void;
  readonly clock: Pick<Clock, "after">;
}

/**
 * Reads files and goes on watching them; those that do not exist are waited for.
 *
 * @throws Deno.errors.PermissionDenied and others when a folder cannot be watched
 */
export async function watchFiles<Path extends string>(
  { paths, onTexts, clock }: WatchFilesOptions<Path>,
): Promise<WatchedFile> {
  const texts = new Map<Path, FileText>();
  const watched: WatchedFile[] = [];
  let started = false;
  let cancel: Cancel | undefined;
  // All paths are in the map when it is reported.
  const report = () => onTexts(Object.fromEntries(texts) as FileTexts<Path>);
  const stop = async () => {
    cancel?.();
    await Promise.all(watched.map((file) => file.stop()));
    cancel?.();
  };
  try {
    for (const path of paths) {
      watched.push(
        await watchFile(path, (text) => {
          texts.set(path, text);
          if (!started) return;
          cancel?.();
          cancel = clock.after(SETTLE_MS, report);
        }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  started = true;
  report();
  return { stop };
}
