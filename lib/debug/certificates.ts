/**
 * The certificates of the server and the roots of the mesh: how long each is still valid.
 *
 * @module
 */
import type { ListTable, StateWord } from "./list_page.ts";
import type { CertificateView } from "./view.ts";
import { durationText } from "./words.ts";

/** A certificate whose life is left by less than this part is about to end: renewals come earlier. */
const LAST_PART = 0.1;

const ROLES = {
  signing: "signs certificates",
  server: "the server's own",
  root: "root of the mesh",
} as const satisfies Record<CertificateView["role"], string>;

/** The state of a certificate at a time. */
export function certificateState({ notBefore, notAfter }: CertificateView, now: number): StateWord {
  if (now < notBefore) return { tone: "bad", word: "is not valid yet" };
  if (now >= notAfter) return { tone: "bad", word: `ended ${durationText(now - notAfter)} ago` };
  const isLast = notAfter - now < LAST_PART * (notAfter - notBefore);
  return { tone: isLast ? "warn" : "good", word: `ends in ${durationText(notAfter - now)}` };
}

/**
 * Whether another root takes a root's place: the other root is valid at the time, and ends later. The end of a replaced
 * root is a normal part of an exchange of roots.
 */
export function isReplaced(root: CertificateView, all: readonly CertificateView[], now: number): boolean {
  return root.role === "root" &&
    all.some((one) =>
      one.role === "root" && one.fingerprint !== root.fingerprint && one.notAfter > root.notAfter &&
      one.notBefore <= now
    );
}

/** What the rows of {@linkcode CERTIFICATES} are shown with. */
export interface CertificateLook {
  readonly all: readonly CertificateView[];
  readonly now: number;
}

/** The certificates, those that end first at the top. */
export const CERTIFICATES: ListTable<CertificateView, CertificateLook> = {
  noun: "certificate",
  none: "The server signs no certificates, and shows none itself.",
  columns: [
    { title: "Role", cell: ({ role }) => ROLES[role] },
    { title: "Subject", cell: ({ subject }) => ({ mono: subject }) },
    { title: "Ends (UTC)", cell: ({ notAfter }) => new Date(notAfter).toISOString().slice(0, 16).replace("T", " ") },
    {
      title: "State",
      cell: (one, { all, now }) => {
        const { tone, word } = certificateState(one, now);
        return tone !== "good" && isReplaced(one, all, now)
          ? { tone: "dim", word: `${word}; another root replaces it` }
          : { tone, word };
      },
    },
  ],
};
